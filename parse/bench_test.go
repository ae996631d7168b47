package parse_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var prose = strings.Repeat("The scheduler keeps a list of loaded models, and unloads the one used least when memory runs short.\n"+
	"It is 3 < 4 and f(x) = [x], see `sched.go`; then {braces} and \"quotes\" follow.\n", 6000)[:1<<20]

var offered = schema.Compile([]utp.Tool{
	{Name: "search_code", Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "write_file", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
})

// chunked feeds s in pieces of n bytes.
func chunked(b *testing.B, s string, n int) {
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		p := parse.New(parse.Config{Tools: offered})
		for i := 0; i < len(s); i += n {
			p.Feed(s[i:min(i+n, len(s))])
		}
		p.Close(false)
	}
}

func BenchmarkProseWhole(b *testing.B)   { chunked(b, prose, len(prose)) }
func BenchmarkProseChunk4(b *testing.B)  { chunked(b, prose, 4) }
func BenchmarkCall1MChunk4(b *testing.B) { chunked(b, bigCall(1<<20), 4) }
func BenchmarkCall10MChunk4(b *testing.B) {
	chunked(b, bigCall(10<<20), 4)
}
func BenchmarkTagged1MChunk4(b *testing.B) {
	chunked(b, "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\n"+content(1<<20)+"\n</parameter>\n</function>\n</tool_call>", 4)
}
func BenchmarkReply900(b *testing.B) {
	chunked(b, prose[:800]+"\n<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"scheduler\", \"limit\": 5}}\n</tool_call>", 900)
}
func BenchmarkReply64K(b *testing.B) {
	chunked(b, prose[:64<<10]+"\n<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"scheduler\", \"limit\": 5}}\n</tool_call>", 64<<10)
}

func bigCall(n int) string {
	return "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a.txt\", \"content\": \"" + strings.ReplaceAll(content(n), "\n", `\n`) + "\"}}\n</tool_call>"
}

func content(n int) string {
	return strings.Repeat("func main() { return x <= y && z } // a line of code\n", n/53+1)[:n]
}
