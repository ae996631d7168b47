//go:build wasip1

// Wasm is the engine for JavaScript: it reads texts with package reading and, built with
// the tag render, writes with package prompt. typescript/ is the package around it.
// internal/report/wasm.go builds it and ships a snapshot of its memory after the start.
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

// engine is the state behind the functions that JavaScript calls, one at a time. It
// numbers its streams and hints. JavaScript writes a text into the memory that room
// returns. A call returns the length of its answer, which is at said, or the negative
// length of an error message. An answer is JSON, except that the content of a reply is
// kept apart, unquoted: it is the size bytes at content, or the whole text if size is
// negative.
type engine struct {
	desk    *reading.Desk
	hints   map[int32]*reading.Hints
	open    map[int32]*reading.Pieces
	n       int32
	in      []byte
	out     bytes.Buffer
	enc     *json.Encoder
	content string // of the last answer
	same    bool   // content is the text that was read
}

var e = newEngine()

func newEngine() *engine {
	e := &engine{desk: reading.NewDesk(reading.Options{}), hints: map[int32]*reading.Hints{}, open: map[int32]*reading.Pieces{}}
	e.enc = json.NewEncoder(&e.out)
	e.enc.SetEscapeHTML(false)
	return e
}

func main() {}

// ready does the work that every first text needs, before the snapshot is taken.
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

// wake must be called first: it replaces the random seed of the snapshot.
//
//go:wasmexport wake
func wake() { reseed() }

// reseed is a function of the Go runtime.
//
//go:linkname reseed
func reseed()

// much is the size, in bytes, from which memory is not reused for the next text or answer.
const much = 64 << 10

//go:wasmexport room
func room(n int32) unsafe.Pointer {
	if len(e.in) < int(n) {
		e.in = make([]byte, n)
	}
	return unsafe.Pointer(unsafe.SliceData(e.in))
}

// own returns a text in the memory of room in a form that may be kept.
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

// words returns an error with the names of JavaScript's options.
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

// reply is answer for a reply. It leaves out the content, since quoting a long one takes
// longer than reading it.
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

// hints returns the number of a set of options that several texts share.
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

// open returns the number of a new text that comes in pieces.
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

// feed returns 0 if a piece yields no events yet.
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
