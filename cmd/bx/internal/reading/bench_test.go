package reading_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

// offered are ten tools as an agent offers them.
func offered() string {
	var b bytes.Buffer
	b.WriteString("[")
	for i, name := range []string{"get_weather", "search_code", "read_file", "write_file", "list_dir", "run", "ask", "fetch", "plan", "done"} {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"type": "function", "function": {"name": %q, "description": "One of the tools that can be called, with a sentence on what it is for.", `+
			`"parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "where"}, "days": {"type": "integer"}}, "required": ["city"]}}}`, name)
	}
	b.WriteString("]")
	return b.String()
}

// replies are texts of models in several dialects, and one without a call.
var replies = []string{
	"I will look that up for you now, one moment.\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\", \"days\": 3}}\n</tool_call>",
	"<think>The user wants the weather in Bergen. I should call the tool with the city and a number of days, three by default.</think>\n<tool_call>\n<function=get_weather>\n<parameter=city>\nBergen\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
	"[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Trondheim\"}}, {\"name\": \"get_weather\", \"arguments\": {\"city\": \"Bodø\", \"days\": 2}}]",
	"The forecast for the week says that it will rain on most days, with some sun on Thursday. Take an umbrella, and shoes that can get wet; the paths along the river are still under water after the storm of last week, and the ferry does not run before noon.",
}

// corpus is JSON lines of about n bytes. with adds tools to every line, hint a model.
func corpus(n int, with, hint bool) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := 0; b.Len() < n; i++ {
		line := map[string]any{"id": i, "input": replies[i%len(replies)]}
		if with {
			line["tools"] = json.RawMessage(offered())
		}
		if hint {
			line["model"] = "qwen2.5-7b"
		}
		_ = enc.Encode(line)
	}
	return b.Bytes()
}

// One byte a second is one byte of the input file.
func BenchmarkLines(b *testing.B) {
	tools, err := reading.ParseTools([]byte(offered()))
	if err != nil {
		b.Fatal(err)
	}
	for _, of := range []struct {
		name  string
		o     reading.Options
		tools bool
		hint  bool
	}{
		{"tools-in-every-line", reading.Options{}, true, false},
		{"tools-once", reading.Options{Tools: tools}, false, false},
		{"no-tools", reading.Options{}, false, false},
		{"model", reading.Options{Tools: tools}, false, true},
	} {
		in := corpus(4<<20, of.tools, of.hint)
		if of.hint {
			in = corpus(64<<10, of.tools, of.hint)
		}
		b.Run(of.name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if t, err := reading.Lines(b.Context(), bytes.NewReader(in), io.Discard, of.o); err != nil || t.Bad > 0 {
					b.Fatal(t, err)
				}
			}
		})
	}
}
