package history

import (
	"slices"
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Alternation makes a history one of turns, of the user and the assistant by
// turns, for providers that want it so. Results belong to the user's turn.
type Alternation struct {
	// Drop says why a part cannot be sent, or "".
	Drop func(m utp.Message, p utp.Part) string
	// Keep says that a system message may stay in the middle, as a turn of its own; nil: none.
	Keep func(m utp.Message) bool
	// Ends says that a part may be the last of an assistant's turn; nil: any.
	Ends func(p utp.Part) bool
	// Prefill says that the last turn may be the assistant's.
	Prefill bool
}

// Turns gives the system messages at the front and the turns, of role User,
// Assistant or, where Keep says so, System. It wants a history that Order has
// mended. System messages further down become text of the user. No turn is empty,
// no text is without a word, and the first turn is the user's. lose is told of each repair.
func (a Alternation) Turns(messages []Sent, lose Lose) (system, turns []Sent) {
	w := alternating{Alternation: a, lose: lose}
	for _, m := range messages {
		m = w.kept(m)
		switch {
		case m.Role == utp.RoleSystem && len(w.turns) == 0:
			if len(m.Parts) > 0 {
				w.system = append(w.system, m)
			}
		case m.Role == utp.RoleSystem && (a.Keep == nil || !a.Keep(m.Message)):
			w.lose(m.Path, wire.ToUser, "system messages stand at the front")
			w.add(reminder(m))
		default:
			w.add(m)
		}
	}
	w.last()
	return w.system, w.turns
}

// Bare reports a tool turn under way whose last message with calls does not begin
// with reasoning that can be sent.
func Bare(messages []utp.Message, drop func(utp.Message, utp.Part) string) (bare bool) {
	for _, m := range messages {
		switch {
		case m.Role == utp.RoleUser && len(m.Results()) == 0:
			bare = false
		case m.Role == utp.RoleAssistant && len(m.Calls()) > 0:
			_, think := m.Parts[0].(utp.Think)
			bare = !think || drop(m, m.Parts[0]) != ""
		}
	}
	return bare
}

type alternating struct {
	Alternation
	system, turns []Sent
	spoke         utp.Role // of the message before, as it was
	lose          Lose
}

// kept is a message with the parts that can be sent.
func (w *alternating) kept(m Sent) Sent {
	out := Sent{Path: m.Path, Message: utp.Message{Role: m.Role, Extra: m.Extra}}
	for k, p := range m.Parts {
		if t, ok := p.(utp.Text); ok && len(t.Extra) == 0 && strings.TrimSpace(t.Text) == "" {
			continue
		}
		why := ""
		if w.Drop != nil {
			why = w.Drop(m.Message, p)
		}
		if why != "" {
			w.lose(m.At[k], "dropped", why)
			continue
		}
		out.put(m.At[k], p)
	}
	return out
}

func reminder(m Sent) Sent {
	return line(m.Path, utp.RoleUser, "<system-reminder>\n"+m.Text()+"\n</system-reminder>")
}

// line is a message of one text.
func line(path string, who utp.Role, text string) Sent {
	return Sent{Path: path, Message: utp.NewText(who, text), At: []string{path}}
}

// turnOf is who speaks in a turn.
func turnOf(r utp.Role) utp.Role {
	if r == utp.RoleTool {
		return utp.RoleUser
	}
	return r
}

func (w *alternating) add(m Sent) {
	role, said := turnOf(m.Role), m.Role
	if len(m.Parts) == 0 {
		m.put(m.Path, utp.Text{Text: "(empty)"})
		w.lose(m.Path, "filled with (empty)", "a message must say something")
	}
	if len(w.turns) == 0 && role == utp.RoleAssistant {
		w.turns = append(w.turns, line("", utp.RoleUser, "(continued)"))
		w.lose(m.Path, "put behind a message of the user", "the user speaks first")
	}
	m.Role = role
	if n := len(w.turns); n == 0 || w.turns[n-1].Role != role {
		w.turns = append(w.turns, m)
	} else {
		if w.spoke == said && said != utp.RoleTool {
			w.lose(m.Path, "merged with the message before", "the speakers take turns")
		}
		w.turns[n-1].join(m)
	}
	w.spoke = said
}

// last sees to a last turn of the assistant, which the model is to continue.
func (w *alternating) last() {
	n := len(w.turns) - 1
	begun := n >= 0 && w.turns[n].Role == utp.RoleAssistant
	if begun && !w.Prefill {
		w.lose(w.turns[n].Path, "dropped", "a beginning of the reply cannot be given")
		w.turns, begun = w.turns[:n], false
	}
	if w.ends(); !begun {
		return
	}
	parts, cut := trimEnd(w.turns[n].Parts)
	if cut {
		w.lose(w.turns[n].Path, "white space at the end cut off", "a beginning of the reply cannot end in it")
	}
	w.turns[n].Parts, w.turns[n].At = parts, w.turns[n].At[:len(parts)]
	if len(parts) == 0 {
		w.turns = w.turns[:n]
	}
}

// ends leaves out what cannot be the last of a turn.
func (w *alternating) ends() {
	for i := range w.turns {
		t := &w.turns[i]
		n := len(t.Parts)
		for w.Ends != nil && t.Role == utp.RoleAssistant && n > 0 && !w.Ends(t.Parts[n-1]) {
			n--
			w.lose(t.At[n], "dropped", "a message cannot end in it")
		}
		if t.Parts, t.At = t.Parts[:n:n], t.At[:n:n]; n == 0 {
			t.put(t.Path, utp.Text{Text: "(empty)"})
		}
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
	isResult := func(p utp.Part) bool {
		_, ok := p.(utp.Result)
		return ok
	}
	if !slices.ContainsFunc(m.Parts, isResult) {
		return []utp.Message{m}
	}
	var results, others []utp.Part
	for _, p := range m.Parts {
		if isResult(p) {
			results = append(results, p)
			continue
		}
		others = append(others, p)
	}
	out = []utp.Message{{Role: utp.RoleTool, Parts: results, Extra: m.Extra}}
	if m.Parts, m.Extra = others, nil; len(others) > 0 {
		out = append(out, m)
	}
	return out
}
