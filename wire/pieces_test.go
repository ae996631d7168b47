package wire_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// habits are how a server of chat completions spells its calls.
type habits struct {
	index     string // "said", "missing" or "zero": that of every call is 0
	id        string // "said", "repeated" with each piece, or "missing"
	name      string // "whole", "split" over two pieces, or "repeated"
	args      string // "text", or "object": in one piece, as JSON
	alternate bool   // the pieces of several calls alternate
	together  bool   // one chunk holds what is sent of several calls at a time
	empty     bool   // pieces without anything stand between
	behind    bool   // text stands behind the calls
}

func drawHabits(t *rapid.T) habits {
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	h := habits{one("index", "said", "missing", "zero"), one("id", "said", "repeated", "missing"), one("name", "whole", "split", "repeated"), one("args", "text", "object"),
		yes("alternate"), yes("together"), yes("empty"), yes("behind")}
	if h.index != "said" && h.id != "repeated" {
		h.alternate = false // nothing would tell whose a piece is
	}
	if h.name == "split" {
		h.alternate = false // a call begins when its name is complete
	}
	if h.args == "object" || h.index != "said" && h.id != "repeated" {
		h.name = "whole" // a name that nothing stands beside begins a call
	}
	return h
}

// piece is one entry of tool_calls.
type piece struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name string `json:"name,omitempty"`
		Args any    `json:"arguments,omitempty"`
	} `json:"function"`
}

// pieces spells a call.
func (h habits) pieces(t *rapid.T, k int, name, args string) (out []piece) {
	add := func(name string, args any) {
		var p piece
		if h.index != "missing" {
			n := k
			if h.index == "zero" {
				n = 0
			}
			p.Index = &n
		}
		if h.id == "repeated" || h.id == "said" && len(out) == 0 {
			p.ID, p.Type = fmt.Sprint("call_", k), "function"
		}
		p.Function.Name, p.Function.Args = name, args
		out = append(out, p)
	}
	if h.args == "object" {
		add(name, json.RawMessage(args))
		return out
	}
	if h.name == "split" {
		add(name[:3], nil)
		add(name[3:], nil)
	} else {
		add(name, nil)
	}
	for rest := args; rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "n")
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		again := ""
		if h.name == "repeated" && h.id != "missing" {
			again = name
		}
		add(again, rest[:n])
		rest = rest[n:]
	}
	return out
}

// chunks puts the pieces of all calls in an order.
func (h habits) chunks(t *rapid.T, calls [][]piece) (out [][]piece) {
	for begun := 0; ; {
		var open []int
		for k := range min(begun+1, len(calls)) {
			if len(calls[k]) > 0 && (h.alternate || len(open) == 0) {
				open = append(open, k)
			}
		}
		if len(open) == 0 {
			return out
		}
		k := rapid.SampledFrom(open).Draw(t, "call")
		next := []piece{calls[k][0]}
		calls[k], begun = calls[k][1:], max(begun, k+1)
		if h.together && len(out) > 0 && rapid.Bool().Draw(t, "with the last") {
			out[len(out)-1] = append(out[len(out)-1], next...)
			continue
		}
		out = append(out, next)
	}
}

func (h habits) stream(chunks [][]piece, text string) (frames []wire.Frame) {
	send := func(delta any, finish any) {
		b, err := shape.Marshal(map[string]any{"id": "c", "model": "m", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		if err != nil {
			panic(err)
		}
		frames = append(frames, wire.Frame{Data: b})
	}
	send(map[string]any{"role": "assistant", "content": nil}, nil)
	for _, c := range chunks {
		send(map[string]any{"tool_calls": c}, nil)
		if h.empty {
			send(map[string]any{}, nil)
			send(map[string]any{"content": "", "tool_calls": nil}, nil)
		}
	}
	if h.behind {
		send(map[string]any{"content": text}, nil)
	}
	send(map[string]any{}, "stop")
	return append(frames, wire.Frame{Data: []byte("[DONE]")})
}

// However a server spells its calls they are read, and every API writes them as
// its own clients read them.
//
// contract: P-05 Z-13
func TestHoweverCallsAreSpelt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHabits(t)
		names := []string{"get_weather", "list_dir"}
		request := &utp.Request{Model: "m", Stream: true, Tools: []utp.Tool{{Name: names[0]}, {Name: names[1]}}}
		var spelt [][]piece
		var want turn
		for k := range rapid.IntRange(1, 4).Draw(t, "calls") {
			name := names[k%2]
			args := fmt.Sprintf(`{"n":%d,"x":%q}`, k, rapid.SampledFrom([]string{"", "a", "{}", `"}`, "ü"}).Draw(t, "x"))
			spelt = append(spelt, h.pieces(t, k, name, args))
			want.calls = append(want.calls, name+args)
		}
		frames := h.stream(h.chunks(t, spelt), "And then.")
		if h.behind {
			want.text = "And then."
		}
		x, err := apis[3].back.Open(request)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		reader := x.Reader(func() string { n++; return fmt.Sprint("new_", n) })
		var evs []utp.Event
		for _, f := range frames {
			evs = append(evs, reader.Feed(f)...)
		}
		evs = append(evs, reader.Close()...)
		if got := summary(t, utp.Collect(evs)); reader.Err() != nil || got.String() != want.String() {
			t.Fatalf("%+v\ngot  %v\nwant %v\n%v\n%s", h, got, want, reader.Err(), transcript(apis[3], frames))
		}
		for _, to := range apis {
			sent := emit(to, request, evs, nil)
			if wrong := to.legal(sent); wrong != "" {
				t.Fatalf("%s: %s\n%s", to.name, wrong, transcript(to, sent))
			}
			x, err := to.back.Open(request)
			if err != nil {
				t.Fatal(err)
			}
			var again []utp.Event
			reader := x.Reader(nil)
			for _, f := range sent {
				again = append(again, reader.Feed(f)...)
			}
			again = append(again, reader.Close()...)
			if got := summary(t, utp.Collect(again)); got.String() != want.String() {
				t.Fatalf("%s: %+v\ngot  %v\nwant %v\n%s", to.name, h, got, want, transcript(to, sent))
			}
		}
	})
}
