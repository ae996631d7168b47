package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func frames(t *testing.T, d Decoder, pieces ...[]byte) []Frame {
	t.Helper()
	var out []Frame
	add := func(fs []Frame, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fs...)
	}
	for _, p := range pieces {
		add(d.Feed(p))
	}
	add(d.Close())
	return out
}

// contract: Z-07 Z-15
func TestSSEDecoder(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for _, c := range []struct {
		name, in string
		want     []Frame
	}{
		{"one", "data: {}\n\n", []Frame{{Data: []byte("{}")}}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []Frame{{Data: []byte("a")}, {Data: []byte("b")}}},
		{"cr alone", "data: a\r\rdata: b\r\r", []Frame{{Data: []byte("a")}, {Data: []byte("b")}}},
		{"no blank", "data:a\ndata:  b\n\n", []Frame{{Data: []byte("a\n b")}}},
		{"joined lines", "data: a\ndata\ndata: b\n\n", []Frame{{Data: []byte("a\n\nb")}}},
		{"comment", ": keep-alive\n\n:\n\ndata: a\n\n", []Frame{{Data: []byte("a")}}},
		{"event and id", "event: error\nid: 7\nretry: 10\ndata: a\n\ndata: b\n\n", []Frame{{"error", []byte("a"), "7"}, {"", []byte("b"), "7"}}},
		{"event without data", "event: ping\n\ndata: a\n\n", []Frame{{Data: []byte("a")}}},
		{"end mark", "data: [DONE]\n\n", []Frame{{Data: []byte("[DONE]")}}},
		{"last empty line missing", "data: a\n\ndata: b", []Frame{{Data: []byte("a")}, {Data: []byte("b")}}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []Frame{{Data: []byte("a")}}},
		{"colons", "data: a: b\n\n", []Frame{{Data: []byte("a: b")}}},
		{"empty data", "data:\n\n", []Frame{{Data: nil}}},
		{"long line", "data: " + long + "\n\n", []Frame{{Data: []byte(long)}}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal := func(got []Frame) {
				t.Helper()
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
					t.Fatalf("got %.200q, want %.200q", got, c.want)
				}
			}
			equal(frames(t, new(SSEDecoder), []byte(c.in)))
			if len(c.in) > 300 {
				equal(frames(t, new(SSEDecoder), []byte(c.in[:99999]), []byte(c.in[99999:])))
				return
			}
			for n := range len(c.in) {
				equal(frames(t, new(SSEDecoder), []byte(c.in[:n]), []byte(c.in[n:])))
			}
			equal(frames(t, new(SSEDecoder), bytes.SplitAfter([]byte(c.in), nil)...))
		})
	}
}

func TestNDJSONDecoder(t *testing.T) {
	long := "{\"c\":" + strings.Repeat("1", 100<<10) + "}"
	in := "{\"a\":1}\n\n  {\"b\":\"\\r\"} \r\n" + long + "\n{\"d\":4}"
	want := []string{`{"a":1}`, `{"b":"\r"}`, long, `{"d":4}`}
	for n := range 64 {
		var got []string
		for _, f := range frames(t, new(NDJSONDecoder), []byte(in[:n]), []byte(in[n:])) {
			got = append(got, string(f.Data))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("cut at %d: %.200q", n, got)
		}
	}
}

// contract: Z-15
func TestFramesAreBounded(t *testing.T) {
	for name, feed := range map[string]func([]byte) error{
		"one SSE line": func(b []byte) error {
			_, err := (&SSEDecoder{Max: 100}).Feed(append([]byte("data: "), b...))
			return err
		},
		"joined SSE lines": func(b []byte) error {
			_, err := (&SSEDecoder{Max: 100}).Feed(bytes.ReplaceAll(b, []byte("xx"), []byte("data: x\n")))
			return err
		},
		"NDJSON":              func(b []byte) error { _, err := (&NDJSONDecoder{Max: 100}).Feed(b); return err },
		"NDJSON, a full line": func(b []byte) error { _, err := (&NDJSONDecoder{Max: 100}).Feed(append(b, '\n')); return err },
	} {
		if err := feed(bytes.Repeat([]byte("x"), 1000)); err == nil || !strings.Contains(err.Error(), "100 bytes") {
			t.Errorf("%s: %v, want an error that names the limit", name, err)
		}
	}
}

func TestFramingsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~é\n]{0,40}`)
		var want []Frame
		var stream []byte
		for range rapid.IntRange(0, 5).Draw(t, "frames") {
			f := Frame{Event: rapid.StringMatching(`[a-z.]{0,8}`).Draw(t, "event"), Data: []byte(text.Draw(t, "data"))}
			want, stream = append(want, f), SSE.Append(stream, f)
		}
		cut := rapid.IntRange(0, len(stream)).Draw(t, "cut")
		d := SSE.Decoder()
		got, err := d.Feed(stream[:cut])
		if err != nil {
			t.Fatal(err)
		}
		rest, err := d.Feed(stream[cut:])
		if got = append(got, rest...); err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("got %q, want %q (%v)", got, want, err)
		}
	})
}

func BenchmarkSSEDecoder(b *testing.B) {
	var stream []byte
	for range 1000 {
		stream = AppendSSE(stream, Frame{Data: []byte(`{"choices":[{"delta":{"content":"hello"}}]}`)})
	}
	for _, size := range []int{4, 4096} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				var d SSEDecoder
				for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
					_, _ = d.Feed(rest[:min(size, len(rest))])
				}
			}
		})
	}
}
