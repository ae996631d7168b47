package dash

import (
	"context"
	"net/http"
)

// Bounds of what is read for the page.
const (
	maxPasted = 256 << 10 // bytes of a text
	maxAsked  = 1 << 20   // bytes of the request for it, with tools
	maxReads  = 2         // at once
)

// Pasted is a reply to read.
type Pasted struct {
	Text  string `json:"text"`
	Tools string `json:"tools"` // JSON, as bx parse --tools takes it; "": not known
	Model string `json:"model"` // its dialects are tried first
	Cut   bool   `json:"cut"`   // the output was cut off at the end of the text
}

// Reader reads a reply and gives, as a value for JSON, what package reading
// calls Explained.
type Reader func(Pasted) (any, error)

func (d *Dash) read(w http.ResponseWriter, r *http.Request) error {
	var ask Pasted
	if err := body(w, r, maxAsked, &ask); err != nil {
		return err
	}
	if len(ask.Text) > maxPasted {
		return denied(http.StatusRequestEntityTooLarge, "the text has %d bytes, and %d can be shown here: bx parse reads any length", len(ask.Text), maxPasted)
	}
	out, err := d.explain(r.Context(), ask)
	if err != nil {
		return denied(http.StatusUnprocessableEntity, "%v", err)
	}
	return answer(w, out)
}

// explain reads a text when there is room for it.
func (d *Dash) explain(ctx context.Context, ask Pasted) (any, error) {
	select {
	case d.reads <- struct{}{}:
		defer func() { <-d.reads }()
		return d.c.Reader(ask)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
