package lenient

import (
	"fmt"
	"strings"
	"testing"
)

// drain reads s in pieces of n bytes.
func drain(b *testing.B, r *Reader, s string, n int) {
	for len(s) > 0 {
		k := min(n, len(s))
		piece := s[:k]
		s = s[k:]
		for {
			t, m := r.Next(piece)
			piece = piece[m:]
			if t.Kind == Fail {
				b.Fatal(r.Err())
			}
			if t.Kind == More || t.Kind == Done {
				break
			}
		}
	}
}

var inputs = []struct {
	name, text string
	o          Options
}{
	{"prose", `{"text": "` + strings.Repeat("The quick brown fox doesn't jump over the lazy dog. ", 20000) + `"}`, Options{}},
	{"code", `{"code": "` + strings.Repeat(`func f(x int) { return \"a\" + x[0] }\n`, 28000) + `"}`, Options{}},
	{"chinese", `{"text": "` + strings.Repeat("敏捷的棕色狐狸跳过了懒狗。", 26000) + `"}`, Options{}},
	{"small", "[" + strings.Repeat(`{"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "ok": true}}, `, 12500) + "0]", Options{}},
	{"broken", "[" + strings.Repeat(`{'name': "say "hi" to it", arguments: {'city': 'Paris', 'days': 3, 'ok': True,},}, `, 12500) + "0]", Options{}},
	{"quotes", `{"text": "a` + strings.Repeat(`"b`, 500000) + `"}`, Options{}},
	{"commas", `{"text": "a "b` + strings.Repeat(`", "c`, 200000) + `"}`, Options{}},
	{"literal", `{text:<|"|>` + strings.Repeat("a <b>bold</b> \"text\"\n", 50000) + `<|"|>}`, Options{Quote: `<|"|>`}},
}

func BenchmarkNext(b *testing.B) {
	for _, in := range inputs {
		for _, n := range []int{len(in.text), 4, 1} {
			size := fmt.Sprint(n)
			if n == len(in.text) {
				size = "whole"
			}
			b.Run(in.name+"/"+size, func(b *testing.B) {
				var r Reader
				b.SetBytes(int64(len(in.text)))
				b.ReportAllocs()
				for b.Loop() {
					r.Reset(in.o)
					drain(b, &r, in.text, n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64((len(in.text)+n-1)/n), "ns/piece")
			})
		}
	}
}

// The cost per byte must not depend on the size.
func BenchmarkSize(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 16, 1 << 20, 10 << 20} {
		s := `{"text": "` + strings.Repeat("x", size) + `"}`
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var r Reader
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(Options{})
				drain(b, &r, s, 4)
			}
		})
	}
}

func BenchmarkRepair(b *testing.B) {
	for _, s := range []string{
		`{"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "ok": true}}`,
		`{'name': 'get_weather', 'arguments': {'city': 'Paris', 'days': 3, 'ok': True,}`,
	} {
		b.Run(s[:4], func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, _, err := Repair(s, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
