package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

func benchCheck(b *testing.B, args string) {
	s := one(searchSchema)
	s.Check("f", empty) // compile
	raw := json.RawMessage(args)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		s.Check("f", raw)
	}
}

func BenchmarkCheckValid(b *testing.B) {
	benchCheck(b, `{"query":"func main","limit":5,"paths":["cmd","internal"],"filter":{"max_age":7}}`)
}

func BenchmarkCheckCoerced(b *testing.B) {
	benchCheck(b, `{"query":"func main","limit":"5","paths":"cmd","filter":{"maxAge":"7"}}`)
}

func BenchmarkCheckIssues(b *testing.B) {
	benchCheck(b, `{"limit":"five","paths":[{}]}`)
}

func BenchmarkCheckLarge(b *testing.B) {
	benchCheck(b, `{"query":"`+strings.Repeat("0123456789", 100_000)+`"}`)
}

func BenchmarkCheckManyFixes(b *testing.B) {
	benchCheck(b, `{"query":"x","paths":[`+strings.Repeat("1,", 1000)+`1]}`)
}

func BenchmarkTextValue(b *testing.B) {
	s := one(searchSchema)
	b.ReportAllocs()
	for b.Loop() {
		s.TextValue("f", "limit", "5")
	}
}

func BenchmarkKind(b *testing.B) {
	s := one(searchSchema)
	b.ReportAllocs()
	for b.Loop() {
		s.Kind("f", "query")
	}
}

func BenchmarkResolve(b *testing.B) {
	s := Compile(named("get_weather", "mcp__docs__search", "web_fetch", "read_file"))
	b.ReportAllocs()
	for b.Loop() {
		s.Resolve("functions.getWeather:0")
	}
}

func BenchmarkCompile(b *testing.B) {
	tools := []utp.Tool{{Name: "f", Schema: json.RawMessage(searchSchema)}}
	b.ReportAllocs()
	for b.Loop() {
		Compile(tools).Order("f")
	}
}
