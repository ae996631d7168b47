package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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
	if out, ok := tidy(messages, id); ok {
		return out
	}
	o.collect()
	for i := range messages {
		o.claim(i)
	}
	for i := range messages {
		o.write(i)
	}
	return o.out
}

// tidy is a history that has nothing to repair, as most are: every call has an id
// of its own in its message, and behind the message stand the results, in the
// order of the calls. ok is false for any other.
func tidy(messages []utp.Message, id func(string) string) (out []Sent, ok bool) {
	var open []utp.Call // whose results come next
	out = make([]Sent, 0, len(messages)+8)
	for i, m := range messages {
		calls, results := m.Calls(), m.Results()
		if len(results) == 0 {
			if len(open) > 0 || !distinct(calls) {
				return nil, false
			}
			open, out = calls, append(out, sent(i, m, id))
			continue
		}
		if len(results) != len(m.Parts) || len(results) > len(open) {
			return nil, false
		}
		for k, r := range results {
			if r.CallID != open[k].ID {
				return nil, false
			}
			r.CallID, r.Name = id(r.CallID), open[k].Name
			one := Sent{Path: messagePath(i), Message: utp.Message{Role: utp.RoleTool}}
			if k == 0 {
				one.Extra = m.Extra
			}
			one.put(partOf(one.Path, k), r)
			out = append(out, one)
		}
		open = open[len(results):]
	}
	return out, len(open) == 0
}

// distinct reports calls that have ids, each its own.
func distinct(calls []utp.Call) bool {
	for i, c := range calls {
		if c.ID == "" || sameID(calls[i:], c.ID) > 1 {
			return false
		}
	}
	return true
}

// sent is message i, its calls with ids that can be sent.
func sent(i int, m utp.Message, id func(string) string) Sent {
	out := Sent{Path: messagePath(i), Message: m, At: make([]string, len(m.Parts))}
	for k, p := range m.Parts {
		out.At[k] = partOf(out.Path, k)
		c, ok := p.(utp.Call)
		if !ok {
			continue
		}
		if now := id(c.ID); now != c.ID {
			c.ID, out.Parts = now, slices.Clone(out.Parts)
			out.Parts[k] = c
		}
	}
	return out
}

// pending is a result and where it stood.
type pending struct {
	message int
	part    int // of the message
	at      string
	extra   json.RawMessage // of its message, if the message is nothing but results and this the first
	result  utp.Result
	taken   bool
}

type ordering struct {
	in      []utp.Message
	id      func(string) string
	said    []said                // by message
	results map[string][]*pending // by the call's id, in their order
	uses    map[string][]int      // by id, the messages that have calls with it
	callers []int                 // messages with calls
	out     []Sent
	report  Lose
}

// said is what a message has of calls and results.
type said struct {
	calls   []utp.Call
	results []*pending
	answers []*pending // the results of the calls; nil ones are missing
}

func (o *ordering) collect() {
	o.said = make([]said, len(o.in))
	o.results, o.uses = map[string][]*pending{}, map[string][]int{}
	for i, m := range o.in {
		s := &o.said[i]
		for k, p := range m.Parts {
			switch p := p.(type) {
			case utp.Call:
				s.calls = append(s.calls, p)
				o.uses[p.ID] = append(o.uses[p.ID], i)
			case utp.Result:
				next := &pending{message: i, part: k, at: partPath(i, k), result: p}
				s.results = append(s.results, next)
				o.results[p.CallID] = append(o.results[p.CallID], next)
			}
		}
		if len(s.calls) > 0 {
			o.callers = append(o.callers, i)
		}
		if n := len(s.results); n > 0 && n == len(m.Parts) {
			s.results[0].extra = m.Extra
		}
	}
}

// claim finds the results of the calls in message i.
func (o *ordering) claim(i int) {
	calls := o.said[i].calls
	if len(calls) == 0 {
		return
	}
	answers := make([]*pending, len(calls))
	for k, c := range calls {
		answers[k] = o.byID(i, o.next(o.uses[c.ID], i), c.ID, sameID(calls, c.ID) == 1)
	}
	next := o.next(o.callers, i)
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
	o.said[i].answers = answers
	o.noteOrder(i, answers)
}

// next is the first of some messages that comes after i.
func (o *ordering) next(messages []int, i int) int {
	if at, _ := slices.BinarySearch(messages, i+1); at < len(messages) {
		return messages[at]
	}
	return len(o.in)
}

// between are the results with an id that stand between two messages.
func (o *ordering) between(after, before int, id string) []*pending {
	all := o.results[id]
	place := func(p *pending, message int) int { return cmp.Compare(p.message, message) }
	from, _ := slices.BinarySearchFunc(all, after+1, place)
	to, _ := slices.BinarySearchFunc(all, before, place)
	return all[min(from, to):to]
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
	for _, p := range o.between(after, before, id) {
		if p.taken {
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
	for _, p := range o.between(after, before, "") {
		if !p.taken && p.result.Name == name {
			p.taken = true
			return p
		}
	}
	return nil
}

// noteOrder reports results that did not stand directly behind their calls.
func (o *ordering) noteOrder(i int, answers []*pending) {
	last, part, moved := i, 0, false
	for _, p := range answers {
		if p == nil {
			continue
		}
		moved = moved || p.message < last || p.message == last && p.part < part
		for j := last + 1; j < p.message; j++ {
			moved = moved || len(o.said[j].results) == 0 && says(o.in[j])
		}
		last, part = max(last, p.message), p.part
	}
	if moved {
		o.report(messagePath(i), "reordered", "the results must follow their calls in the order of the calls")
	}
}

// says reports a message that is not empty.
func says(m utp.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p utp.Part) bool { t, ok := p.(utp.Text); return !ok || strings.TrimSpace(t.Text) != "" })
}

func (o *ordering) write(i int) {
	m, s := o.in[i], o.said[i]
	ids := o.ids(i, s.calls)
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
	if len(out.Parts) > 0 || len(s.results) == 0 {
		o.out = append(o.out, out)
	}
	for k, n := range calls {
		o.answer(out.At[n], out.Parts[n].(utp.Call), s.answers[k])
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
	out := Sent{Path: at, Message: utp.Message{Role: utp.RoleTool}}
	if p == nil {
		o.report(at, "given a result", "the call of "+c.Name+" has none")
		out.put(at, utp.TextResult(c, utp.StatusFailed, "no result: the call was interrupted"))
	} else {
		r := p.result
		r.CallID, r.Name = c.ID, c.Name
		out.Path, out.Extra = messagePath(p.message), p.extra
		out.put(p.at, r)
	}
	o.out = append(o.out, out)
}

func (o *ordering) orphans(i int) {
	for _, p := range o.said[i].results {
		if p.taken {
			continue
		}
		name := p.result.Name
		if name == "" {
			name = "a tool"
		}
		text := fmt.Sprintf("[result of %s] %s", name, ResultText(p.result))
		out := Sent{Path: messagePath(i), Message: utp.Message{Role: utp.RoleUser}}
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
	case r.Status != "" && r.Status != utp.StatusOK && !strings.HasPrefix(text, errorMark) && !isErrorObject(text):
		return errorMark + text
	case text == "":
		return "(empty)"
	}
	return text
}

// Marked is a result's parts for a provider without a field for failures, whose
// results hold more than texts: the first text is as ResultText writes it. at says
// where the parts stood.
func Marked(r utp.Result, at []string) (parts []utp.Part, places []string) {
	var first utp.Text
	rest := r.Parts
	if len(rest) > 0 {
		if t, ok := rest[0].(utp.Text); ok {
			first, rest = t, rest[1:]
		}
	}
	if first.Text == "" && len(rest) > 0 && (r.Status == "" || r.Status == utp.StatusOK) {
		return r.Parts, at
	}
	first.Text = ResultText(utp.Result{Status: r.Status, Parts: []utp.Part{utp.Text{Text: first.Text}}})
	if len(rest) == len(r.Parts) {
		at = append([]string{""}, at...)
	}
	return append([]utp.Part{first}, rest...), at
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
		r.Status, r.Parts = utp.StatusFailed, r.Parts[1:]
	default:
		t.Text = plain
		r.Status, r.Parts[0] = utp.StatusFailed, t
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
	if !slices.ContainsFunc(messages, hasBlobs) {
		return messages
	}
	var out []Sent
	var lifted Sent
	flush := func() {
		if len(lifted.Parts) > 0 {
			out = append(out, lifted)
		}
		lifted = Sent{Message: utp.Message{Role: utp.RoleUser}}
	}
	for _, m := range messages {
		if m.Role != utp.RoleTool {
			flush()
		}
		if !hasBlobs(m) {
			out = append(out, m)
			continue
		}
		kept := Sent{Path: m.Path, Message: utp.Message{Role: m.Role, Extra: m.Extra}}
		for k, r := range m.Results() {
			rest, blobs := split(r)
			kept.put(m.At[k], rest)
			for _, p := range blobs {
				lifted.Role, lifted.Path = utp.RoleUser, m.Path
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

// hasBlobs reports results with an image or a file.
func hasBlobs(m Sent) bool {
	if m.Role != utp.RoleTool {
		return false
	}
	for _, p := range m.Parts {
		r, _ := p.(utp.Result)
		for _, p := range r.Parts {
			if _, ok := p.(utp.Blob); ok {
				return true
			}
		}
	}
	return false
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
