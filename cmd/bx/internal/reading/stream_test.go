package reading_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

// text is a model's text, with what is known of it, and its lines' hints.
type text struct {
	in    string
	hints map[string]any
}

// texts are those of the cases of all grammars.
func texts(t *testing.T) (out []text) {
	t.Helper()
	files, err := filepath.Glob("../../../../grammar/testdata/*/*.txtar")
	if err != nil || len(files) < 500 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		one := text{hints: map[string]any{}}
		if name := filepath.Base(filepath.Dir(file)); name != "auto" {
			one.hints["grammar"] = name
		}
		for _, s := range txtar.Parse(b).Files {
			switch data := strings.TrimSuffix(string(s.Data), "\n"); s.Name {
			case "in":
				one.in = data
			case "prefill":
				one.hints["prefill"] = data
			case "cut":
				one.hints["cut"] = true
			case "tools":
				one.hints["tools"] = offeredBy(data)
			}
		}
		if utf8.ValidString(one.in) {
			out = append(out, one)
		}
	}
	return out
}

// offeredBy are the tools of a case: a JSON list, or a name a line.
func offeredBy(data string) any {
	if data = strings.TrimSpace(data); strings.HasPrefix(data, "[") {
		return json.RawMessage(data)
	}
	tools := []any{}
	for _, name := range strings.Fields(data) {
		tools = append(tools, map[string]any{"name": name, "parameters": map[string]string{"type": "object"}})
	}
	return tools
}

// line is a line with the hints of a text.
func (x text) line(id any, more map[string]any) string {
	all := map[string]any{"id": id}
	for _, m := range []map[string]any{x.hints, more} {
		for k, v := range m {
			all[k] = v
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // of strings and lists of them
	}
	return string(b) + "\n"
}

// feeds are the lines of a stream with the text in the given number of pieces.
func (x text) feeds(id any, pieces int, rnd *rand.Rand) (lines []string) {
	lines = append(lines, x.line(id, map[string]any{"op": "open"}))
	letters := []rune(x.in)
	cuts := []int{0, len(letters)}
	for range pieces - 1 {
		cuts = append(cuts, rnd.IntN(len(letters)+1))
	}
	slices.Sort(cuts)
	for i := 1; i < len(cuts); i++ {
		b, _ := json.Marshal(map[string]any{"id": id, "op": "feed", "piece": string(letters[cuts[i-1]:cuts[i]])})
		lines = append(lines, string(b)+"\n")
	}
	b, _ := json.Marshal(map[string]any{"id": id, "op": "close"})
	return append(lines, string(b)+"\n")
}

// answer is a line of the output.
type answer struct {
	ID        any             `json:"id"`
	Content   string          `json:"content"`
	Reasoning string          `json:"reasoning"`
	ToolCalls json.RawMessage `json:"tool_calls"`
	Problems  json.RawMessage `json:"problems"`
	Error     string          `json:"error"`
	Events    []struct {
		Kind     string          `json:"kind"`
		Text     string          `json:"text"`
		ToolCall json.RawMessage `json:"tool_call"`
	} `json:"events"`
}

// joined is what the events of a stream's answers say: all text without its spaces,
// which are dropped around calls, and the calls.
func joined(lines []answer) (content, calls string) {
	var text strings.Builder
	var list []string
	for _, a := range lines {
		for _, e := range a.Events {
			switch e.Kind {
			case "text", "problem":
				text.WriteString(e.Text)
			case "call":
				list = append(list, string(e.ToolCall))
			}
		}
	}
	return bare(text.String()), "[" + strings.Join(list, ",") + "]"
}

func bare(s string) string { return strings.Join(strings.Fields(s), "") }

// decoded reads the answers to lines.
func decoded(t *testing.T, lines string) (out []answer, tally reading.Tally) {
	t.Helper()
	got, tally := linesOf(t, reading.Options{}, lines)
	for _, line := range got {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, a)
	}
	return out, tally
}

// same compares what a stream ended in with what a whole text gives, and with what
// was told on the way.
func same(t *testing.T, x text, whole answer, stream []answer) {
	t.Helper()
	end := stream[len(stream)-1]
	whole.ID, whole.Events = end.ID, end.Events
	want, _ := json.Marshal(whole)
	if got, _ := json.Marshal(end); !bytes.Equal(got, want) {
		t.Errorf("%q\n got %s\nwant %s", x.in, got, want)
	}
	content, calls := joined(stream)
	if want := bare(whole.Content); content != want || calls != string(whole.ToolCalls) {
		t.Errorf("%q: was told\n%s\n%s\nwant\n%s\n%s", x.in, content, calls, want, whole.ToolCalls)
	}
}

// A text in pieces gives the reply that it gives whole, however it is cut, and the
// events on the way tell the same calls and text.
func TestStreamsAsWhole(t *testing.T) {
	rnd := rand.New(rand.NewPCG(16, 4))
	for _, x := range texts(t) {
		in := x.line("whole", map[string]any{"input": x.in})
		streams := [][]string{x.feeds("one", 1, rnd), x.feeds("three", 3, rnd), x.feeds("many", min(len(x.in), 60)+1, rnd)}
		for _, lines := range streams {
			in += strings.Join(lines, "")
		}
		got, tally := decoded(t, in)
		if tally.Bad > 0 {
			t.Fatalf("%q: %+v", x.in, tally)
		}
		at := 1
		for _, lines := range streams {
			same(t, x, got[0], got[at:at+len(lines)])
			at += len(lines)
		}
	}
}

// A thousand streams at once, their lines shuffled among those of each other and of
// whole texts: each has its own answers, and those in the order of the lines.
func TestThousandStreams(t *testing.T) {
	rnd := rand.New(rand.NewPCG(16, 1000))
	all := texts(t)
	type open struct {
		text
		left  []string
		whole answer
		got   []answer
	}
	var streams []*open
	var whole, in strings.Builder
	for i := range 1000 {
		x := all[rnd.IntN(len(all))]
		streams = append(streams, &open{text: x, left: x.feeds(i, 1+rnd.IntN(12), rnd)})
		whole.WriteString(x.line(i, map[string]any{"input": x.in}))
	}
	wholes, _ := decoded(t, whole.String())
	var order []int // -1: of a whole text
	running := make([]int, len(streams))
	for i, s := range streams {
		s.whole, running[i] = wholes[i], i
	}
	for len(running) > 0 {
		k := rnd.IntN(len(running))
		s := streams[running[k]]
		order = append(order, running[k])
		in.WriteString(s.left[0])
		if s.left = s.left[1:]; len(s.left) == 0 {
			running = slices.Delete(running, k, k+1)
		}
		if rnd.IntN(20) == 0 {
			order = append(order, -1)
			in.WriteString(all[0].line("w", map[string]any{"input": "whole"}))
		}
	}
	got, tally := decoded(t, in.String())
	if len(got) != len(order) || tally != (reading.Tally{Lines: len(order)}) {
		t.Fatalf("%d answers to %d lines: %+v", len(got), len(order), tally)
	}
	for i, a := range got {
		switch at := order[i]; {
		case at < 0 && (a.ID != "w" || a.Content != "whole"):
			t.Fatalf("answer %d: %+v", i, a)
		case at >= 0 && a.ID != float64(at):
			t.Fatalf("answer %d is of stream %v, want %d", i, a.ID, at)
		case at >= 0:
			streams[at].got = append(streams[at].got, a)
		}
	}
	for _, s := range streams {
		same(t, s.text, s.whole, s.got)
	}
}

// Wrong lines are answered with an error of their id, and other streams go on.
func TestBadStreamLines(t *testing.T) {
	const a = `{"id":"a","op":"open"}` + "\n"
	for in, want := range map[string]string{
		`{"id":1,"op":"feed","piece":"x"}`:           `{"id":1,"error":"line 2: no stream with this id is open: a line {\"id\":1,\"op\":\"open\"} opens one"}`,
		`{"id":1,"op":"close"}`:                      `{"id":1,"error":"line 2: no stream with this id is open`,
		`{"id":"a","op":"open"}`:                     `{"id":"a","error":"line 2: a stream with this id is open already: close it first`,
		`{"op":"open"}`:                              `{"id":null,"error":"line 2: \"id\" is missing: the lines of a stream are known by it"}`,
		`{"id":null,"op":"feed","piece":"x"}`:        `{"id":null,"error":"line 2: \"id\" is missing`,
		`{"id":"a","op":"feed"}`:                     `{"id":"a","error":"line 2: \"piece\" is missing: want a text"}`,
		`{"id":"a","op":"feed","piece":7}`:           `"error":"line 2: piece: want a string, have a number"}`,
		`{"id":"b","op":"open","grammar":"q"}`:       `{"id":"b","error":"line 2: no grammar is called \"q\"`,
		`{"id":"b","op":"open","tools":[{}]}`:        `{"id":"b","error":"line 2: tools[0]: the name is missing`,
		`{"id":"b","op":"open","policy":"x"}`:        `{"id":"b","error":"line 2: policy: x: want settings of `,
		`{"id":"b","op":"open","kind":"x"}`:          `{"id":"b","error":"line 2: kind: x: want text, reply or auto"}`,
		`{"id":"b","input":"x","kind":"reply"}`:      `{"id":"b","error":"line 2: this is no reply of a provider`,
		`{"id":"b","op":"tell"}`:                     `{"id":"b","error":"line 2: op: want one of close, feed, open, parse, have \"tell\""}`,
		`{"id":"a","op":"feed","piece":"x"`:          `{"id":null,"error":"line 2: this is no JSON: unexpected end`,
		`{"id":"a ","op":"feed","piece":"<think>x"}`: `{"id":"a ","error":"line 2: no stream with this id`,
	} {
		got, tally := linesOf(t, reading.Options{}, a+in+"\n"+`{"id":"a","op":"feed","piece":"y"}`+"\n"+`{"id":"a","op":"close"}`+"\n")
		if len(got) != 4 || got[0] != `{"id":"a"}` || !strings.Contains(got[1], want) || !strings.HasPrefix(got[3], `{"id":"a","content":"y"`) {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		if tally.Lines != 4 || tally.Bad != 1 || !strings.HasPrefix(tally.First, "line 2: ") {
			t.Errorf("%s: %+v", in, tally)
		}
	}
}

// An id is free again when its stream is closed, a null is no id, and what a line
// says of the policy and of a cut is of its own text alone.
func TestStreamOptions(t *testing.T) {
	const call = `<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":1`
	const reply = `"{\"role\":\"assistant\",\"content\":\"Hi\"}"`
	got, _ := linesOf(t, reading.Options{}, strings.Join([]string{
		`{"id":1,"op":"open","tools":[{"name":"g"}],"policy":"unknown=text"}`,
		`{"id":1,"op":"feed","piece":"` + call + `}}</tool_call>"}`,
		`{"id":1,"op":"close"}`,
		`{"id":1,"op":"open","policy":"malformed=strip","grammar":"hermes"}`,
		`{"id":1,"op":"close","piece":"` + call + `"}`,
		`{"id":1,"op":"open","policy":"malformed=error","cut":true}`,
		`{"id":1,"op":"close","piece":"` + call + `"}`,
		`{"id":1,"input":"` + call + `}}</tool_call>","tools":[{"name":"g"}]}`,
		`{"id":1,"input":"` + call + `}}</tool_call>","tools":[{"name":"g"}],"policy":"unknown=text"}`,
		`{"id":1,"input":"<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":\"\"}}</tool_call>","tools":[{"name":"f","parameters":{"properties":{"x":{"type":"string"}}}}],"policy":"empty=drop"}`,
		`{"id":1,"input":` + reply + `}`,
		`{"id":1,"input":` + reply + `,"kind":"text"}`,
	}, "\n"))
	for i, want := range map[int]string{
		1:  `{"id":1,"events":[]}`,
		2:  `"text":"<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":1}}</tool_call>","problem":{"kind":"unknown_tool"`,
		4:  `"content":"","reasoning":"","tool_calls":[],"problems":[{"kind":"truncated"`,
		6:  `{"id":1,"error":"line 7: truncated call of f at offset 0`,
		7:  `"content":"","reasoning":"","tool_calls":[{"id":"call_0"`,
		8:  `"content":"<tool_call>`,
		9:  `"arguments":{},"status":"repaired"`,
		10: `"content":"Hi"`,
		11: `"content":"{\"role\":`,
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("line %d: %s\nwant %s", i+1, got[i], want)
		}
	}
}

// Streams that are open when the input ends are errors, in the order in which they
// were opened.
func TestStreamsLeftOpen(t *testing.T) {
	got, tally := linesOf(t, reading.Options{}, `{"id":"b","op":"open"}`+"\n"+`{"id":"a","op":"open"}`+"\n"+`{"id":"c","op":"open"}`+"\n"+`{"id":"c","op":"close"}`)
	want := []string{`{"id":"b","error":"the input ended before this stream was closed"}`, `{"id":"a","error":"the input ended before this stream was closed"}`}
	if len(got) != 6 || !slices.Equal(got[4:], want) || tally.Bad != 2 || tally.Lines != 4 || tally.First != "the input ended before this stream was closed" {
		t.Errorf("%s %+v", got, tally)
	}
}

// Pieces of megabytes are read like small ones.
func TestHugePieces(t *testing.T) {
	big := strings.Repeat("Words without end. ", 400_000)
	x := text{in: big + `<tool_call>{"name": "f", "arguments": {"x": "` + big + `"}}</tool_call>`, hints: map[string]any{}}
	lines := x.feeds(1, 3, rand.New(rand.NewPCG(1, 1)))
	got, _ := decoded(t, x.line(1, map[string]any{"input": x.in})+strings.Join(lines, ""))
	same(t, x, got[0], got[1:])
	if len(got[0].ToolCalls) < len(big) {
		t.Errorf("no call was found in %d bytes", len(x.in))
	}
}

// Who does not read the answers is not read from for long: memory stays bounded.
// What was sent is answered when the answers are read.
func TestBackPressure(t *testing.T) {
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := reading.Lines(t.Context(), in, out, reading.Options{})
		out.Close()
		done <- err
	}()
	piece, _ := json.Marshal(map[string]any{"id": 1, "op": "feed", "piece": strings.Repeat("word ", 13_000)})
	sent := make(chan int, 1000)
	go func() {
		defer feed.Close()
		lines := []byte(`{"id":1,"op":"open"}` + "\n") // not alone: its answer would be printed before more is read
		for i := range 1000 {                          // 65 MB
			if _, err := feed.Write(append(append(lines, piece...), '\n')); err != nil {
				return
			}
			lines = nil
			sent <- i
		}
		fmt.Fprintln(feed, `{"id":1,"op":"close"}`)
	}()
	most := 20 + 10*runtime.GOMAXPROCS(0)
	for n := 0; n < cap(sent); { // until nothing more is taken
		select {
		case n = <-sent:
			if n > most {
				t.Fatalf("%d pieces of 65 KB were taken before an answer was read, want at most %d", n, most)
			}
			continue
		case <-time.After(500 * time.Millisecond):
		}
		break
	}
	r := bufio.NewReader(answers)
	for lines := 0; ; lines++ {
		if _, err := r.ReadString('\n'); err != nil {
			if lines != 1002 {
				t.Errorf("%d answers: %v", lines, err)
			}
			break
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A line for something else is passed on, and answered with its id in front.
func TestOtherOps(t *testing.T) {
	o := reading.Options{Ops: map[string]func([]byte) (any, error){
		"say":  func(line []byte) (any, error) { return map[string]int{"n": len(line)}, nil },
		"none": func([]byte) (any, error) { return struct{}{}, nil },
		"fail": func([]byte) (any, error) { return nil, fmt.Errorf("no") },
	}}
	got, tally := linesOf(t, o, `{"id":7,"op":"say"}`+"\n"+`{"id":8,"op":"none"}`+"\n"+`{"id":9,"op":"fail"}`)
	want := []string{`{"id":7,"n":19}`, `{"id":8}`, `{"id":9,"error":"line 3: no"}`}
	if !slices.Equal(got, want) || tally.Bad != 1 {
		t.Errorf("%s %+v", got, tally)
	}
}

// A reply of a kilobyte in pieces of one token.
func BenchmarkStream(b *testing.B) {
	var in bytes.Buffer
	reply := strings.Repeat(replies[3]+" ", 3) + replies[0]
	fmt.Fprintf(&in, `{"id":1,"op":"open","tools":%s}`+"\n", offered())
	for i := 0; i < len(reply); i += 4 {
		p, _ := json.Marshal(strings.ToValidUTF8(reply[i:min(i+4, len(reply))], "?"))
		fmt.Fprintf(&in, `{"id":1,"op":"feed","piece":%s}`+"\n", p)
	}
	in.WriteString(`{"id":1,"op":"close"}` + "\n")
	text := bytes.Repeat(in.Bytes(), 100)
	b.SetBytes(int64(100 * len(reply)))
	b.ReportAllocs()
	for b.Loop() {
		if t, err := reading.Lines(b.Context(), bytes.NewReader(text), io.Discard, reading.Options{}); err != nil || t.Bad > 0 {
			b.Fatal(t, err)
		}
	}
}
