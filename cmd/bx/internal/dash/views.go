package dash

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const maxRows = 200 // of a list, in one answer

// ranges are the times that can be chosen.
var ranges = map[string]time.Duration{"1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour, "90d": 90 * 24 * time.Hour}

// filter reads what counts. now, in milliseconds, keeps a list as it was when it
// was opened.
func (d *Dash) filter(q url.Values) (f Filter, err error) {
	now := d.c.Now()
	if q.Has("now") {
		ms, err := number(q, "now", 0)
		if err != nil {
			return f, err
		}
		now = time.UnixMilli(int64(ms))
	}
	f = Filter{Until: now, Model: q.Get("model"), Outcome: q.Get("outcome")}
	span, ok := ranges[cmp.Or(q.Get("since"), "90d")]
	if !ok {
		return f, denied(http.StatusBadRequest, "since=%s: want 1h, 24h, 7d, 30d or 90d", q.Get("since"))
	}
	f.Since = now.Add(-span)
	switch f.Outcome {
	case "", "good", "bad", "silent", "uncounted":
		return f, nil
	}
	return f, denied(http.StatusBadRequest, "outcome=%s: want good, bad, silent or uncounted", f.Outcome)
}

// absent is the answer where there is no store.
func (d *Dash) absent(w http.ResponseWriter) error {
	return answer(w, map[string]string{"absent": d.c.Absent})
}

func (d *Dash) overview(w http.ResponseWriter, r *http.Request) error {
	if d.c.Source == nil {
		return d.absent(w)
	}
	f, err := d.filter(r.URL.Query())
	if err != nil {
		return err
	}
	o, err := d.c.Source.Overview(r.Context(), f)
	if err != nil {
		return err
	}
	o.Starts, o.Models, o.Tools, o.Names = list(o.Starts), list(o.Models), list(o.Tools), list(o.Names)
	for _, counts := range []*[]Count{&o.Dialects, &o.Forms, &o.Fixes, &o.Problems, &o.Losses, &o.Invented} {
		*counts = list(*counts)
	}
	return answer(w, o)
}

func (d *Dash) replies(w http.ResponseWriter, r *http.Request) error {
	if d.c.Source == nil {
		return d.absent(w)
	}
	q := r.URL.Query()
	f, err := d.filter(q)
	if err != nil {
		return err
	}
	from, err := number(q, "from", 0)
	if err != nil {
		return err
	}
	n, err := number(q, "n", maxRows)
	if err != nil {
		return err
	}
	part, err := d.c.Source.Replies(r.Context(), f, from, min(n, maxRows))
	if err != nil {
		return err
	}
	part.Rows = list(part.Rows)
	return answer(w, part)
}

func number(q url.Values, name string, otherwise int) (int, error) {
	if !q.Has(name) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < 0 {
		return 0, denied(http.StatusBadRequest, "%s=%s: want a number, 0 or more", name, q.Get(name))
	}
	return n, nil
}

// reply is the conversation viewer's.
func (d *Dash) reply(w http.ResponseWriter, r *http.Request) error {
	if d.c.Source == nil {
		return d.absent(w)
	}
	out, err := d.c.Source.Reply(r.Context(), r.URL.Query().Get("id"))
	if errors.Is(err, ErrNone) {
		return denied(http.StatusNotFound, "%v", err)
	}
	if err != nil {
		return err
	}
	out.Made, out.Broken, out.Lost = list(out.Made), list(out.Broken), list(out.Lost)
	if out.Content == nil {
		return answer(w, out)
	}
	out.Request, out.Cut = out.Content.Request, out.Content.Cut
	ask := Pasted{Text: out.Content.Raw[:min(len(out.Content.Raw), maxPasted)], Tools: out.Request, Model: out.Model, Cut: out.Cut}
	if out.Read, err = d.explain(r.Context(), ask); err != nil {
		ask.Tools = "" // no form of tools that is known
		out.Read, err = d.explain(r.Context(), ask)
	}
	if err != nil {
		out.Nothing = err.Error()
	}
	return answer(w, out)
}

const (
	lookEvery = time.Second
	beatEvery = 15 // looks without anything new, after which a comment says that the stream lives
	maxNew    = 100
)

// live streams replies as they come, as server-sent events.
func (d *Dash) live(w http.ResponseWriter, r *http.Request) error {
	if d.c.Source == nil {
		return d.absent(w)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	to := http.NewResponseController(w)
	place := ""
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for beat := 0; d.sessions.has(cookieOf(r), d.c.Now()); beat++ {
		rows, next, err := d.c.Source.Since(r.Context(), place, maxNew)
		if err != nil {
			_, _ = fmt.Fprintf(w, "event: trouble\ndata: %s\n\n", quoted(err.Error()))
		}
		for _, row := range rows {
			b, err := json.Marshal(row)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
		}
		if place = next; beat%beatEvery == 0 {
			_, _ = fmt.Fprint(w, ": \n\n")
		}
		if err := to.Flush(); err != nil {
			return nil // nobody listens
		}
		select {
		case <-tick.C:
		case <-d.done:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
	return nil
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string always marshals
	return b
}

// list is a list that is [] in JSON where it is empty.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
