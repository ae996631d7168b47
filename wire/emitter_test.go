package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// turn is what the events of a reply say, however they are ordered.
type turn struct {
	text, think string
	calls       []string // name and arguments, in the order they began
}

func (a turn) String() string {
	return fmt.Sprintf("text %q think %q calls %q", a.text, a.think, a.calls)
}

// drawEvents draws a legal sequence: each part's events in order, those of
// several parts alternating, with empty deltas, whole parts, calls without ids
// and calls that come in one piece.
func drawEvents(t *rapid.T) (evs []utp.Event, said turn) {
	parts := make([][]utp.Event, rapid.IntRange(0, 6).Draw(t, "parts"))
	for i := range parts {
		parts[i] = drawPart(t, i)
	}
	for begun := 0; ; {
		var open []int // what may go on, and the part that begins next
		for k := range min(begun+1, len(parts)) {
			if len(parts[k]) > 0 {
				open = append(open, k)
			}
		}
		if len(open) == 0 {
			break
		}
		k := rapid.SampledFrom(open).Draw(t, "part")
		evs, parts[k] = append(evs, parts[k][0]), parts[k][1:]
		begun = max(begun, k+1)
	}
	return evs, saying(evs)
}

func drawPart(t *rapid.T, part int) (evs []utp.Event) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "ü ", "\"\\\n", "😀", "<b>&"}), 1, 4).Draw(t, "words")
	kind := rapid.SampledFrom([]string{"text", "think", "call", "call", "bare call", "whole call", "whole text", "whole think"}).Draw(t, "kind")
	signed := utp.Think{Signature: "c2ln", Provider: rapid.SampledFrom([]string{"anthropic", "responses", "gemini", "openai"}).Draw(t, "provider"), Model: "m"}
	switch kind {
	case "text", "think":
		for _, w := range words {
			e := utp.Event{Kind: utp.EventText, Part: part, Text: w}
			if kind == "think" {
				e.Kind = utp.EventThink
			}
			evs = append(evs, e)
		}
		if kind == "think" && rapid.Bool().Draw(t, "signed") {
			evs = append(evs, utp.Event{Kind: utp.EventPartEnd, Part: part, Value: signed})
		}
		return evs
	case "whole text":
		return []utp.Event{{Kind: utp.EventWhole, Part: part, Value: utp.Text{Text: strings.Join(words, "")}}}
	case "whole think":
		signed.Text = strings.Join(words, "")
		return []utp.Event{{Kind: utp.EventWhole, Part: part, Value: signed}}
	}
	return drawCall(t, part, kind, strings.Join(words, ""))
}

func drawCall(t *rapid.T, part int, kind, word string) []utp.Event {
	args, err := shape.Marshal(map[string]any{"x": word, "n": json.Number("9007199254740993")})
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "empty") {
		args = []byte("{}")
	}
	c := utp.Call{ID: rapid.SampledFrom([]string{"", "", "call_1", "functions.f:0"}).Draw(t, "id"), Name: "f", Source: utp.SourceNative}
	done := c
	done.Args = args
	switch kind {
	case "bare call":
		return []utp.Event{{Kind: utp.EventCallEnd, Part: part, Call: &done}}
	case "whole call":
		return []utp.Event{{Kind: utp.EventWhole, Part: part, Value: done}}
	}
	evs := []utp.Event{{Kind: utp.EventCallStart, Part: part, Call: &c}, {Kind: utp.EventCallDelta, Part: part}}
	for rest := string(args); rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "n")
		evs = append(evs, utp.Event{Kind: utp.EventCallDelta, Part: part, Text: strings.ToValidUTF8(rest[:n], "")})
		if !strings.HasPrefix(rest, evs[len(evs)-1].Text) || len(evs[len(evs)-1].Text) != n {
			evs[len(evs)-1].Text, n = rest, len(rest)
		}
		rest = rest[n:]
	}
	return append(evs, utp.Event{Kind: utp.EventCallEnd, Part: part, Call: &done})
}

// saying sums events up.
func saying(evs []utp.Event) (said turn) {
	order, args := []int{}, map[int]string{}
	see := func(part int) {
		if _, seen := args[part]; !seen {
			order, args[part] = append(order, part), ""
		}
	}
	for _, e := range evs {
		switch v := e.Value.(type) {
		case utp.Text:
			said.text += v.Text
		case utp.Think:
			said.think += v.Text
		case utp.Call:
			see(e.Part)
			args[e.Part] = v.Name + string(v.Args)
		}
		switch e.Kind {
		case utp.EventText:
			said.text += e.Text
		case utp.EventThink:
			said.think += e.Text
		case utp.EventCallStart:
			see(e.Part)
		case utp.EventCallEnd:
			see(e.Part)
			args[e.Part] = e.Call.Name + string(e.Call.Args)
		}
	}
	for _, part := range order {
		said.calls = append(said.calls, args[part])
	}
	return said
}

func reading(t *rapid.T, c api, frames []wire.Frame) utp.Reply {
	x, err := c.back.Open(&utp.Request{Model: "m", Stream: true, Tools: []utp.Tool{{Name: "f"}}})
	if err != nil {
		t.Fatal(err)
	}
	reader := x.Reader(nil)
	var evs []utp.Event
	for _, f := range frames {
		evs = append(evs, reader.Feed(f)...)
	}
	evs = append(evs, reader.Close()...)
	if reader.Err() != nil {
		t.Fatalf("%v\n%s", reader.Err(), transcript(c, frames))
	}
	return utp.Collect(evs)
}

// transcript is the text of a stream of p.
func transcript(p api, frames []wire.Frame) string {
	var b []byte
	for _, f := range frames {
		b = p.framing.Append(b, f)
	}
	return string(b)
}

func summary(t *rapid.T, r utp.Reply) turn {
	said := saying(utp.Replay(r))
	ids := map[string]bool{}
	for _, c := range r.Calls() {
		if c.ID == "" || ids[c.ID] {
			t.Fatalf("id %q is empty or used twice", c.ID)
		}
		ids[c.ID] = true
	}
	return said
}

// Any legal order of events becomes a legal stream that reads back as the same
// message, and the reply in one piece says the same.
//
// contract: Z-02 Z-13 P-07
func TestEmittersTakeAnyOrder(t *testing.T) {
	for _, c := range apis {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			evs, want := drawEvents(t)
			end := utp.Event{Kind: utp.EventFinish, Part: 99, End: &utp.End{Stop: utp.StopEnd, Usage: utp.Usage{Input: 3, CacheRead: 2, Output: 4}}}
			request := &utp.Request{Model: "m", Tools: []utp.Tool{{Name: "f"}}, Extra: []byte(`{"openai":{"stream_options":{"include_usage":true}}}`)}
			frames := emit(c, request, append(evs, end), nil)
			if wrong := c.legal(frames); wrong != "" {
				t.Fatalf("%s\n%s", wrong, transcript(c, frames))
			}
			streamed := reading(t, c, frames)
			if got := summary(t, streamed); got.String() != want.String() {
				t.Fatalf("streamed %v\nwant     %v\n%s", got, want, transcript(c, frames))
			}
			if streamed.Usage != c.saying(utp.Reply{End: *end.End}).Usage || (streamed.Stop == utp.StopTool) != (len(want.calls) > 0) {
				t.Fatalf("end %+v", streamed.End)
			}
			collected := utp.Collect(append(evs, end))
			want = saying(utp.Replay(collected))
			body, _, err := c.front.Whole(request, collected, wire.Stamp{ID: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(t, reading(t, c, []wire.Frame{{Data: body}})); got.String() != want.String() {
				t.Fatalf("whole %v\nwant  %v\n%s", got, want, body)
			}
		}))
	}
}

func emit(c api, r *utp.Request, evs []utp.Event, err error) (frames []wire.Frame) {
	w := c.front.Writer(r, wire.Stamp{ID: "x"})
	for _, e := range evs {
		frames = append(frames, w.Write(e)...)
	}
	frames = append(frames, w.Close(err)...)
	return append(frames, w.Close(nil)...)
}

// A stream that breaks anywhere ends with the provider's error, once.
//
// contract: Z-09
func TestEmittersEndBrokenStreamsWithAnError(t *testing.T) {
	for _, c := range apis {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			evs, _ := drawEvents(t)
			evs = evs[:rapid.IntRange(0, len(evs)).Draw(t, "n")]
			var cause error
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				cause = errors.New("the server went away")
			case 1:
				start := utp.Call{Name: "f"}
				evs = append(evs, utp.Event{Kind: utp.EventCallStart, Part: 50, Call: &start}, utp.Event{Kind: utp.EventCallDelta, Part: 50, Text: `{"x":`},
					utp.Event{Kind: utp.EventProblem, Part: 50, Problem: &utp.Problem{Kind: utp.ProblemTruncated}},
					utp.Event{Kind: utp.EventText, Part: 51, Text: "more"}, utp.Event{Kind: utp.EventFinish, Part: 52, End: &utp.End{Stop: utp.StopEnd}})
			}
			frames := emit(c, &utp.Request{Model: "m"}, evs, cause)
			if len(frames) == 0 || !c.fails(frames[len(frames)-1]) {
				t.Fatalf("no error at the end:\n%s", transcript(c, frames))
			}
			for _, f := range frames[:len(frames)-1] {
				if c.fails(f) {
					t.Fatalf("an error before the end:\n%s", transcript(c, frames))
				}
			}
		}))
	}
}

// Every stream of testdata/streams, the odd ones of all providers, becomes a
// legal stream of each API with the same message, or ends with its error: never
// a call that was not written, never a clean end of a broken one.
//
// contract: Z-09 CON-23
func TestEmittersCarryEveryOddStream(t *testing.T) {
	for _, from := range apis {
		golden.Run(t, "testdata/streams/"+from.name+"/*.txtar", func(t *testing.T, c *golden.Case) {
			evs, err := streamed(t, from, c, strings.Split(strings.TrimSpace(c.Get("stream")), "\n"))
			for _, to := range apis {
				frames := emit(to, &utp.Request{Model: "m"}, evs, err)
				if failed := to.fails(frames[len(frames)-1]); failed != (err != nil || breaks(evs)) {
					t.Fatalf("%s: failed %v, %v\n%s", to.name, failed, err, transcript(to, frames))
				} else if _, _, broken := to.front.Whole(&utp.Request{Model: "m"}, utp.Collect(evs), wire.Stamp{ID: "x"}); failed != (broken != nil) && !limited(evs) { // only a stream has begun the call
					t.Fatalf("%s: streamed failed %v, whole %v", to.name, failed, broken)
				} else if failed {
					continue
				}
				got := collect(t, to, &utp.Request{Model: "m"}, []byte(transcript(to, frames)))
				want := saying(utp.Replay(utp.Collect(evs)))
				if diff := cmp.Diff(want.calls, saying(utp.Replay(got)).calls); diff != "" || !strings.Contains(got.Text(), strings.TrimSpace(want.text)) && len(got.Parts) < 3 {
					t.Fatalf("%s: %s\n%+v\n%s", to.name, diff, got, transcript(to, frames))
				}
			}
		})
	}
}

// breaks reports a call that began and did not end, a call that its server could
// not read, or a problem that is all there is.
func breaks(evs []utp.Event) bool {
	begun, said, problems := map[int]bool{}, false, false
	shown := map[int]bool{}
	limit := limited(evs)
	for _, e := range evs {
		shown[e.Part] = shown[e.Part] || e.Kind == utp.EventCallDelta
		if limit && e.Kind == utp.EventProblem && e.Problem.Kind == utp.ProblemTruncated && (shown[e.Part] || !begun[e.Part]) {
			continue // the output limit cut it, and the end says so
		}
		switch e.Kind {
		case utp.EventCallStart:
			begun[e.Part] = true
		case utp.EventProblem:
			if begun[e.Part] {
				return true
			}
			problems = problems || e.Problem.Kind != utp.ProblemInvalid
		case utp.EventFinish:
			if e.End.Stop == utp.StopBadCall {
				return true
			}
		}
		said = said || e.Kind == utp.EventText || e.Kind == utp.EventCallEnd || e.Kind == utp.EventThink
	}
	return problems && !said
}

// limited reports a reply that the output limit ended.
func limited(evs []utp.Event) bool {
	return len(evs) > 0 && evs[len(evs)-1].End != nil && evs[len(evs)-1].End.Stop == utp.StopLength
}
