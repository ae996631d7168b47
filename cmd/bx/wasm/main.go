//go:build js

// Wasm is the engine for JavaScript: what package reading says of texts and, built with
// the tag render, what package prompt writes. typescript/ is the package around it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"syscall/js"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

// engine is what JavaScript calls. What it has begun it knows by numbers.
type engine struct {
	desk  *reading.Desk
	hints map[int]*reading.Hints
	open  map[int]*reading.Pieces
	n     int
	out   bytes.Buffer
	enc   *json.Encoder
}

func main() {
	e := &engine{desk: reading.NewDesk(reading.Options{}), hints: map[int]*reading.Hints{}, open: map[int]*reading.Pieces{}}
	e.enc = json.NewEncoder(&e.out)
	e.enc.SetEscapeHTML(false)
	// The name under which the caller waits for the functions.
	functions := map[string]any{
		"hints": e.function(e.begin), "forget": e.function(e.forget), "parse": e.function(e.parse),
		"open": e.function(e.start), "feed": e.function(e.feed), "close": e.function(e.close), "free": e.function(e.free),
	}
	e.more(functions)
	js.Global().Call(os.Args[1], functions)
	select {}
}

// failed marks the words of an error.
const failed = "!"

// function is f for JavaScript: its answer is a number or JSON, or the words of an error.
func (e *engine) function(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		answer, err := f(args)
		if err != nil {
			return failed + err.Error()
		}
		switch answer.(type) {
		case nil, int:
			return answer
		}
		e.out.Reset()
		if err := e.enc.Encode(answer); err != nil {
			return failed + err.Error()
		}
		return e.out.String()
	})
}

var errGone = errors.New("it was closed or freed before")

func (e *engine) begin(args []js.Value) (any, error) {
	h, err := e.desk.Hints([]byte(args[0].String()))
	if err != nil {
		return nil, err
	}
	e.n++
	e.hints[e.n] = h
	return e.n, nil
}

func (e *engine) forget(args []js.Value) (any, error) {
	delete(e.hints, args[0].Int())
	return nil, nil
}

func (e *engine) parse(args []js.Value) (any, error) {
	h := e.hints[args[0].Int()]
	if h == nil {
		return nil, errGone
	}
	return h.Read(args[1].String())
}

func (e *engine) start(args []js.Value) (any, error) {
	h := e.hints[args[0].Int()]
	if h == nil {
		return nil, errGone
	}
	p, err := h.Open()
	if err != nil {
		return nil, err
	}
	e.n++
	e.open[e.n] = p
	return e.n, nil
}

// feed answers nothing where nothing follows from a piece yet.
func (e *engine) feed(args []js.Value) (any, error) {
	p := e.open[args[0].Int()]
	if p == nil {
		return nil, errGone
	}
	if evs := p.Feed(args[1].String()); len(evs) > 0 {
		return evs, nil
	}
	return nil, nil
}

func (e *engine) close(args []js.Value) (any, error) {
	p := e.open[args[0].Int()]
	if p == nil {
		return nil, errGone
	}
	delete(e.open, args[0].Int())
	return p.Close(args[1].Bool())
}

func (e *engine) free(args []js.Value) (any, error) {
	delete(e.open, args[0].Int())
	return nil, nil
}
