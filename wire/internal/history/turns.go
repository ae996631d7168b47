package history

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp"
)

// Alternation makes a history one of turns, of the user and the assistant by
// turns, for providers that want it so. Results belong to the user's turn.
type Alternation struct {
	// Drop says why a part cannot be sent, or "".
	Drop func(m utp.Message, p utp.Part) string
	// Keep says that a system message may stay in the middle, as a turn of its own; nil: none.
	Keep func(m utp.Message) bool
	// Prefill says that the last turn may be the assistant's.
	Prefill bool
}

// Turns gives the system messages at the front and the turns, of role User,
// Assistant or, where Keep says so, System. It wants a history that Order has
// mended. System messages further down become text of the user. No turn is empty,
// no text is empty, and the first turn is the user's. lose is told of each repair.
func (a Alternation) Turns(messages []utp.Message, lose Lose) (system, turns []utp.Message) {
	w := alternating{Alternation: a, report: lose}
	for i, m := range messages {
		m.Parts = w.kept(i, m)
		switch {
		case m.Role == utp.System && len(w.turns) == 0:
			if len(m.Parts) > 0 {
				w.system = append(w.system, m)
			}
		case m.Role == utp.System && (a.Keep == nil || !a.Keep(m)):
			w.lose(i, "sent as a text of the user", "system messages stand at the front")
			w.add(i, reminder(m))
		default:
			w.add(i, m)
		}
	}
	w.last()
	return w.system, w.turns
}

type alternating struct {
	Alternation
	system, turns []utp.Message
	spoke         utp.Role // of the message before, as it was
	report        Lose
}

func (w *alternating) lose(i int, what, why string) {
	w.report(fmt.Sprintf("messages[%d]", i), what, why)
}

// kept is the parts that can be sent.
func (w *alternating) kept(i int, m utp.Message) (out []utp.Part) {
	for k, p := range m.Parts {
		if t, ok := p.(utp.Text); ok && t.Text == "" && len(t.Extra) == 0 {
			continue
		}
		why := ""
		if w.Drop != nil {
			why = w.Drop(m, p)
		}
		if why != "" {
			w.report(fmt.Sprintf("messages[%d].parts[%d]", i, k), "dropped", why)
			continue
		}
		out = append(out, p)
	}
	return out
}

func reminder(m utp.Message) utp.Message {
	return utp.NewText(utp.User, "<system-reminder>\n"+m.Text()+"\n</system-reminder>")
}

// turnOf is who speaks in a turn.
func turnOf(r utp.Role) utp.Role {
	if r == utp.ToolRole {
		return utp.User
	}
	return r
}

func (w *alternating) add(i int, m utp.Message) {
	role, said := turnOf(m.Role), m.Role
	if len(m.Parts) == 0 {
		m.Parts = []utp.Part{utp.Text{Text: "(empty)"}}
		w.lose(i, "filled with (empty)", "a message must say something")
	}
	if len(w.turns) == 0 && role == utp.Assistant {
		w.turns = append(w.turns, utp.NewText(utp.User, "(continued)"))
		w.lose(i, "put behind a message of the user", "the user speaks first")
	}
	n := len(w.turns)
	if n == 0 || w.turns[n-1].Role != role {
		w.turns = append(w.turns, utp.Message{Role: role, Parts: m.Parts, Extra: m.Extra})
		w.spoke = said
		return
	}
	if w.spoke == said && said != utp.ToolRole {
		w.lose(i, "merged with the message before", "the speakers take turns")
	}
	last := &w.turns[n-1]
	last.Parts = joined(role, last.Parts, m.Parts)
	if last.Extra == nil {
		last.Extra = m.Extra
	}
	w.spoke = said
}

// joined is a turn with more. Of the assistant a text behind a text is a line of
// its own in it: the texts of a reply are read as one.
func joined(who utp.Role, said, more []utp.Part) []utp.Part {
	out := append(said[:len(said):len(said)], more...)
	n := len(said) - 1
	a, text := said[n].(utp.Text)
	b, after := more[0].(utp.Text)
	if who != utp.Assistant || !text || !after || len(a.Extra)+len(b.Extra) > 0 {
		return out
	}
	out[n] = utp.Text{Text: a.Text + "\n" + b.Text}
	return append(out[:n+1], more[1:]...)
}

// last sees to a last turn of the assistant, which the model is to continue.
func (w *alternating) last() {
	n := len(w.turns) - 1
	if n < 0 || w.turns[n].Role != utp.Assistant {
		return
	}
	if !w.Prefill {
		w.turns = w.turns[:n]
		w.report("messages", "the last one dropped", "a beginning of the reply cannot be given")
		return
	}
	parts, cut := trimEnd(w.turns[n].Parts)
	if cut {
		w.report("messages", "white space at the end cut off", "a beginning of the reply cannot end in it")
	}
	if w.turns[n].Parts = parts; len(parts) == 0 {
		w.turns = w.turns[:n]
	}
}

// trimEnd cuts off white space at the end of the last texts.
func trimEnd(parts []utp.Part) (out []utp.Part, cut bool) {
	out = append(out, parts...)
	for len(out) > 0 {
		t, ok := out[len(out)-1].(utp.Text)
		trim := strings.TrimRightFunc(t.Text, unicode.IsSpace)
		if !ok || trim == t.Text {
			break
		}
		cut, out = true, out[:len(out)-1]
		if t.Text = trim; trim != "" {
			return append(out, t), true
		}
	}
	return out, cut
}

// ResultsFirst is a message whose results, if it has any, are a message of their
// own before it.
func ResultsFirst(m utp.Message) (out []utp.Message) {
	var results, others []utp.Part
	for _, p := range m.Parts {
		if _, ok := p.(utp.Result); ok {
			results = append(results, p)
			continue
		}
		others = append(others, p)
	}
	if len(results) > 0 {
		out = append(out, utp.Message{Role: utp.ToolRole, Parts: results, Extra: m.Extra})
		m.Extra = nil
	}
	if m.Parts = others; len(others) > 0 || len(results) == 0 {
		out = append(out, m)
	}
	return out
}
