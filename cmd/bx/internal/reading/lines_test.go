package reading_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

// linesOf answers lines and gives the answers.
func linesOf(t rapid.TB, o reading.Options, in string) ([]string, reading.Tally) {
	t.Helper()
	return linesFrom(t, o, strings.NewReader(in))
}

func linesFrom(t rapid.TB, o reading.Options, in io.Reader) ([]string, reading.Tally) {
	t.Helper()
	var out bytes.Buffer
	o.Replies = replyReader
	tally, err := reading.Lines(context.Background(), in, &out, o)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if text == "" {
		return nil, tally
	}
	return strings.Split(text, "\n"), tally
}

// oneLine gives a line at a time, as a program does that waits for each answer.
type oneLine struct{ rest string }

func (r *oneLine) Read(p []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	n := strings.IndexByte(r.rest, '\n') + 1
	if n == 0 {
		n = len(r.rest)
	}
	n = copy(p, r.rest[:n])
	r.rest = r.rest[n:]
	return n, nil
}

// Every line has its answer, in order, whatever its length and however it arrives.
func TestLinesInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var lines strings.Builder
		var sizes []int
		for i, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 100, 1000, 200_000}), 1, 60).Draw(rt, "sizes") {
			fmt.Fprintf(&lines, "{\"id\":%d,\"input\":%q}\n", i, strings.Repeat("x", n))
			sizes = append(sizes, n)
			if n == 1 {
				lines.WriteString(" \r\n\n")
			}
		}
		text := lines.String()
		if rapid.Bool().Draw(rt, "no newline at the end") {
			text = strings.TrimRight(text, " \r\n")
		}
		in := io.Reader(strings.NewReader(text))
		if rapid.Bool().Draw(rt, "a line at a time") {
			in = &oneLine{text}
		}
		got, tally := linesFrom(t, reading.Options{}, in)
		if len(got) != len(sizes) || tally != (reading.Tally{Lines: len(sizes)}) {
			rt.Fatalf("%d answers to %d lines: %+v", len(got), len(sizes), tally)
		}
		for i, line := range got {
			var a struct {
				ID      int
				Content string
			}
			if err := json.Unmarshal([]byte(line), &a); err != nil || a.ID != i || len(a.Content) != sizes[i] {
				rt.Fatalf("line %d: id %d, %d bytes, want %d: %v", i, a.ID, len(a.Content), sizes[i], err)
			}
		}
	})
}

// An answer is that of a single input with the line's hints.
func TestLinesAnswerAsRead(t *testing.T) {
	tools, err := reading.ParseTools([]byte(offered()))
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range replies {
		want, err := reading.Read(reading.Options{Tools: tools}, []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []map[string]any{
			{"id": i, "input": in, "tools": json.RawMessage(offered())},
			{"id": i, "input": in, "tools": json.RawMessage(offered()), "model": "none-such", "grammar": "auto", "prefill": "", "more": 1},
		} {
			b, _ := json.Marshal(line)
			got, _ := linesOf(t, reading.Options{Prefill: "<think>"}, string(b))
			if line["more"] == nil {
				got, _ = linesOf(t, reading.Options{}, string(b))
			}
			var compact bytes.Buffer
			if err := json.Compact(&compact, []byte(printed(t, want))); err != nil {
				t.Fatal(err)
			}
			if w := fmt.Sprintf(`{"id":%d,%s`, i, compact.String()[1:]); got[0] != w {
				t.Errorf("got  %s\nwant %s", got[0], w)
			}
		}
	}
}

// A bad line is answered with an error that names it, and the rest go on.
func TestBadLines(t *testing.T) {
	long := strings.Repeat("y", 300)
	for in, want := range map[string]string{
		`{"id":1,"input":"x"`:                `{"id":null,"error":"line 1: this is no JSON: unexpected end`,
		`no`:                                 `{"id":null,"error":"line 1: this is no JSON: `,
		`[1]`:                                `{"id":null,"error":"line 1: want an object {\"id\",\"input\",…}, have [1]"}`,
		`"` + long + `"`:                     `yyy…"}`,
		`{"id":"a"}`:                         `{"id":"a","error":"line 1: \"input\" is missing: want a text`,
		`{"id":"a","input":null}`:            `{"id":"a","error":"line 1: \"input\" is missing`,
		`{"id":"a","input":7}`:               `{"id":"a","error":"line 1: input: want a text, a provider's reply, or the list of its calls, have 7"}`,
		`{"id":"a","input":{"x":1}}`:         `{"id":"a","error":"line 1: input: this is no reply of a provider`,
		`{"id":"a","input":["x"]}`:           `{"id":"a","error":"line 1: input: this is no reply of a provider`,
		`{"id":7,"model":7}`:                 `"error":"line 1: model: want a string, have a number"}`,
		`{"input":"x","tools":[{}]}`:         `{"id":null,"error":"line 1: tools[0]: the name is missing`,
		`{"input":"x","tools":"x"}`:          `"error":"line 1: tools: want a list of tools`,
		`{"input":"x","grammar":"q"}`:        `"error":"line 1: no grammar is called \"q\"`,
		`{"input":"x","grammar":"./a.json"}`: `line 1: grammar: a line names a grammar, no file`,
		`{"id":9007199254740993,"input":{"error":{"message":"overloaded"}}}`: `{"id":9007199254740993,"error":"line 1: input: this is no reply`,
	} {
		got, tally := linesOf(t, reading.Options{}, in+"\n{\"id\":2,\"input\":\"x\"}\n")
		if len(got) != 2 || !strings.Contains(got[0], want) || !strings.HasPrefix(got[1], `{"id":2,"content":"x"`) {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		if tally.Lines != 2 || tally.Bad != 1 || !strings.HasPrefix(tally.First, "line 1: ") {
			t.Errorf("%s: %+v", in, tally)
		}
	}
}

// Of two tools of one name the first counts, in texts and replies.
func TestTwiceTheTool(t *testing.T) {
	for _, in := range []string{`"<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":\"1\"}}</tool_call>"`, `[{"function":{"name":"f","arguments":"{\"x\":\"1\"}"}}]`} {
		got, _ := linesOf(t, reading.Options{}, `{"input":`+in+`,"tools":[{"name":"f","parameters":{"properties":{"x":{"type":"integer"}}}},{"name":"f"}]}`)
		if !strings.Contains(got[0], `"arguments":{"x":1},"status":"repaired"`) {
			t.Error(got[0])
		}
	}
}

// The same tools and hints in many lines, in more variants than are remembered.
func TestManyTools(t *testing.T) {
	var in strings.Builder
	for i := range 400 {
		fmt.Fprintf(&in, `{"id":%d,"input":"<tool_call>{\"name\":\"t%d\",\"arguments\":{}}</tool_call>","tools":[{"name":"t%d"}],"model":"m%d"}`+"\n", i, i%130, i%130, i%130)
	}
	got, tally := linesOf(t, reading.Options{Policy: reading.Policy{Unknown: reading.AsText}}, in.String())
	if tally.Bad > 0 || len(got) != 400 {
		t.Fatalf("%+v, %d answers", tally, len(got))
	}
	for i, line := range got {
		if !strings.Contains(line, fmt.Sprintf(`"name":"t%d"`, i%130)) {
			t.Errorf("line %d: %s", i, line)
		}
	}
}

// The answers to what was read do not wait for more input, not even for the
// rest of a line that has begun.
func TestLinesDoNotWait(t *testing.T) {
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := reading.Lines(t.Context(), in, out, reading.Options{})
		out.Close()
		done <- err
	}()
	r := bufio.NewReader(answers)
	for i := range 3 {
		fmt.Fprintf(feed, "\"input\":\"x\",\"id\":%d}\n{", i)
		line, err := r.ReadString('\n')
		if err != nil || i > 0 && !strings.HasPrefix(line, fmt.Sprintf(`{"id":%d`, i)) {
			t.Fatal(line, err)
		}
	}
	feed.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestLinesEnd(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		in, feed := io.Pipe()
		defer feed.Close()
		stop()
		if _, err := reading.Lines(ctx, in, io.Discard, reading.Options{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	broken := errors.New("broken")
	t.Run("in breaks", func(t *testing.T) {
		var out bytes.Buffer
		in := io.MultiReader(strings.NewReader(`{"id":1,"input":"x"}`+"\n"), iotest.ErrReader(broken))
		tally, err := reading.Lines(t.Context(), in, &out, reading.Options{})
		if !errors.Is(err, broken) || tally.Lines != 1 || !strings.HasPrefix(out.String(), `{"id":1,`) {
			t.Error(tally, err, out.String())
		}
	})
	t.Run("out breaks after a line that came alone", func(t *testing.T) {
		in, feed := io.Pipe()
		defer feed.Close()
		go fmt.Fprintln(feed, `{"id":1,"input":"x"}`)
		if _, err := reading.Lines(t.Context(), in, full{broken}, reading.Options{}); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
	t.Run("out breaks", func(t *testing.T) {
		in, out := bytes.NewReader(corpus(4<<20, false, false)), full{broken}
		if _, err := reading.Lines(t.Context(), in, out, reading.Options{}); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

// full takes nothing.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }
