package index

import "testing"

// BenchmarkCold indexes this repository and answers one question.
func BenchmarkCold(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		x := open(b, "../..", b.TempDir())
		query(b, x, "Where are tool calls parsed?", 5)
		x.Close()
	}
}

// BenchmarkWarm answers a question with an index that is up to date.
func BenchmarkWarm(b *testing.B) {
	x := open(b, "../..", b.TempDir())
	query(b, x, "warm up", 5)
	b.ReportAllocs()
	for b.Loop() {
		query(b, x, "Where are tool calls parsed?", 5)
	}
}
