package history

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Lose takes what cannot be sent as it is: where it stood, what became of it, and
// why, as in a wire.Loss.
type Lose func(path, what, why string)

// Order puts a history into the order that every provider wants: after an
// assistant message with calls one tool message per call, in the order of the
// calls, and nothing between. Calls get ids where they have none; id (may be
// nil) makes an id legal. A call without a result gets one that says so, of two
// results for one call the later counts, and a result without a call becomes
// text of the user. lose (may be nil) is told of each repair. The messages given
// are not changed.
func Order(messages []utp.Message, id func(string) string, lose Lose) []Sent {
	if id == nil {
		id = func(s string) string { return s }
	}
	if lose == nil {
		lose = func(_, _, _ string) {}
	}
	o := ordering{in: messages, id: id, report: lose}
	o.collect()
	for i := range messages {
		o.claim(i)
	}
	for i := range messages {
		o.write(i)
	}
	return o.out
}

// pending is a result and where it stood.
type pending struct {
	message int
	at      string
	extra   json.RawMessage // of its message, if the message is nothing but results and this the first
	result  utp.Result
	taken   bool
}

type ordering struct {
	in      []utp.Message
	id      func(string) string
	results []*pending
	answers map[int][]*pending // message with calls → its results, by call; nil entries are missing
	out     []Sent
	report  Lose
}

func (o *ordering) collect() {
	o.answers = map[int][]*pending{}
	for i, m := range o.in {
		for k, p := range m.Parts {
			r, ok := p.(utp.Result)
			if !ok {
				continue
			}
			next := &pending{message: i, at: partPath(i, k), result: r}
			if k == 0 && len(m.Results()) == len(m.Parts) {
				next.extra = m.Extra
			}
			o.results = append(o.results, next)
		}
	}
}

// claim finds the results of the calls in message i.
func (o *ordering) claim(i int) {
	calls := o.in[i].Calls()
	if len(calls) == 0 {
		return
	}
	answers := make([]*pending, len(calls))
	until := o.reused(i, calls)
	for k, c := range calls {
		answers[k] = o.byID(i, until[c.ID], c.ID, sameID(calls, c.ID) == 1)
	}
	next := o.nextCalls(i)
	for k, c := range calls {
		if answers[k] == nil {
			answers[k] = o.nameless(i, next, c.Name)
		}
	}
	for k := range calls {
		if answers[k] == nil {
			answers[k] = o.nameless(i, next, "")
		}
	}
	o.answers[i] = answers
	o.noteOrder(i, answers)
}

// reused is, by id, the message after i that uses the id again.
func (o *ordering) reused(i int, calls []utp.Call) map[string]int {
	until := map[string]int{}
	for _, c := range calls {
		until[c.ID] = len(o.in)
	}
	for j := len(o.in) - 1; j > i; j-- {
		for _, c := range o.in[j].Calls() {
			if _, ours := until[c.ID]; ours {
				until[c.ID] = j
			}
		}
	}
	return until
}

func (o *ordering) nextCalls(i int) int {
	for j := i + 1; j < len(o.in); j++ {
		if len(o.in[j].Calls()) > 0 {
			return j
		}
	}
	return len(o.in)
}

func sameID(calls []utp.Call, id string) (n int) {
	for _, c := range calls {
		if c.ID == id {
			n++
		}
	}
	return n
}

// byID takes the result with this id between two messages: the last one if the
// id is used once, else the next in order.
func (o *ordering) byID(after, before int, id string, once bool) (found *pending) {
	if id == "" {
		return nil
	}
	for _, p := range o.results {
		if p.taken || p.message <= after || p.message >= before || p.result.CallID != id {
			continue
		}
		if found != nil {
			o.report(found.at, "dropped", "a later result answers the same call")
		}
		p.taken, found = true, p
		if !once {
			return found
		}
	}
	return found
}

func (o *ordering) nameless(after, before int, name string) *pending {
	for _, p := range o.results {
		if !p.taken && p.message > after && p.message < before && p.result.CallID == "" && p.result.Name == name {
			p.taken = true
			return p
		}
	}
	return nil
}

// noteOrder reports results that did not stand directly behind their calls.
func (o *ordering) noteOrder(i int, answers []*pending) {
	last, moved := i, false
	for _, p := range answers {
		if p == nil {
			continue
		}
		moved = moved || p.message < last
		for j := last + 1; j < p.message; j++ {
			moved = moved || len(o.in[j].Results()) == 0
		}
		last = max(last, p.message)
	}
	if moved {
		o.report(messagePath(i), "reordered", "the results must follow their calls in the order of the calls")
	}
}

func (o *ordering) write(i int) {
	m := o.in[i]
	answers := o.answers[i]
	ids := o.ids(i, m.Calls())
	out := Sent{Path: messagePath(i), Message: utp.Message{Role: m.Role, Extra: m.Extra}}
	var calls []int // their places in out
	for k, p := range m.Parts {
		switch p := p.(type) {
		case utp.Result:
			continue
		case utp.Call:
			p.ID = ids[len(calls)]
			calls = append(calls, len(out.Parts))
			out.put(partPath(i, k), p)
		default:
			out.put(partPath(i, k), p)
		}
	}
	if len(out.Parts) > 0 || len(m.Results()) == 0 {
		o.out = append(o.out, out)
	}
	for k, n := range calls {
		o.answer(out.At[n], out.Parts[n].(utp.Call), answers[k])
	}
	o.orphans(i)
}

// ids are the ids to send for the calls of message i, each once.
func (o *ordering) ids(i int, calls []utp.Call) []string {
	ids, used := make([]string, len(calls)), map[string]bool{}
	for k, c := range calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", i, k)
		}
		for n := 2; used[id]; n++ {
			id = fmt.Sprintf("%s_%d", c.ID, n)
		}
		used[id] = true
		ids[k] = o.id(id)
	}
	return ids
}

// answer writes the result of the call at a place.
func (o *ordering) answer(at string, c utp.Call, p *pending) {
	out := Sent{Path: at, Message: utp.Message{Role: utp.ToolRole}}
	if p == nil {
		o.report(at, "given a result", "the call of "+c.Name+" has none")
		out.put(at, utp.TextResult(c, utp.Failed, "no result: the call was interrupted"))
	} else {
		r := p.result
		r.CallID, r.Name = c.ID, c.Name
		out.Path, out.Extra = messagePath(p.message), p.extra
		out.put(p.at, r)
	}
	o.out = append(o.out, out)
}

func (o *ordering) orphans(i int) {
	for _, p := range o.results {
		if p.message != i || p.taken {
			continue
		}
		name := p.result.Name
		if name == "" {
			name = "a tool"
		}
		text := fmt.Sprintf("[result of %s] %s", name, ResultText(p.result))
		out := Sent{Path: messagePath(i), Message: utp.Message{Role: utp.User}}
		out.put(p.at, utp.Text{Text: text})
		o.out = append(o.out, out)
		o.report(p.at, "quoted", "the result answers no call: "+p.result.CallID)
	}
}

const errorMark = "ERROR: "

// ResultText is a result for a provider whose results are texts. A failure
// begins with "ERROR: " unless the text is an error object already.
func ResultText(r utp.Result) string {
	text := r.Text()
	switch {
	case r.Status != "" && r.Status != utp.OK && !strings.HasPrefix(text, errorMark) && !isErrorObject(text):
		return errorMark + text
	case text == "":
		return "(empty)"
	}
	return text
}

// Unmark reads what ResultText wrote for providers without a field for failures:
// the text, and whether the call failed.
func Unmark(text string) (plain string, failed bool) {
	plain, failed = strings.CutPrefix(text, errorMark)
	return plain, failed || isErrorObject(text)
}

// Unmarked is a result whose first text may bear the mark of a failure, without
// it: the failure is its Status. A text of nothing else goes.
func Unmarked(r utp.Result) utp.Result {
	if len(r.Parts) == 0 {
		return r
	}
	t, ok := r.Parts[0].(utp.Text)
	plain, failed := Unmark(t.Text)
	switch {
	case !ok || !failed:
	case plain == "" && len(r.Parts) > 1:
		r.Status, r.Parts = utp.Failed, r.Parts[1:]
	default:
		t.Text = plain
		r.Status, r.Parts[0] = utp.Failed, t
	}
	return r
}

func isErrorObject(text string) bool {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return false
	}
	var j struct{ Error json.RawMessage }
	return json.Unmarshal([]byte(text), &j) == nil && j.Error != nil && string(j.Error) != "null"
}

// LiftBlobs moves the images and files of results into a message of the user
// behind the results of the turn, for providers whose results are texts.
func LiftBlobs(messages []Sent, lose Lose) []Sent {
	var out []Sent
	var lifted Sent
	flush := func() {
		if len(lifted.Parts) > 0 {
			out = append(out, lifted)
		}
		lifted = Sent{Message: utp.Message{Role: utp.User}}
	}
	for _, m := range messages {
		if m.Role != utp.ToolRole {
			flush()
			out = append(out, m)
			continue
		}
		kept := Sent{Path: m.Path, Message: utp.Message{Role: m.Role, Extra: m.Extra}}
		for k, r := range m.Results() {
			rest, blobs := split(r)
			kept.put(m.At[k], rest)
			for _, p := range blobs {
				lifted.Role, lifted.Path = utp.User, m.Path
				lifted.put(m.At[k], p)
			}
			if len(blobs) > 0 {
				lose(m.At[k], "its files moved behind the results", "results are texts here")
			}
		}
		out = append(out, kept)
	}
	flush()
	return out
}

func split(r utp.Result) (utp.Result, []utp.Part) {
	var kept, lifted []utp.Part
	for _, p := range r.Parts {
		if b, ok := p.(utp.Blob); ok {
			note := fmt.Sprintf("[from tool %s, call %s]", r.Name, r.CallID)
			kept = append(kept, utp.Text{Text: "(attached below)"})
			lifted = append(lifted, utp.Text{Text: note}, b)
			continue
		}
		kept = append(kept, p)
	}
	r.Parts = kept
	return r, lifted
}
