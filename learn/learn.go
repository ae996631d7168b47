// Package learn decides from what was seen which form of tools a model works
// best in, and how sure that is.
//
// The unit is a reply to a request that offered tools: good, bad, or without a
// call, as record.Judge says. A record.Share is how many of how many; its Interval
// says where the true share lies. Evidence collects what was seen of one model,
// ranks the forms, picks the form of a conversation and proposes a change.
// docs/coach.md gives the reasons and what a simulation found.
package learn

// The numbers of the method. docs/coach.md shows what they do.
const (
	HalfLife    = 150.0  // counted replies after which a reply counts for half
	LastingLife = 1000.0 // the same for the coach, who proposes and does not try

	// Credit is how many replies a form is given beforehand, and CreditRate how
	// many of them are good: a form that little is known of ranks high until its
	// own calls say otherwise, and one whose evidence has faded ranks high again.
	Credit     = 20.0
	CreditRate = 0.9

	MostTrials = 0.05 // share of the replies that may come of trials
	drawn      = 0.04 // share of the conversations that are drawn for one
	keyPart    = 0.1  // share of a form's evidence that one key may be

	// ZChange is the certainty of a proposal: it is looked at again and again,
	// against several forms, so that it must be above 95 %.
	ZChange = 2.7
	// apart is how far a key lies from all others that says nothing of a form.
	apart = 3.0
	// minChange is how many replies a form must have before it is proposed.
	minChange = 15.0
)
