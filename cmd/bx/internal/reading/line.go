package reading

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// lineJSON is a line of the input.
type lineJSON struct {
	ID      json.RawMessage `json:"id"`
	Op      string          `json:"op"`
	Input   json.RawMessage `json:"input"`
	Kind    string          `json:"kind"`
	Piece   *string         `json:"piece"`
	Tools   json.RawMessage `json:"tools"`
	Model   string          `json:"model"`
	Grammar string          `json:"grammar"`
	Prefill *string         `json:"prefill"`
	Policy  *string         `json:"policy"`
	Cut     *bool           `json:"cut"`

	text *string // what Input says, where quick read it
}

// answerJSON is a line of the output that holds a Reading, an error, or neither.
type answerJSON struct {
	ID json.RawMessage `json:"id"`
	*Reading
	Error string `json:"error,omitempty"`
}

// ops are what a line can ask for, beside what Options.Ops adds. Those that are
// about a stream stand in the order of the lines.
var ops = map[string]struct {
	stream bool
	answer func(w *worker, l *lineJSON) (any, error)
}{
	"":      {false, (*worker).whole},
	"parse": {false, (*worker).whole},
	"open":  {true, (*worker).open},
	"feed":  {true, (*worker).feed},
	"close": {true, (*worker).close},
}

// one answers one line.
func (b *batch) one(w *worker, enc *json.Encoder, n int, text []byte) {
	var l lineJSON
	a, err := b.line(w, text, &l)
	start := b.out.Len()
	if err == nil {
		err = put(&b.out, enc, l.ID, a)
	}
	if err != nil {
		b.out.Truncate(start)
		b.fail(enc, l.ID, fmt.Errorf("line %d: %w", n, err))
	}
}

// fail answers with an error.
func (b *batch) fail(enc *json.Encoder, id json.RawMessage, err error) {
	if b.tally.Bad++; b.tally.First == "" {
		b.tally.First = err.Error()
	}
	_ = enc.Encode(answerJSON{ID: id, Error: err.Error()}) // into memory
}

// put writes an answer with its id in front.
func put(out *bytes.Buffer, enc *json.Encoder, id json.RawMessage, a any) error {
	switch a := a.(type) {
	case *Reading:
		return enc.Encode(answerJSON{ID: id, Reading: a})
	case nil:
		return enc.Encode(answerJSON{ID: id})
	case []Event:
		return enc.Encode(struct {
			ID     json.RawMessage `json:"id"`
			Events []Event         `json:"events"`
		}{id, a})
	}
	from := out.Len()
	if err := enc.Encode(a); err != nil {
		return err
	}
	object := slices.Clone(out.Bytes()[from+1:]) // without its bracket
	out.Truncate(from)
	if err := enc.Encode(answerJSON{ID: id}); err != nil {
		return err
	}
	out.Truncate(out.Len() - len("}\n"))
	if object[0] != '}' {
		out.WriteByte(',')
	}
	out.Write(object)
	return nil
}

// line answers the text of one line.
func (b *batch) line(w *worker, text []byte, l *lineJSON) (any, error) {
	if !w.quick(text, l) {
		*l = lineJSON{}
		if err := json.Unmarshal(text, l); err != nil {
			return nil, want(text, err)
		}
	}
	if op, ok := ops[l.Op]; ok {
		if op.stream {
			<-b.before
		}
		return op.answer(w, l)
	}
	if op := w.o.Ops[l.Op]; op != nil {
		return op(text)
	}
	known := []string{}
	for name := range ops {
		known = append(known, name)
	}
	for name := range w.o.Ops {
		known = append(known, name)
	}
	slices.Sort(known)
	return nil, fmt.Errorf("op: want one of %s, have %q", strings.Join(known[1:], ", "), l.Op)
}

// want words why a line is none.
func want(text []byte, err error) error {
	var t *json.UnmarshalTypeError
	switch {
	case text[0] != '{' && json.Valid(text):
		return fmt.Errorf(`want an object {"id","input",…}, have %s`, excerpt(text))
	case errors.As(err, &t) && t.Field != "":
		return fmt.Errorf("%s: want a %s, have a %s", t.Field, t.Type, t.Value)
	}
	return fmt.Errorf("this is no JSON: %w", err)
}

// whole reads the input of one line.
func (w *worker) whole(l *lineJSON) (any, error) {
	rd, err := w.reads(l, &w.c)
	if err != nil {
		return nil, err
	}
	if l.text != nil {
		return rd.read(*l.text, false)
	}
	return rd.input(l.Input)
}

// reads makes the reader that a line asks for.
func (w *worker) reads(l *lineJSON, c *collector) (*reader, error) {
	cfg, err := w.hinted(hint{l.Grammar, l.Model})
	if err != nil {
		return nil, err
	}
	o := w.o
	if l.Policy != nil || l.Cut != nil || l.Kind != "" {
		own := *o
		o = &own
		if l.Kind != "" {
			if o.Input, err = ParseInput(l.Kind); err != nil {
				return nil, fmt.Errorf("kind: %w", err)
			}
		}
		if l.Policy != nil {
			if o.Policy, err = ParsePolicy(*l.Policy); err != nil {
				return nil, fmt.Errorf("policy: %w", err)
			}
		}
		o.Cut = or(l.Cut, o.Cut)
	}
	of := w.offered(l.Tools, o.Policy.DropEmpty)
	if of.err != nil {
		return nil, of.err
	}
	return o.reader(of, cfg, or(l.Prefill, o.Prefill), c), nil
}

// input reads a text, or JSON that is a reply or its calls.
func (r *reader) input(in json.RawMessage) (*Reading, error) {
	in = bytes.TrimSpace(in)
	switch {
	case len(in) == 0 || string(in) == "null":
		return nil, errors.New(`"input" is missing: want a text, a provider's reply, or the list of its calls`)
	case in[0] == '"':
		var s string
		if err := json.Unmarshal(in, &s); err != nil {
			return nil, err
		}
		return r.read(s, false)
	case in[0] != '{' && in[0] != '[' || r.o.Input == Text:
		return nil, fmt.Errorf("input: want a text, a provider's reply, or the list of its calls, have %s", excerpt(in))
	}
	out, err := r.read(string(in), true)
	if err != nil {
		err = fmt.Errorf("input: %w", err)
	}
	return out, err
}
