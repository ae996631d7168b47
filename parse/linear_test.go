package parse

import (
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// floods are texts that make a careless parser look at its input again and again.
var floods = map[string]string{
	"less than":             "<",
	"backquotes":            "`",
	"backquotes and blanks": "` ",
	"keys":                  `{"`,
	"open lists":            "[",
	"list of lists":         "[[],",
	"open objects":          `{"a":`,
	"calls in calls":        `<tool_call>{"name":"a","arguments":{"x":"`,
	"cut calls":             `<tool_call>{"name":"search_code","arguments":{"query":`,
	"actions":               "Action: search_code\n",
	"actions with input":    "Action: search_code\nAction Input: {\"query\": \"x\"}\n",
	"think":                 "<think>",
	"think pairs":           "<think></think>",
	"calls in thinking":     "<think><tool_call>{\"name\": \"search_code\", \"arguments\": {\"query\": 1",
	"fences":                "```\n",
	"fences of calls":       "```json\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"x\"}}\n```\n",
	"fences of text":        "```json\n{\"name\n",
	"open fence":            "```json\n[",
	"blank lines":           "\n \t",
	"bare names":            "search_code ",
	"bare python":           "search_code(",
	"bare python lines":     "search_code(query=\n",
	"bare objects":          "{\"name\": \"search_code\", \"arguments\": \n",
	"function tags":         "<function=search_code><parameter=query>",
	"lost closers":          "<function=search_code><parameter=query>x</function>",
	"closers":               "</tool_call>",
	"tags with attributes":  "<invoke name=",
	"tag and blanks":        "<invoke                                                        ",
	"headers":               "<|start|>assistant<|channel|>",
	"kimi":                  "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_code:0",
	"autobyteus":            "<tool name=\"search_code\"><arguments><arg name=\"query\"><item>",
	"nested minimax":        "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"search_code\">]<]minimax[>[<query>]<]minimax[>[<item>",
	"half characters":       "\xC4",
	"tokenizer blanks":      "<tool_call>ĠĠĠĠĊ",
	"entities":              "<tool name=\"search_code\"><arg name=\"query\">&amp;&",
	"strings of calls":      "<tool_call>[\"{\\\"name\\\": \\\"search_code\\\"",
	"mistral":               "[TOOL_CALLS]search_code[ARGS]{\"query\": \"x\"}",
	"cline":                 "<search_code>\n<query>\n",
	"prose":                 "It is 3 < 4 and f(x) = [x], see `sched.go`; then {braces} and \"quotes\" follow.\nAction is needed.\n",
	"a tag in prose":        "<tool_call> is a tag. ",
	"a long argument":       "x <= y && z ",
	"a nameless argument":   "x <= y && z ",
}

// before stands before a flood.
var before = map[string]string{
	"a long argument":     `<tool_call>{"name": "search_code", "arguments": {"query": "`,
	"a nameless argument": `<tool_call>{"arguments": {"query": "`,
}

// perByte is how many bytes may be looked at for one byte of text. For a reply of
// 64 KB those are 32 MB, which take far less than the 100 ms that are the worst.
const perByte = scan.MaxHead / 2

// TestLinear counts the bytes looked at: four times the text is at most a little
// more than four times the work, in chunks of any size.
//
// contract: Q-02 CON-44
func TestLinear(t *testing.T) {
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			for _, chunk := range []int{1, 4, 1 << 20} {
				small, large := workFor(before[name], flood, 1<<14, chunk), workFor(before[name], flood, 1<<16, chunk)
				if large > 5*small+1<<16 {
					t.Errorf("chunks of %d: %d bytes looked at for 16 KB, %d for 64 KB", chunk, small, large)
				}
				if large > perByte<<16 {
					t.Errorf("chunks of %d: %d bytes looked at for each", chunk, large>>16)
				}
				t.Logf("chunk %d: %.1f bytes looked at for each", chunk, float64(large)/(1<<16))
			}
		})
	}
}

var floodTools = schema.Compile([]utp.Tool{{Name: "search_code",
	Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)}})

// workFor parses n bytes of a flood and counts the bytes looked at.
func workFor(head, flood string, n, chunk int) int {
	text := (head + strings.Repeat(flood, n/len(flood)+1))[:n]
	p := New(Config{Tools: floodTools})
	for i := 0; i < n; i += chunk {
		p.Feed(text[i:min(i+chunk, n)])
	}
	p.Close(false)
	return p.work
}

// TestNeverStuck holds the guard against a parser that makes no progress: it
// is there, and no text needs it.
func TestNeverStuck(t *testing.T) {
	grammars := [][]*grammar.Grammar{nil}
	for _, g := range grammar.All() {
		grammars = append(grammars, []*grammar.Grammar{g})
	}
	for name, flood := range floods {
		for _, list := range grammars {
			p := New(Config{Tools: floodTools, Grammars: list})
			evs := slices.Clone(p.Feed(before[name] + strings.Repeat(flood, 200)))
			for _, e := range append(evs, p.Close(false)...) {
				if e.Problem != nil && e.Problem.Message == stuckMessage {
					t.Errorf("%s: %v", name, e.Problem)
				}
			}
		}
	}
}
