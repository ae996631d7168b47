package utp_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// offered are the tools of these tests.
var offered = schema.Compile([]utp.Tool{
	{Name: "search_code", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
	{Name: "write_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
})

// A call of write_file, as each grammar writes it, and a parser for it.
func written(t *testing.T, g *grammar.Grammar, content string) (string, *parse.Parser) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"path": "a.go", "content": content})
	if err != nil {
		t.Fatal(err)
	}
	text, err := prompt.Call(g, utp.Call{Name: "write_file", Args: args})
	if err != nil {
		return "", nil
	}
	return strings.TrimPrefix(text, g.Prefill), parse.New(parse.Config{Grammars: []*grammar.Grammar{g}, Tools: offered})
}

// openEnded have no closer, so that more may follow a call, or one that counts
// only by what follows it.
var openEnded = []string{"functionary-v3.2", "json-fence", "openai-json", "gemini-json", "anthropic-json", "default-json", "python-lines", "react", "react-call", "react-tool"}

// A call is over with the first byte behind its closer, which tells whether words
// go on there, not with the reply.
//
// contract: Z-01
func TestACallEndsWithItsCloser(t *testing.T) {
	for _, g := range grammar.All() {
		text, p := written(t, g, "x = 1\n")
		end := -1
		text += "\n"
		for i := range len(text) {
			for _, e := range p.Feed(text[i : i+1]) {
				if e.Kind == utp.EventCallEnd {
					end = i
				}
			}
		}
		want := len(text) - 1
		if (end < 0 || end > want) && !slices.Contains(openEnded, g.Name) {
			t.Errorf("%s: the call ended at %d of %d, want by %d:\n%s", g.Name, end, len(text), want, text)
		}
	}
}

// What a call writes into a file comes while the model writes it, whatever
// markers stand in it.
//
// contract: Z-11
func TestAFileStreamsAsItIsWritten(t *testing.T) {
	const most = 128 // bytes that may be held: a closer and what is like one
	for _, content := range []string{strings.Repeat("if a < b { f(\"x\") } // <b>\n", 100), strings.Repeat("<tools>\n</tool_call>\n```json\n{}\n[TOOL_CALLS] Action: x\n", 50)} {
		said := 0
		for _, g := range grammar.All() {
			text, p := written(t, g, content)
			if p == nil || g.Name == "json-fence" { // which must know its end first
				continue
			}
			said++
			began, over, seen := false, false, 0
			var args strings.Builder
			for i := range len(text) {
				for _, e := range p.Feed(text[i : i+1]) {
					seen += len(e.Raw)
					began, over = began || e.Kind == utp.EventCallDelta, over || e.Kind == utp.EventCallEnd
					if e.Kind == utp.EventCallDelta {
						args.WriteString(e.Text)
					}
				}
				if began && !over && i+1-seen > most {
					t.Fatalf("%s: %d bytes are held at %q", g.Name, i+1-seen, text[max(0, i-40):i+1])
				}
			}
			for _, e := range p.Close(false) {
				args.WriteString(e.Text)
			}
			var got struct{ Content string }
			if err := json.Unmarshal([]byte(args.String()), &got); err != nil || got.Content != content {
				t.Errorf("%s: %v, %d bytes of content, want %d", g.Name, err, len(got.Content), len(content))
			}
		}
		if said < len(grammar.All())*3/4 {
			t.Errorf("only %d grammars could say it", said)
		}
	}
}

// The beginning of a reply is held only while it may become a call: "|" stands
// where everything before it must have been given out.
//
// contract: Z-03
func TestTheBeginningIsHeldNoLongerThanNeeded(t *testing.T) {
	for _, marked := range []string{
		"Hello,| it is 3 < 4 and so on.|",
		"Action s|peaks louder.|",
		"Action: we s|hould go.|",
		"Thought: h|ow so?|",
		"{\"name\": \"John\", \"age\": 3}|\nand more.|",
		"<div>h|tml</div> |and <b>more.|",
		"<tool_box> |is no marker.|",
		"[1|, 2] is a list.|",
		"```go\n|func main() {|}|",
		"`x` |is a name.|",
		"search_code i|s a tool.|",
	} {
		p := parse.New(parse.Config{Tools: offered})
		fed, given := 0, 0
		for i, piece := range strings.Split(marked, "|") {
			if given != fed {
				t.Errorf("%q: %d bytes are held at the %d. mark", marked, fed-given, i)
			}
			for _, c := range []byte(piece) {
				fed++
				for _, e := range p.Feed(string(c)) {
					given += len(e.Raw)
					if e.Kind != utp.EventText && e.Kind != utp.EventMark {
						t.Errorf("%q: %s at %d", marked, e.Kind, fed)
					}
				}
			}
		}
	}
	for _, call := range []string{"<tools>{\"name\": \"search_code\"", "Action: search_code\nAction Input: {", "{\"name\": \"search_code\"", "search_code(query=", "<|python_tag|>{\"name\""} {
		p := parse.New(parse.Config{Tools: offered})
		for _, c := range []byte(call) {
			for _, e := range p.Feed(string(c)) {
				if e.Kind == utp.EventText {
					t.Errorf("%q: %q was given out as text", call, e.Text)
				}
			}
		}
	}
}

// Before, between and after calls there is text, in parts of their own, and
// what Raw covers is the input.
//
// contract: CON-45
func TestTextAroundCallsHasItsEvents(t *testing.T) {
	const in = "One.\n<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}</tools>\nTwo.\n" +
		"<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"b\"}}</tools>\nThree.\n<tools>{\"name\": \"sear"
	p := parse.New(parse.Config{Tools: offered})
	var evs []utp.Event
	for i := range len(in) {
		evs = append(evs, p.Feed(in[i:i+1])...)
	}
	evs = append(evs, p.Close(true)...)
	var order []utp.Kind
	var raw strings.Builder
	for i, e := range evs {
		raw.WriteString(e.Raw)
		if e.Kind != utp.EventMark && (len(order) == 0 || e.Kind != order[len(order)-1] || e.Part != evs[i-1].Part) {
			order = append(order, e.Kind)
		}
	}
	call := []utp.Kind{utp.EventCallStart, utp.EventCallDelta, utp.EventCallEnd}
	want := slices.Concat([]utp.Kind{utp.EventText}, call, []utp.Kind{utp.EventText}, call, []utp.Kind{utp.EventText, utp.EventProblem})
	if got := slices.Compact(order); !slices.Equal(got, want) || raw.String() != in {
		t.Errorf("got  %v\nwant %v\nraw %q", got, want, raw.String())
	}
}

// allocated is the memory that f asks for, in bytes and in pieces.
func allocated(f func()) (bytes, pieces uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
}

// reading feeds s in pieces of n bytes.
func reading(s string, n int) func() {
	return func() {
		p := parse.New(parse.Config{Tools: offered})
		for rest := s; rest != ""; rest = rest[min(n, len(rest)):] {
			p.Feed(rest[:min(n, len(rest))])
		}
		p.Close(false)
	}
}

var prose = strings.Repeat("It is 3 < 4 and f(x) = [x], see `sched.go`; then {braces} and \"quotes\" follow.\nAction is needed.\n", 11000)

const oneCall = "\n<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"scheduler\"}}\n</tool_call>"

// The work for a reply is counted in allocations: few for an everyday one, and
// no more for a long one.
//
// contract: Q-02
func TestReadingAReplyIsLittleWork(t *testing.T) {
	reading(oneCall, 1)() // the tables are made once
	for name, s := range map[string]string{"everyday": prose[:800] + oneCall, "64 KiB": prose[:64<<10] + oneCall} {
		if n := testing.AllocsPerRun(10, reading(s, len(s))); n > 300 {
			t.Errorf("%s: %.0f allocations, want at most 300", name, n)
		}
		if bytes, _ := allocated(reading(s, len(s))); bytes > 64<<10 {
			t.Errorf("%s: %d bytes allocated, want at most 64 KiB", name, bytes)
		}
	}
}

// A stream of 100 MB holds no more memory than one of a megabyte.
//
// contract: Z-15
func TestALongStreamHoldsLittle(t *testing.T) {
	piece := prose[:1<<20]
	p := parse.New(parse.Config{Tools: offered})
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	feed := func(megabytes int) {
		for range megabytes {
			for rest := piece; rest != ""; rest = rest[min(4096, len(rest)):] {
				p.Feed(rest[:min(4096, len(rest))])
			}
		}
	}
	feed(1)
	before := held()
	feed(100)
	if after := held(); after > before+1<<20 {
		t.Errorf("%d KB after 1 MB, %d KB after 101 MB", before>>10, after>>10)
	}
	p.Close(false)
}

// A dialect that does not occur costs nothing: prose takes as much with all
// grammars as with one.
//
// contract: N-06
func TestAbsentDialectsCostNothing(t *testing.T) {
	hermes, _ := grammar.ByName("hermes")
	words := strings.Repeat("The scheduler keeps a list of loaded models.\n", 1000)
	read := func(c parse.Config) func() {
		return func() { parse.Text(c, words) }
	}
	one := testing.AllocsPerRun(10, read(parse.Config{Tools: offered, Grammars: []*grammar.Grammar{hermes}}))
	all := testing.AllocsPerRun(10, read(parse.Config{Tools: offered}))
	if all > one+50 {
		t.Errorf("%.0f allocations with all grammars, %.0f with one", all, one)
	}
}

// Twice the input takes twice the memory, in pieces of four bytes too: nothing is
// copied again.
//
// contract: CON-44
func TestWorkGrowsWithTheInput(t *testing.T) {
	body := strings.Repeat(`func main() { return x <= y && z } // a line\n`, 12000)
	call := func(n int) string {
		return `<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "` + body[:n] + `"}}</tool_call>`
	}
	for name, build := range map[string]func(n int) string{
		"prose": func(n int) string { return prose[:n] },
		"call":  call,
		"tags":  func(n int) string { return strings.Repeat("<tool_call> is a tag. ", n/22) },
		"calls": func(n int) string { return strings.Repeat(oneCall, n/len(oneCall)) },
		"fence": func(n int) string { return "```json\n" + strings.Repeat("[1, 2],\n", n/8) },
	} {
		const n = 200 << 10
		reading(build(1000), 4)()
		bytes, pieces := allocated(reading(build(n), 4))
		bytes2, pieces2 := allocated(reading(build(2*n), 4))
		if bytes2 > 3*bytes+1<<16 || pieces2 > 3*pieces+1000 {
			t.Errorf("%s: %d bytes in %d pieces for %d, %d in %d for twice that", name, bytes, pieces, n, bytes2, pieces2)
		}
	}
}
