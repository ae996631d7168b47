package parse

import "testing"

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(Config{})
	}
}
func BenchmarkNewPrefer(b *testing.B) {
	for b.Loop() {
		New(Config{Prefer: []string{"hermes"}})
	}
}
