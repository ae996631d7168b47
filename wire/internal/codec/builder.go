package codec

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Fragment is a piece of a native call as a stream brings it.
type Fragment struct {
	Index int // -1: not said
	ID    string
	Name  string
	Args  string          // more of the arguments' JSON
	Whole bool            // the piece is a call of its own
	Extra json.RawMessage // of the call; "" adds nothing
}

// Builder makes the events of a reply from the pieces that a provider sends. It
// numbers the parts, tells the fragments of parallel calls apart, and judges
// each call's arguments: no arguments are {}, anything that is no JSON object is
// a Problem with the text as it came.
type Builder struct {
	Names *Names        // the tools' names; nil: as they come
	NewID func() string // ids for calls without one; nil: none
	One   bool          // one call was asked for: another is a Problem, and never begins

	evs     []utp.Event
	next    int      // number of the next part
	running utp.Kind // EventText or EventThink while such a part is open
	part    int      // its number
	think   utp.Think
	open    []*call
	byID    map[string]*call
	byIndex map[int]*call
	last    *call
	ids     map[string]bool
	count   int // calls begun
	started int // calls given, of which none was a Problem
	ended   int // calls completed
	broken  bool
	done    bool
}

// Bounds of one reply: the arguments of a call in bytes, and the calls.
const (
	maxCall  = 16 << 20
	maxCalls = 1000
)

type call struct {
	part    int
	index   int
	orig    string // the provider's id
	id      string
	name    string
	started bool // EventCallStart was given
	refused bool // a Problem was given instead
	whole   bool // nothing more comes
	extra   json.RawMessage
	done    bool
	tooLong bool
	raw     []byte
	sent    int // bytes of raw given in CallDeltas
	object  object
}

// Take gives the events since the last Take, until more are built.
func (b *Builder) Take() []utp.Event {
	evs := b.evs
	b.evs = b.evs[:0]
	return evs
}

func (b *Builder) emit(e utp.Event) { b.evs = append(b.evs, e) }

// Text adds text for the reader.
func (b *Builder) Text(s string) { b.run(utp.EventText, s) }

// Beside keeps what the provider says of the text that was added last.
func (b *Builder) Beside(extra json.RawMessage) {
	if n := len(b.evs); n > 0 && b.evs[n-1].Kind == utp.EventText {
		b.evs[n-1].Extra = extra
	}
}

// Think adds reasoning. about is what its EventPartEnd carries, if anything; its
// Text is ignored.
func (b *Builder) Think(s string, about utp.Think) {
	b.run(utp.EventThink, s)
	if s != "" {
		b.think = about
	}
}

func (b *Builder) run(kind utp.Kind, s string) {
	if s == "" || b.done {
		return
	}
	b.startAll()
	if b.running != kind {
		b.endRunning()
		b.running, b.part = kind, b.number()
	}
	b.emit(utp.Event{Kind: kind, Part: b.part, Text: s})
}

func (b *Builder) number() int { b.next++; return b.next - 1 }

func (b *Builder) endRunning() {
	if b.running == utp.EventThink && (b.think.Provider != "" || b.think.Signature != "") {
		b.emit(utp.Event{Kind: utp.EventPartEnd, Part: b.part, Value: b.think})
	}
	b.running, b.think = 0, utp.Think{}
}

// Call adds a piece of a call.
func (b *Builder) Call(f Fragment) {
	if b.done {
		return
	}
	c := b.find(&f)
	if c == nil && b.count >= maxCalls {
		b.tooMany()
		return
	}
	if c == nil {
		c = b.begin(&f)
	}
	if c.done {
		b.late(c, f)
		return
	}
	if c.orig == "" && f.ID != "" {
		b.identify(c, f.ID)
	}
	if len(f.Extra) > 0 {
		c.extra = f.Extra
	}
	b.addName(c, f.Name)
	b.addArgs(c, f.Args)
	if f.Whole && (c.object.start < 0 || c.object.closed()) {
		b.end(c, false) // else the end of the reply tells whether the output limit cut it
	}
}

// find tells which call a piece belongs to; nil is a new one. Servers are known
// to leave out the index or the id, to repeat the id or the name with every
// piece, to give every call the index 0, and to split the name.
func (b *Builder) find(f *Fragment) *call {
	if f.Whole {
		return nil
	}
	if c := b.byID[f.ID]; f.ID != "" && c != nil && (c.index == f.Index || f.Index < 0 || c.index < 0) {
		return c
	}
	if f.Index >= 0 {
		c := b.byIndex[f.Index]
		if c == nil || f.ID != "" && c.orig != "" || b.another(c, f) {
			return nil
		}
		return c
	}
	c := b.last
	if c == nil || f.ID != "" && (c.orig != "" || f.Name != "") {
		return nil
	}
	if f.Name != "" && (len(c.raw) > 0 || !b.continues(c.name, f.Name)) {
		return nil
	}
	return c
}

// another reports whether a piece with a complete call's index begins a new call.
func (b *Builder) another(c *call, f *Fragment) bool {
	return f.Name != "" && c.object.closed() && (f.Name != c.name || strings.TrimSpace(f.Args) != "")
}

func (b *Builder) continues(name, more string) bool {
	return b.Names != nil && (b.Names.known(name+more) || strings.HasPrefix(more, name) && b.Names.known(more))
}

func (b *Builder) begin(f *Fragment) *call {
	b.endRunning()
	b.startAll()
	b.endClosed()
	c := &call{part: b.number(), index: f.Index, object: newObject()}
	b.count++
	b.open, b.last = append(b.open, c), c
	if b.byIndex == nil {
		b.byIndex, b.byID, b.ids = map[int]*call{}, map[string]*call{}, map[string]bool{}
	}
	if f.Index >= 0 {
		b.byIndex[f.Index] = c
	}
	return c
}

func (b *Builder) tooMany() {
	if b.count++; b.count == maxCalls+1 {
		b.problem(&call{part: b.number()}, utp.ProblemTooLong, fmt.Sprintf("only the first %d calls of a reply are read", maxCalls), "")
	}
}

func (b *Builder) identify(c *call, id string) {
	c.orig = id
	if b.byID[id] == nil || !c.started {
		b.byID[id] = c
	}
}

func (b *Builder) addName(c *call, name string) {
	known := func(s string) bool { return b.Names != nil && b.Names.known(s) }
	switch {
	case name == "" || c.started:
	case c.name == "" || strings.HasPrefix(name, c.name) && known(name):
		c.name = name
	case known(c.name + name):
		c.name += name
	case name == c.name || known(c.name):
	default:
		c.name += name
	}
}

func (b *Builder) addArgs(c *call, args string) {
	if args == "" || c.tooLong {
		return
	}
	if len(c.raw)+len(args) > maxCall {
		c.tooLong = true
		return
	}
	b.start(c)
	c.raw = append(c.raw, args...)
	c.object.feed(args)
	upTo := len(c.raw)
	switch {
	case c.object.start < 0:
		return
	case c.object.closed():
		upTo = c.object.end
	}
	from := max(c.sent, c.object.start)
	if upTo > from && c.started && !c.refused {
		b.emit(utp.Event{Kind: utp.EventCallDelta, Part: c.part, Text: string(c.raw[from:upTo])})
		c.sent = upTo
	}
}

// startAll starts the calls whose names are complete because something follows.
func (b *Builder) startAll() {
	for _, c := range b.open {
		b.start(c)
	}
}

func (b *Builder) start(c *call) {
	if c.started || c.name == "" {
		return
	}
	c.started = true
	if b.One && b.started > 0 {
		c.refused = true
		b.problem(c, utp.ProblemInvalid, "a second call where one at a time was asked for", "")
		return
	}
	b.started++
	c.id = b.uniqueID(c.orig)
	head := utp.Call{ID: c.id, Name: b.in(c.name), Source: utp.SourceNative, Extra: c.extra}
	b.emit(utp.Event{Kind: utp.EventCallStart, Part: c.part, Call: &head})
}

func (b *Builder) in(name string) string {
	if b.Names == nil {
		return name
	}
	return b.Names.In(name)
}

func (b *Builder) uniqueID(orig string) string {
	id := orig
	if id == "" && b.NewID != nil {
		id = b.NewID()
	}
	for n := 2; id != "" && b.ids[id]; n++ {
		id = fmt.Sprintf("%s_%d", orig, n)
	}
	b.ids[id] = true
	return id
}

// endClosed ends the calls whose objects are closed: with the next call they
// are known to be complete.
func (b *Builder) endClosed() {
	open := b.open
	for _, c := range open {
		if c.object.closed() {
			b.end(c, false)
		}
	}
}

// EndCalls ends all calls. cut says that the output ended early: what is not
// closed by then is a Problem.
func (b *Builder) EndCalls(cut bool) {
	for len(b.open) > 0 {
		b.end(b.open[0], cut)
	}
}

// Complete says that nothing more comes for the call of an index, or if it is -1
// for the last. It ends as soon
// as no other is open: servers that let calls overlap tell only at the end which
// pieces belong where.
func (b *Builder) Complete(index int, cut bool) {
	c := b.byIndex[index]
	if index < 0 {
		c = b.last
	}
	if c != nil {
		c.whole = true
	}
	for _, c := range b.open {
		if !c.whole {
			return
		}
	}
	b.EndCalls(cut)
}

func (b *Builder) close(c *call) {
	c.done = true
	for i, o := range b.open {
		if o == c {
			b.open = append(b.open[:i:i], b.open[i+1:]...)
			return
		}
	}
}

func (b *Builder) end(c *call, cut bool) {
	b.start(c)
	b.close(c)
	if c.refused {
		return
	}
	args, kind, message := c.judge(cut)
	if c.name == "" {
		kind, message = utp.ProblemMissingName, "the call names no tool"
	}
	if kind != "" {
		if c.started {
			b.started--
		}
		b.problem(c, kind, message, string(c.raw))
		return
	}
	if c.sent == 0 {
		b.emit(utp.Event{Kind: utp.EventCallDelta, Part: c.part, Text: string(args)})
	}
	b.ended++
	done := utp.Call{ID: c.id, Name: b.in(c.name), Args: args, RawArgs: string(c.raw), Source: utp.SourceNative, Extra: c.extra}
	if c.id != c.orig {
		done.OrigID = c.orig
	}
	b.custom(&done)
	b.emit(utp.Event{Kind: utp.EventCallEnd, Part: c.part, Call: &done})
}

// judge gives the arguments, or what is wrong with them.
func (c *call) judge(cut bool) (args json.RawMessage, kind utp.ProblemKind, message string) {
	raw := strings.TrimSpace(string(c.raw))
	switch {
	case c.tooLong:
		return nil, utp.ProblemTooLong, fmt.Sprintf("the arguments are longer than %d bytes", maxCall)
	case cut && !c.object.closed():
		return nil, utp.ProblemTruncated, "the output ended inside the arguments"
	case raw == "" || raw == "null":
		return json.RawMessage("{}"), "", ""
	case !c.object.closed() || !json.Valid(c.raw):
		return nil, utp.ProblemMalformed, "the arguments are not a JSON object"
	}
	return json.RawMessage(c.raw[c.object.start:c.object.end]), "", ""
}

func (b *Builder) problem(c *call, kind utp.ProblemKind, message, raw string) {
	b.broken = b.broken || kind == utp.ProblemTruncated
	b.emit(utp.Event{Kind: utp.EventProblem, Part: c.part, Problem: &utp.Problem{
		Kind: kind, Name: b.in(c.name), Message: message, Want: "a JSON object", Raw: raw}})
}

// late reports what comes after a call was complete. White space and closers
// are nothing.
func (b *Builder) late(c *call, f Fragment) {
	if strings.Trim(f.Args, " \t\r\n}]") != "" {
		late := &call{part: b.number(), name: c.name}
		b.problem(late, utp.ProblemMalformed, "more arguments came after the call was complete", f.Args)
	}
}

type customInput struct {
	Input *string `json:"input"`
}

// custom turns a call of a tool with free text input, which was offered as a
// function of one text, back into one.
func (b *Builder) custom(c *utp.Call) {
	if b.Names == nil || !b.Names.custom[c.Name] {
		return
	}
	var in customInput
	if json.Unmarshal(c.Args, &in) == nil && in.Input != nil {
		c.Kind, c.RawArgs = utp.CustomCall, *in.Input
	}
}

// Finish ends the reply. A reply with a call stopped for its tools, whatever
// the provider said, unless the output limit cut another call or the stream broke.
func (b *Builder) Finish(end utp.End, extra json.RawMessage) {
	if b.done {
		return
	}
	b.EndCalls(end.Stop == utp.StopLength || end.Stop == utp.StopError)
	b.endRunning()
	switch {
	case end.Stop == utp.StopError || end.Stop == utp.StopLength && b.broken:
	case b.ended > 0:
		end.Stop = utp.StopTool
	case end.Stop == utp.StopTool:
		end.Stop = utp.StopEnd
	}
	b.done = true
	b.emit(utp.Event{Kind: utp.EventFinish, Part: b.next, End: &end, Extra: extra})
}
