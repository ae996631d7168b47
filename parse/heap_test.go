package parse_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// TestFlatHeap streams text, code, small calls and one endless call,
// and keeps nothing of it.
func TestFlatHeap(t *testing.T) {
	const chunk, most = 4 << 10, 8 << 20
	call := "<tool_call>{\"name\": \"search_code\", \"arguments\": {\"query\": \"#\"}}</tool_call>\n"
	for _, c := range []struct {
		name, head, body string
		size             int
	}{
		{"text", "", prose[:chunk], 100 << 20},
		{"calls", "", strings.Repeat(call, chunk/len(call)), 10 << 20},
		{"code", "```go\n", strings.Repeat("x := f(\"<tool_call>\")\n", chunk/22), 100 << 20},
		{"endless call", "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"content\": \"", strings.Repeat("x", chunk), 100 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parse.New(parse.Config{Tools: offered, MaxCall: 1 << 20})
			p.Feed(c.head)
			before := heap()
			problems := 0
			for n := range c.size / chunk {
				for _, e := range p.Feed(distinct(c.body, n*chunk)) {
					if e.Kind == utp.EventProblem {
						problems++
					}
				}
			}
			if now := heap(); now > before+most {
				t.Errorf("the heap grew from %d to %d bytes", before, now)
			}
			if want := map[bool]int{true: 1}[c.name == "endless call"]; problems != want {
				t.Errorf("%d problems, want %d", problems, want)
			}
			p.Close(true)
		})
	}
}

// distinct puts a number in the place of each "#".
func distinct(s string, n int) string {
	parts := strings.Split(s, "#")
	for i := range parts[1:] {
		parts[i] += strconv.Itoa(n + i)
	}
	return strings.Join(parts, "")
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
