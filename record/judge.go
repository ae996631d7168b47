package record

import "github.com/unifiedtoolprotocol/utp"

// Outcome is what a reply says of the form in which the tools were told.
type Outcome string

// The outcomes.
const (
	Good      Outcome = "good"      // its calls were valid at the first try, without a fix that guessed
	Bad       Outcome = "bad"       // see Judge
	Silent    Outcome = "silent"    // no call, and nothing bad
	Uncounted Outcome = "uncounted" // it offered no tools, or no reply came
)

// What makes a reply bad, beside the kinds of problems. The first that holds is
// the reason.
const (
	AskedAgain = "asked_again" // it had to be asked for once more
	NoCall     = "no_call"     // a call was required, and none came
	Markup     = "markup"      // markup of calls is left in the text
	Announced  = "announced"   // it says that it will call, and does not
	Guessed    = "guessed"     // a fix of a call was a guess
)

// failure is the first HTTP status of a reply that is none.
const failure = 400

// Judge is the definition of success. The unit is a reply to a request that
// offered tools. It is bad if a call is broken, invalid or of an unknown tool,
// if it had to be asked for again, if a call was required and none came, if
// markup of calls is left in its text, if it says that it will call and does
// not, or if a call could be used only by a guess; reason says which, and is ""
// for every other outcome. A tool that runs and fails is not the form's fault,
// and no more is a reply that the server did not give or the client did not wait for.
func Judge(r *Reply) (o Outcome, reason string) {
	if r.Tools == 0 {
		return Uncounted, ""
	}
	for _, p := range r.Problems {
		if (&utp.Problem{Kind: p.Kind}).Failed() {
			return Bad, string(p.Kind)
		}
	}
	guessed := false
	for _, c := range r.Calls {
		if c.Hallucinated {
			return Bad, string(utp.ProblemUnknownTool)
		}
		if c.Invalid {
			return Bad, string(utp.ProblemInvalid)
		}
		guessed = guessed || c.Guessed
	}
	switch {
	case r.Stop == utp.StopBadCall:
		return Bad, string(utp.ProblemMalformed)
	case r.Again != "":
		return Bad, AskedAgain
	case r.Status >= failure, r.Stop == "" || r.Stop == utp.StopError || r.Stop == utp.StopFilter:
		return Uncounted, ""
	case r.Required && len(r.Calls) == 0:
		return Bad, NoCall
	case r.Markup:
		return Bad, Markup
	case r.Announced && len(r.Calls) == 0:
		return Bad, Announced
	case guessed:
		return Bad, Guessed
	case len(r.Calls) == 0:
		return Silent, ""
	}
	return Good, ""
}
