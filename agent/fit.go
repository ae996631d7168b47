package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
)

// LeftOut is a part of the prompt that the model did not get.
type LeftOut struct {
	What  string `json:"what"`  // "results", "arguments" of calls, "history", "rounds" of this question, "input"
	Bytes int    `json:"bytes"` // how much of it, in the last request
}

// What is left out, in the order in which it is. The system message, the tools
// and the user's own words are not.
const (
	oldResults   = "results"
	oldArguments = "arguments"
	oldTurns     = "history"
	oldRounds    = "rounds"
	pipedInput   = "input"
)

var leftWords = map[string]string{
	oldResults: "of results", oldArguments: "of the arguments of calls", oldTurns: "of earlier questions and answers",
	oldRounds: "of earlier rounds", pipedInput: "of what was piped in",
}

// shortText is what is kept of an old result or argument, in bytes.
const shortText = 600

// place is a part of a message.
type place struct{ message, part int }

// fitting holds what is left out of the conversation of a turn, which itself
// stays whole. What was left out once stays so, for the sake of prompt caches.
type fitting struct {
	room     int           // tokens of a prompt; 0: not known
	window   int           // room, before a server refused a prompt of that size
	tokens   int           // of the last prompt, where room is known
	question int           // its message
	gone     map[int]bool  // messages of earlier turns, and those that the summary stands for
	unsummed bool          // a summary failed: there is no second try
	summary  string        // by the model, of what was done on the question
	limits   map[place]int // bytes that are kept of a part
	over     int           // tokens that are still too many
}

// fit leaves out what does not fit the model's window.
func (t *turn) fit(ctx context.Context, tools []utp.Tool, line string) *utp.Request {
	if t.Window != nil && t.fitting.room == 0 {
		t.fitting.room = t.Window(ctx)
		t.fitting.window = t.fitting.room
	}
	req := t.compose(tools, line)
	room := t.fitting.room
	if room <= 0 {
		return req
	}
	n := req.Tokens()
	if n > room && t.shrink(ctx, n-room+room/10) {
		t.warn(fmt.Sprintf("the prompt has about %d tokens, and %d fit the model's window: %s was left out", n, room, t.listLeft()), nil)
		req = t.compose(tools, line)
		n = req.Tokens()
	}
	t.fitting.tokens = n
	return req
}

// refit leaves out more after the server said that the prompt is too long.
func (t *turn) refit(ctx context.Context, err error, sent *utp.Request) bool {
	var long *utp.Overflow
	if !errors.As(err, &long) {
		return false
	}
	n := sent.Tokens()
	t.fitting.room = roomAfter(n, *long)
	if !t.shrink(ctx, n-t.fitting.room) {
		return false
	}
	t.warn(fmt.Sprintf("the server says that the prompt is too long; asking once more without %s", t.listLeft()), nil)
	return true
}

// roomAfter is how many tokens may be sent after so many were too long, a tenth
// of the window kept for the reply. What the server says of its own count and
// window is told in its tokens, not in ours.
func roomAfter(sent int, long utp.Overflow) int {
	room := sent / 2
	switch {
	case long.Window > 0 && long.Prompt > long.Window:
		room = int(float64(sent) * 0.9 * float64(long.Window) / float64(long.Prompt))
	case long.Window > 0 && long.Window < sent:
		room = long.Window * 3 / 4
	}
	return max(room, 1)
}

// shrink leaves out what is worth so many tokens, or as much as it may. It
// reports whether there was anything.
func (t *turn) shrink(ctx context.Context, over int) bool {
	f := &t.fitting
	f.over = over
	newest := t.newestResults()
	t.shorten(newest, shortText, isResult)
	t.shorten(len(t.msgs), shortText, isCall)
	t.forget()
	t.cutPiped()
	t.condense(ctx, newest)
	for keep := 8 << 10; keep >= shortText && f.over > 0; keep /= 2 {
		t.shorten(len(t.msgs), keep, isResult)
	}
	return f.over < over
}

// newestResults is the message with the results that the model has not read yet.
func (t *turn) newestResults() int {
	for i := len(t.msgs) - 1; i >= 0; i-- {
		if len(t.msgs[i].Results()) > 0 {
			return i
		}
	}
	return len(t.msgs)
}

func isResult(p utp.Part) bool { _, ok := p.(utp.Result); return ok }
func isCall(p utp.Part) bool   { _, ok := p.(utp.Call); return ok }

// shorten keeps so many bytes of the parts of one kind, from the oldest on.
func (t *turn) shorten(before, keep int, kind func(utp.Part) bool) {
	for i, m := range t.msgs[:before] {
		for j, p := range m.Parts {
			if t.fitting.over <= 0 {
				return
			}
			if kind(p) && !t.fitting.gone[i] {
				t.limit(place{i, j}, keep)
			}
		}
	}
}

// limit keeps so many bytes of a part, if that is less than was kept.
func (t *turn) limit(at place, keep int) {
	was, limited := t.fitting.limits[at]
	p := t.msgs[at.message].Parts[at.part]
	if limited && was <= keep || textSize(p) <= keep {
		return
	}
	now := t.kept(at, p)
	if t.fitting.limits == nil {
		t.fitting.limits = map[place]int{}
	}
	t.fitting.limits[at] = keep
	t.fitting.over -= partTokens(now) - partTokens(t.kept(at, p))
}

func partTokens(p utp.Part) int { return utp.Message{Parts: []utp.Part{p}}.Tokens() }

// forget leaves out earlier turns, the oldest first, calls with their results.
func (t *turn) forget() {
	head := systems(t.ask.Messages)
	if t.fitting.question <= head {
		return
	}
	for _, b := range blocksOf(t.msgs[head:t.fitting.question]) {
		if t.fitting.over <= 0 {
			return
		}
		if t.fitting.gone[head+b.from] {
			continue
		}
		for i := head + b.from; i < head+b.to; i++ {
			t.fitting.drop(i, t.msgs[i].Tokens())
		}
	}
}

// drop leaves out a message that is worth so many tokens.
func (f *fitting) drop(i, tokens int) {
	if f.gone == nil {
		f.gone = map[int]bool{}
	}
	f.gone[i] = true
	f.over -= tokens
}

// cutPiped leaves out the middle of the text that was piped in.
func (t *turn) cutPiped() {
	at, size := t.piped()
	for try := 0; size > shortText && t.fitting.over > 0 && try < 8; try++ {
		has := max(partTokens(t.kept(at, t.msgs[at.message].Parts[at.part])), 1)
		size = min(int(float64(size)*(1-float64(t.fitting.over)/float64(has))), size*9/10)
		t.limit(at, max(size, shortText))
	}
}

// piped finds the part that holds what was piped in, and how much of it is kept.
func (t *turn) piped() (at place, size int) {
	if t.Piped == "" || t.fitting.question >= len(t.msgs) {
		return place{}, 0
	}
	for i, p := range t.msgs[t.fitting.question].Parts {
		if text, ok := p.(utp.Text); ok && strings.Contains(text.Text, t.Piped) {
			at = place{t.fitting.question, i}
			if keep, ok := t.fitting.limits[at]; ok {
				return at, keep
			}
			return at, len(t.Piped)
		}
	}
	return place{}, 0
}

// sent is the conversation as the model gets it.
func (t *turn) sent() []utp.Message {
	if len(t.fitting.limits)+len(t.fitting.gone) == 0 {
		return t.msgs
	}
	out := make([]utp.Message, 0, len(t.msgs))
	for i := range t.msgs {
		if t.fitting.gone[i] {
			continue
		}
		m := t.keptMessage(i)
		if i == t.fitting.question {
			m = t.withSummary(m)
		}
		out = append(out, m)
	}
	return out
}

// kept is what is sent of a part.
func (t *turn) kept(at place, p utp.Part) utp.Part {
	keep, limited := t.fitting.limits[at]
	if !limited {
		return p
	}
	switch p := p.(type) {
	case utp.Result:
		p.Parts = shortParts(p.Parts, keep)
		return p
	case utp.Call:
		p.RawArgs, p.Args = cutMiddle(p.RawArgs, keep), shortArgs(p.Args, keep)
		return p
	case utp.Text:
		before, after, _ := strings.Cut(p.Text, t.Piped)
		p.Text = before + cutMiddle(t.Piped, keep) + after
		return p
	}
	return p
}

// textSize is what of a part can be left out.
func textSize(p utp.Part) (n int) {
	switch p := p.(type) {
	case utp.Result:
		for _, q := range p.Parts {
			n += textSize(q)
		}
	case utp.Call:
		return max(len(p.Args), len(p.RawArgs))
	case utp.Text:
		return len(p.Text)
	}
	return n
}

// shortParts keeps so many bytes of the texts, each by its share.
func shortParts(parts []utp.Part, keep int) []utp.Part {
	all := 0
	for _, p := range parts {
		all += textSize(p)
	}
	out := slices.Clone(parts)
	for i, p := range parts {
		if text, ok := p.(utp.Text); ok && all > keep {
			text.Text = cutMiddle(text.Text, keep*len(text.Text)/all)
			out[i] = text
		}
	}
	return out
}

// shortArgs keeps so many bytes of each text in the arguments of a call.
func shortArgs(args json.RawMessage, keep int) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	if len(args) <= keep || dec.Decode(&v) != nil {
		return args
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(shortValue(v, keep)) != nil {
		return args
	}
	return bytes.TrimSpace(out.Bytes())
}

func shortValue(v any, keep int) any {
	switch v := v.(type) {
	case string:
		return cutMiddle(v, keep)
	case []any:
		for i := range v {
			v[i] = shortValue(v[i], keep)
		}
	case map[string]any:
		for k := range v {
			v[k] = shortValue(v[k], keep)
		}
	}
	return v
}

// cutMiddle keeps about n bytes, half from either end, in whole lines where that
// costs little. A line between says how much is missing.
func cutMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := cutText(s, n/2), cutTail(s, n-n/2)
	return fmt.Sprintf("%s\n[… %d bytes are left out here: all of it does not fit the model's window …]\n%s", strings.TrimSuffix(head, "\n"), len(s)-len(head)-len(tail), tail)
}

// cutTail keeps at most n bytes from the end.
func cutTail(s string, n int) string {
	from := len(s) - n
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 && i < n/4 {
		from += i + 1
	}
	return s[from:]
}

// leftOut sums up what the model does not get.
func (t *turn) leftOut() (out []LeftOut) {
	bytes := map[string]int{}
	for i := range t.fitting.gone {
		what := oldTurns
		if i > t.fitting.question {
			what = oldRounds
		}
		for _, p := range t.msgs[i].Parts {
			bytes[what] += textSize(p)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(t.fitting.limits), func(a, b place) int { return a.message - b.message }) {
		if t.fitting.gone[at.message] {
			continue
		}
		p := t.msgs[at.message].Parts[at.part]
		what := pipedInput
		switch p.(type) {
		case utp.Result:
			what = oldResults
		case utp.Call:
			what = oldArguments
		}
		bytes[what] += max(textSize(p)-textSize(t.kept(at, p)), 0)
	}
	for _, what := range []string{oldResults, oldArguments, oldTurns, oldRounds, pipedInput} {
		if bytes[what] > 0 {
			out = append(out, LeftOut{what, bytes[what]})
		}
	}
	return out
}

// listLeft words what is left out, and keeps it for the answer.
func (t *turn) listLeft() string {
	t.answer.LeftOut = t.leftOut()
	var words []string
	for _, l := range t.answer.LeftOut {
		words = append(words, fmt.Sprintf("%d bytes %s", l.Bytes, leftWords[l.What]))
	}
	return strings.Join(words, ", ")
}
