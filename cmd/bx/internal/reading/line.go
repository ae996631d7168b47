package reading

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unifiedtoolprotocol/utp/parse"
)

// lineJSON is a line of the input.
type lineJSON struct {
	ID      json.RawMessage `json:"id"`
	Input   json.RawMessage `json:"input"`
	Tools   json.RawMessage `json:"tools"`
	Model   string          `json:"model"`
	Grammar string          `json:"grammar"`
	Prefill *string         `json:"prefill"`
}

// answerJSON is a line of the output.
type answerJSON struct {
	ID json.RawMessage `json:"id"`
	*Reading
	Error string `json:"error,omitempty"`
}

// one answers one line.
func (b *batch) one(w *worker, enc *json.Encoder, n int, text []byte) {
	id, r, err := w.line(text)
	a := answerJSON{ID: id, Reading: r}
	if err != nil {
		a.Error = fmt.Sprintf("line %d: %v", n, err)
		if b.tally.Bad++; b.tally.First == "" {
			b.tally.First = a.Error
		}
	}
	start := b.out.Len()
	if err := enc.Encode(a); err != nil {
		b.out.Truncate(start)
		b.tally.Bad++
		_ = enc.Encode(answerJSON{ID: id, Error: fmt.Sprintf("line %d: %v", n, err)})
	}
}

// line reads the input of one line.
func (w *worker) line(text []byte) (id json.RawMessage, r *Reading, err error) {
	var l lineJSON
	if err := json.Unmarshal(text, &l); err != nil {
		return l.ID, nil, want(text, err)
	}
	cfg, err := w.hinted(hint{l.Grammar, l.Model})
	if err != nil {
		return l.ID, nil, err
	}
	of := w.offer
	if l.Tools != nil && string(l.Tools) != "null" {
		of = w.offered(l.Tools)
	}
	if of.err != nil {
		return l.ID, nil, of.err
	}
	prefill := w.o.Prefill
	if l.Prefill != nil {
		prefill = *l.Prefill
	}
	r, err = w.input(l.Input, of, cfg, prefill)
	return l.ID, r, err
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

// input reads a text, or JSON that is a reply or its calls.
func (w *worker) input(in json.RawMessage, of *offer, cfg parse.Config, prefill string) (*Reading, error) {
	rd := w.reader(of, cfg, prefill, &w.c)
	in = bytes.TrimSpace(in)
	switch {
	case len(in) == 0 || string(in) == "null":
		return nil, errors.New(`"input" is missing: want a text, a provider's reply, or the list of its calls`)
	case in[0] == '"':
		var s string
		if err := json.Unmarshal(in, &s); err != nil {
			return nil, err
		}
		return rd.read(s, false)
	case in[0] != '{' && in[0] != '[' || w.o.Input == Text:
		return nil, fmt.Errorf("input: want a text, a provider's reply, or the list of its calls, have %s", excerpt(in))
	}
	r, err := rd.read(string(in), true)
	if err != nil {
		err = fmt.Errorf("input: %w", err)
	}
	return r, err
}
