package reading

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// maxSteps is in how many pieces at most Explain feeds a text.
const maxSteps = 4096

// Explained is a reply with every piece of its text accounted for. Positions
// and lengths are in UTF-16 units, as a browser counts.
type Explained struct {
	Fields   []FieldText `json:"fields"` // in the order in which they began
	Calls    []TimedCall `json:"calls"`
	Problems []Problem   `json:"problems"`
}

// FieldText is one text of a reply: what it says, or what it thinks.
type FieldText struct {
	In     string   `json:"in,omitempty"` // "reasoning", or "": the text
	Length int      `json:"length"`
	Spans  []Span   `json:"spans"` // they tile the text
	Steps  [][2]int `json:"steps"` // when so much had arrived, so much of it was decided
}

// The kinds of spans.
const (
	textSpan    = "text"
	thinkSpan   = "think"
	markSpan    = "mark"    // markup that belongs to no call
	markerSpan  = "marker"  // of a call
	nameSpan    = "name"    // of its tool
	argsSpan    = "args"    // its arguments
	problemSpan = "problem" // a call that could not be made
)

// Span is a piece of a text.
type Span struct {
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Call    *int   `json:"call,omitempty"`    // of Calls
	Problem *int   `json:"problem,omitempty"` // of Problems
	Why     string `json:"why,omitempty"`     // why it does not count
}

// TimedCall is a call, and when it was known: after so much of its field had
// arrived. Those of a native call are 0.
type TimedCall struct {
	Call
	Began int `json:"began"`
	Ended int `json:"ended"`
}

// Explain reads a text or a reply as Read does, and accounts for every piece of
// its text.
func Explain(o Options, text string) (*Explained, error) {
	o.Events, o.Chunk = true, len(text)/maxSteps+1
	r, err := Read(o, []byte(text))
	if err != nil {
		return nil, err
	}
	out := &Explained{Calls: []TimedCall{}, Problems: r.Problems, Fields: []FieldText{}}
	for _, c := range r.ToolCalls {
		out.Calls = append(out.Calls, TimedCall{Call: c})
	}
	for _, in := range fieldsOf(r.Events) {
		f := &tiling{in: in, out: out, own: o.Dialects.Own}
		out.Fields = append(out.Fields, f.field(r.Events))
	}
	return out, nil
}

// fieldsOf lists the fields that events cover, in order.
func fieldsOf(evs []Event) (names []string) {
	for _, e := range evs {
		if e.Raw != "" && !slices.Contains(names, e.In) {
			names = append(names, e.In)
		}
	}
	return names
}

// tiling makes the spans of a field.
type tiling struct {
	in   string
	out  *Explained
	own  []*grammar.Grammar
	text string
	at   []int          // UTF-16 units before each byte of the text
	args map[int]string // the arguments as written, by the call's offset
}

func (t *tiling) field(evs []Event) FieldText {
	var all strings.Builder
	for _, e := range evs {
		if e.In == t.in {
			all.WriteString(e.Raw)
		}
	}
	t.text, t.args = all.String(), map[int]string{}
	t.at = units(t.text)
	f := FieldText{In: t.in, Length: t.at[len(t.text)], Spans: []Span{}, Steps: [][2]int{}}
	began := map[int]int{} // offset of a call, by its part
	from := 0
	for _, e := range evs {
		if e.In != t.in {
			continue
		}
		to := from + len(e.Raw)
		fed := t.at[min(e.Fed, len(t.text))]
		switch e.Kind {
		case utp.EventCallStart.String():
			began[e.Part] = from
			t.known(from, func(c *TimedCall) { c.Began = fed })
		case utp.EventCallEnd.String():
			t.known(began[e.Part], func(c *TimedCall) { c.Ended = fed })
			t.args[began[e.Part]] = e.Call.RawArgs
		}
		f.add(t.span(&e, from, to))
		f.step(fed, t.at[to])
		from = to
	}
	f.Spans = t.calls(f.Spans)
	return f
}

// units counts the UTF-16 units before each byte, and before the end.
func units(s string) []int {
	at := make([]int, len(s)+1)
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		for j := range size {
			at[i+j] = n
		}
		i += size
		if n++; r > 0xffff {
			n++
		}
	}
	at[len(s)] = n
	return at
}

// known finds the call that stands at an offset.
func (t *tiling) known(offset int, set func(*TimedCall)) {
	for i := range t.out.Calls {
		if c := &t.out.Calls[i]; c.Place != nil && c.In == t.in && c.Offset == offset {
			set(c)
		}
	}
}

// span is what the text from one offset to another is.
func (t *tiling) span(e *Event, from, to int) Span {
	s := Span{Kind: textSpan, Text: t.text[from:to], Why: ""}
	within := func(p *Place) bool {
		return p != nil && p.In == t.in && from >= p.Offset && to <= p.Offset+p.Length && p.Length > 0
	}
	for i := range t.out.Problems {
		if within(t.out.Problems[i].Place) {
			s.Kind, s.Problem = problemSpan, &i
			return s
		}
	}
	switch e.Kind {
	case utp.EventThink.String():
		s.Kind = thinkSpan
	case utp.EventCallStart.String(), utp.EventCallDelta.String(), utp.EventCallEnd.String():
		s.Kind = markerSpan
		for i := range t.out.Calls {
			if within(t.out.Calls[i].Place) {
				s.Call = &i
			}
		}
	case utp.EventMark.String():
		s.Kind, s.Why = markSpan, e.Text
	case utp.EventProblem.String():
		s.Kind = problemSpan
	}
	return s
}

// add adds a span, to the last one if both are of a kind.
func (f *FieldText) add(s Span) {
	if s.Text == "" {
		return
	}
	if n := len(f.Spans); n > 0 {
		last := &f.Spans[n-1]
		if last.Kind == s.Kind && same(last.Call, s.Call) && same(last.Problem, s.Problem) && last.Why == s.Why {
			last.Text += s.Text
			return
		}
	}
	f.Spans = append(f.Spans, s)
}

func same(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// step notes that of the first fed units so many are decided.
func (f *FieldText) step(fed, decided int) {
	n := len(f.Steps)
	switch {
	case n > 0 && f.Steps[n-1][1] == decided:
	case n > 0 && f.Steps[n-1][0] == fed:
		f.Steps[n-1][1] = decided
	default:
		f.Steps = append(f.Steps, [2]int{fed, decided})
	}
}

// calls divides the spans of calls into markers, names and arguments.
func (t *tiling) calls(spans []Span) []Span {
	var f FieldText
	for _, s := range spans {
		if s.Call == nil {
			f.add(s)
			continue
		}
		c := &t.out.Calls[*s.Call]
		for _, piece := range t.pieces(s.Text, c) {
			piece.Call = s.Call
			f.add(piece)
		}
	}
	return f.Spans
}

// pieces divides the text of a call.
func (t *tiling) pieces(raw string, c *TimedCall) (out []Span) {
	put := func(kind, text string) { out = append(out, Span{Kind: kind, Text: text}) }
	head, args, tail := raw, t.args[c.Offset], ""
	if i := strings.LastIndex(raw, args); args != "" && i >= 0 {
		head, tail = raw[:i], raw[i+len(args):]
	} else {
		args = ""
	}
	if before, after, found := strings.Cut(head, c.Name); found && c.Name != "" {
		put(markerSpan, before)
		put(nameSpan, c.Name)
		head = after
	}
	put(markerSpan, head)
	at := 0
	if marker := t.marker(c.Grammar); marker != nil {
		for _, m := range marker.FindAllStringIndex(args, -1) {
			put(argsSpan, args[at:m[0]])
			put(markerSpan, args[m[0]:m[1]])
			at = m[1]
		}
	}
	put(argsSpan, args[at:])
	put(markerSpan, tail)
	return out
}

// marker finds the markers around one argument; nil: the dialect has none.
func (t *tiling) marker(dialect string) *regexp.Regexp {
	var any []string
	for _, g := range Named(dialect, t.own...) {
		if g.Body != grammar.Tagged {
			continue
		}
		for _, marker := range slices.Concat([]string{g.Arg.Open, g.Arg.Close}, g.Also["arg.open"], g.Also["arg.close"]) {
			if words := strings.TrimSpace(marker); words != "" {
				any = append(any, expression(words))
			}
		}
	}
	if len(any) == 0 {
		return nil
	}
	found, err := regexp.Compile(strings.Join(any, "|"))
	if err != nil {
		return nil // the text stays uncoloured
	}
	return found
}

// expression is a marker as an expression, with a name of one line in its slots.
func expression(marker string) string {
	pieces, err := grammar.Split(marker)
	if err != nil {
		return regexp.QuoteMeta(marker)
	}
	var out strings.Builder
	for _, p := range pieces {
		switch p.Kind {
		case grammar.Literal:
			out.WriteString(regexp.QuoteMeta(p.Text))
		case grammar.Space:
			out.WriteString(`\s*`)
		case grammar.Slot:
			out.WriteString(`[^<>\n]*?`)
		case grammar.Attr:
			out.WriteString(regexp.QuoteMeta(p.Name) + `="?[^<>\n]*?"?`)
		}
	}
	return out.String()
}
