//go:build wasip1

// Wasm is the engine for JavaScript: what package reading says of texts and, built with
// the tag render, what package prompt writes. typescript/ is the package around it.
// internal/report/wasm.go builds it, starts it once and keeps its memory as it is then:
// programs go on from there.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

// engine is what JavaScript calls, one call at a time. What it has begun it knows by
// numbers. A text for it is written into the memory that room returns. A call returns the
// number of bytes of its answer, which said has, or minus the number of those that say
// what is wrong. An answer is JSON; the content of a reply stands beside it as it is:
// content has the size bytes of it, which are all of the text if size is negative.
type engine struct {
	desk    *reading.Desk
	hints   map[int32]*reading.Hints
	open    map[int32]*reading.Pieces
	n       int32
	in      []byte
	out     bytes.Buffer
	enc     *json.Encoder
	content string // of the last answer
	same    bool   // as the text that was read
}

var e = newEngine()

func newEngine() *engine {
	e := &engine{desk: reading.NewDesk(reading.Options{}), hints: map[int32]*reading.Hints{}, open: map[int32]*reading.Pieces{}}
	e.enc = json.NewEncoder(&e.out)
	e.enc.SetEscapeHTML(false)
	return e
}

func main() {}

// ready does what every first text needs, before the memory is kept.
//
//go:wasmexport ready
func ready() {
	const (
		offer = `{"tools":[{"name":"now","parameters":{"type":"object","properties":{"zone":{"type":"string"},"n":{"type":"integer"}},"required":["n"]}}]}`
		text  = "<think>Hm.</think>It is:\n<tool_call>{\"name\": \"now\", \"arguments\": {\"n\": \"2\", \"zone\": \"UTC\",}}</tool_call>"
	)
	n := must(hints(offer))
	must(parse(n, text))
	s := must(open(n))
	for _, c := range text {
		must(feed(s, string(c)))
	}
	must(end(s, false))
	forget(n)
	more()
	e.n, e.in = 0, nil
	for range 3 { // what a pool keeps outlives two
		runtime.GC()
	}
}

func must(answer int32) int32 {
	if answer < 0 {
		panic(e.out.String())
	}
	return answer
}

// wake comes before the first call: what is drawn at random is not what was kept.
//
//go:wasmexport wake
func wake() { reseed() }

// reseed is in the runtime of this build.
//
//go:linkname reseed
func reseed()

// much is more memory than is kept for the next text or answer.
const much = 64 << 10

//go:wasmexport room
func room(n int32) unsafe.Pointer {
	if len(e.in) < int(n) {
		e.in = make([]byte, n)
	}
	return unsafe.Pointer(unsafe.SliceData(e.in))
}

// own makes a text in the memory of room one that may be kept.
func own(text string) string {
	if len(text) > much {
		e.in = nil // it is the text's now
		return text
	}
	return strings.Clone(text)
}

//go:wasmexport said
func said() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(e.out.Bytes())) }

func fail(err error) int32 {
	e.out.Reset()
	e.out.WriteString(words(err))
	return -int32(e.out.Len())
}

// words says an error as the options of JavaScript are called.
func words(err error) string {
	var unknown *reading.UnknownGrammar
	if errors.As(err, &unknown) {
		hint := ""
		if len(unknown.Near) > 0 {
			hint = "did you mean " + strings.Join(unknown.Near, " or ") + "? "
		}
		return fmt.Sprintf("no dialect is called %q: %sdocs/grammars.md lists them", unknown.Name, hint)
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "prompt: "), "utp: ")
}

func answer(v any, err error) int32 {
	if e.out.Cap() > much {
		e.out = bytes.Buffer{}
	}
	e.out.Reset()
	e.content, e.same = "", false
	if err == nil {
		err = e.enc.Encode(v)
	}
	if err != nil {
		return fail(err)
	}
	return int32(e.out.Len())
}

//go:wasmexport size
func size() int32 {
	if e.same {
		return -int32(len(e.content))
	}
	return int32(len(e.content))
}

//go:wasmexport content
func content() unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(e.content)) }

// reply is answer for a reply. To quote a long content takes longer than to read it.
func reply(r *reading.Reading, err error) int32 {
	if err != nil {
		return fail(err)
	}
	var plain string
	if utf8.ValidString(r.Content) {
		plain, r.Content = r.Content, ""
	}
	n := answer(r, nil)
	e.content = plain
	return n
}

var errGone = errors.New("it was closed or freed before")

// hints returns a number for what texts have in common.
//
//go:wasmexport hints
func hints(text string) int32 {
	h, err := e.desk.Hints([]byte(text))
	if err != nil {
		return fail(err)
	}
	e.n++
	e.hints[e.n] = h
	return e.n
}

//go:wasmexport forget
func forget(hints int32) { delete(e.hints, hints) }

//go:wasmexport parse
func parse(hints int32, text string) int32 {
	h := e.hints[hints]
	if h == nil {
		return fail(errGone)
	}
	text = own(text)
	n := reply(h.Read(text))
	e.same = e.content == text
	return n
}

// open returns a number for a text that comes in pieces.
//
//go:wasmexport open
func open(hints int32) int32 {
	h := e.hints[hints]
	if h == nil {
		return fail(errGone)
	}
	p, err := h.Open()
	if err != nil {
		return fail(err)
	}
	e.n++
	e.open[e.n] = p
	if e.n%256 == 0 { // nothing runs between calls, so the collector falls behind what many leave
		runtime.GC()
	}
	return e.n
}

// feed returns 0 where nothing follows from a piece yet.
//
//go:wasmexport feed
func feed(stream int32, piece string) int32 {
	p := e.open[stream]
	if p == nil {
		return fail(errGone)
	}
	evs := p.Feed(own(piece))
	if len(evs) == 0 {
		return 0
	}
	return answer(evs, nil)
}

//go:wasmexport close
func end(stream int32, cut bool) int32 {
	p := e.open[stream]
	if p == nil {
		return fail(errGone)
	}
	delete(e.open, stream)
	return reply(p.Close(cut))
}

//go:wasmexport free
func free(stream int32) { delete(e.open, stream) }
