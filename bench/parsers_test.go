package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// reader reads a text that comes in pieces, and counts the calls in it.
type reader func(text string, piece int) (calls int)

// ours has every dialect armed.
func ours(text string, piece int) (calls int) {
	p := parse.New(parse.Config{Tools: set})
	count := func(evs []utp.Event) {
		for i := range evs {
			if evs[i].Kind == utp.EventCallEnd {
				calls++
			}
		}
	}
	for i := 0; i < len(text); i += piece {
		count(p.Feed(text[i:min(i+piece, len(text))]))
	}
	count(p.Close(false))
	return calls
}

// theirs is Ollama's parser of that name.
func theirs(name string) reader {
	return func(text string, piece int) (calls int) {
		p := parsers.ParserForName(name)
		p.Init(tools, nil, nil)
		for i := 0; i < len(text); i += piece {
			end := min(i+piece, len(text))
			_, _, got, err := p.Add(text[i:end], end == len(text))
			if err != nil {
				panic(err)
			}
			calls += len(got)
		}
		return calls
	}
}

var set = schema.Compile([]utp.Tool{
	{Name: "search_code", Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "write_file", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
})

var tools = func() (out []api.Tool) {
	for _, name := range []string{"search_code", "write_file"} {
		t := api.Tool{Type: "function"}
		t.Function.Name = name
		out = append(out, t)
	}
	return out
}()

var prose = strings.Repeat("The scheduler keeps a list of loaded models, and unloads the one used least when memory runs short.\n"+
	"It is 3 < 4 and f(x) = [x], see `sched.go`; then {braces} and \"quotes\" follow.\n", 6000)[:1<<20]

const small = "\n<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"scheduler\", \"limit\": 5}}\n</tool_call>"

func code(n int) string {
	return strings.Repeat("func main() { return x <= y && z } // a line of code\n", n/53+1)[:n]
}

// texts are what is measured. Ollama's qwen3 reads Hermes calls, its
// qwen3-coder the tagged ones.
var texts = []struct {
	name, text, dialect string
	piece, calls        int
}{
	{"1 MB call, 4-byte pieces", "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a.txt\", \"content\": \"" +
		strings.ReplaceAll(code(1<<20), "\n", `\n`) + "\"}}\n</tool_call>", "qwen3", 4, 1},
	{"1 MB tagged call, 4-byte pieces", "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\n" +
		code(1<<20) + "\n</parameter>\n</function>\n</tool_call>", "qwen3-coder", 4, 1},
	{"900-byte reply with a call, whole", prose[:800] + small, "qwen3", 1 << 20, 1},
	{"900-byte reply with a call, 4-byte pieces", prose[:800] + small, "qwen3", 4, 1},
	{"64 KB of prose, 4-byte pieces", prose[:64<<10], "qwen3", 4, 0},
	{"64 KB reply with a call, 4-byte pieces", prose[:64<<10] + small, "qwen3", 4, 1},
}

// TestSame makes sure that both read what is measured.
func TestSame(t *testing.T) {
	for _, c := range texts {
		for who, read := range map[string]reader{"ours": ours, "theirs": theirs(c.dialect)} {
			if strings.HasPrefix(c.name, "1 MB") && who == "theirs" {
				continue // takes seconds; the benchmark checks it
			}
			if n := read(c.text, c.piece); n != c.calls {
				t.Errorf("%s: %s read %d calls, want %d", c.name, who, n, c.calls)
			}
		}
	}
}

// BenchmarkParsers gives the median and the 99th percentile of the time for a
// whole text, and the time for a piece of it.
func BenchmarkParsers(b *testing.B) {
	for _, c := range texts {
		for _, who := range []struct {
			name string
			read reader
		}{{"ours", ours}, {"ollama", theirs(c.dialect)}} {
			b.Run(fmt.Sprintf("%s/%s", strings.ReplaceAll(c.name, ",", ""), who.name), func(b *testing.B) {
				var took []time.Duration
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					if n := who.read(c.text, c.piece); n != c.calls {
						b.Fatalf("%d calls, want %d", n, c.calls)
					}
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				pieces := (len(c.text) + c.piece - 1) / c.piece
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "µs-median")
				b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "µs-p99")
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/float64(pieces), "ns/piece")
			})
		}
	}
}
