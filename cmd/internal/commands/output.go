package commands

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/te"
)

// result is what a command of te's own came to.
type result struct {
	meta te.Meta
	code int
	text string // all of it, as the command itself would print it

	// envelope writes it in at most n bytes. Without one the text goes out as
	// it is where it fits, else as an excerpt.
	envelope func(m te.Meta, n int) string
	interest []int // lines that an excerpt must have
	most     int   // bytes, where the configuration has a limit for the command
	lost     bool  // the text is not all, so it gets no handle
}

// show prints a result and returns its exit code.
func (a *app) show(r result) (int, error) {
	if a.unread > 0 {
		r.code = max(r.code, exitNone)
		r.meta.Hint = cmp.Or(r.meta.Hint, plural(a.unread, "name")+" could not be read")
	}
	switch {
	case a.raw:
		a.shown(record.Raw, r.text, r.text, "")
		a.out.WriteString(r.text)
	case r.envelope != nil:
		out, handle := a.enveloped(r)
		a.shown(record.Enriched, r.text, out, handle)
		a.print(out)
	case a.fits(r.text, a.limit(r.most)):
		a.shown(record.Enriched, r.text, r.text, "")
		a.asItIs(r)
	default:
		out, handle := a.excerpt(r)
		a.shown(record.Enriched, r.text, out, handle)
		a.print(out)
	}
	return r.code, nil
}

// enveloped is the envelope of a result, and the handle of what it leaves out.
func (a *app) enveloped(r result) (out, handle string) {
	at := a.within(a.limit(r.most), func(n int) string { return r.envelope(r.meta, n) })
	if e, _, _ := strings.Cut(at, "\n# TE_END_META"); strings.Contains(e, `"truncated":true`) {
		r.meta.Handle = a.keep(r)
		at = a.within(a.limit(r.most), func(n int) string { return r.envelope(r.meta, n) })
	}
	return at, r.meta.Handle
}

func (a *app) excerpt(r result) (out, handle string) {
	r.meta.Handle = a.keep(r)
	return a.within(a.limit(r.most), func(n int) string { return te.Excerpt(r.meta, r.text, r.interest, n) }), r.meta.Handle
}

// keep puts a result where its handle finds it. A result that cannot be kept
// has no handle.
func (a *app) keep(r result) string {
	if r.lost {
		return ""
	}
	id, err := a.kept.Put(a.root.real, strings.Join(append([]string{a.command}, a.args...), " "), r.text)
	if err != nil {
		fmt.Fprintf(a.err, "te: %v\n", err)
	}
	return id
}

// limit is how many bytes the reader is shown at most.
func (a *app) limit(most int) int {
	n := a.table.Budget(a.agent())
	if most > 0 && most < n {
		n = most
	}
	return n
}

func (a *app) fits(text string, limit int) bool {
	if a.budget > 0 {
		return utp.Tokens(text) <= a.budget
	}
	return len(text) <= limit
}

// within renders in limit bytes or, if --budget says so, in tokens: with ever
// fewer bytes until the estimate holds.
func (a *app) within(limit int, render func(n int) string) string {
	if a.budget == 0 {
		return render(limit)
	}
	n := a.budget * 5
	out := render(n)
	for range 20 {
		tokens := utp.Tokens(out)
		if tokens <= a.budget || n < 2 {
			break
		}
		n = min(n*a.budget/tokens, n*19/20)
		out = render(n)
	}
	return out
}

// print prints an envelope.
func (a *app) print(envelope string) {
	if a.json {
		a.object(envelope)
		return
	}
	a.out.WriteString(envelope)
}

// asItIs prints a text that fits, without an envelope around it.
func (a *app) asItIs(r result) {
	if !a.json {
		a.out.WriteString(r.text)
		return
	}
	r.meta.Lines, r.meta.Size = lineCount(r.text), int64(len(r.text))
	a.parts(strings.Split(r.meta.String(), "\n")[1], r.text, nil)
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// object prints an envelope as one JSON object.
func (a *app) object(envelope string) {
	head, content, _ := strings.Cut(envelope, "\n# TE_END_META\n\n")
	_, header, _ := strings.Cut(head, "\n")
	var crumbs []string
	for line := range strings.Lines(content) {
		if crumb, ok := strings.CutPrefix(line, "# TE: "); ok {
			crumbs = append(crumbs, strings.TrimSuffix(crumb, "\n"))
		}
	}
	if at := strings.Index("\n"+content, "\n\n# TE: "); at >= 0 { // they stand at the end, as those of a search do
		content = content[:max(at, 0)]
	}
	a.parts(header, content, crumbs)
}

func (a *app) parts(header, content string, crumbs []string) {
	if crumbs == nil {
		crumbs = []string{}
	}
	a.value(struct {
		Meta    json.RawMessage `json:"meta"`
		Content string          `json:"content"`
		Crumbs  []string        `json:"breadcrumbs"`
	}{json.RawMessage(header), content, crumbs})
}

func (a *app) value(v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		fmt.Fprintf(a.err, "te: %v\n", err)
		return
	}
	a.out.Write(b.Bytes())
}
