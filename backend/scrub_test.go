package backend

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// The key is found wherever the body and its reader cut it, and nothing else is
// changed.
func TestScrubbed(t *testing.T) {
	const key = "abcabcabcabd1234"
	for _, text := range []string{"", "no key at all", key, key + key, "x" + key + "y" + key[:7] + key + key[:15], "abcabcabcabcabd1234 " + key[:12] + " end", strings.Repeat("long ", 4000) + key} {
		want := strings.ReplaceAll(text, key, strings.Repeat("*", len(key)))
		for size := 1; size < 20; size++ {
			body := &scrubbed{ReadCloser: io.NopCloser(&chopped{text, size}), key: []byte(key), buf: make([]byte, len(key)+64)}
			got, err := io.ReadAll(body)
			if err != nil || string(got) != want {
				t.Errorf("%.60q in pieces of %d: %.60q, %v", text, size, got, err)
			}
			body = &scrubbed{ReadCloser: io.NopCloser(&chopped{text, size}), key: []byte(key), buf: make([]byte, len(key)+64)}
			if got, err = io.ReadAll(iotest.OneByteReader(body)); err != nil || string(got) != want {
				t.Errorf("%.60q byte by byte: %.60q, %v", text, got, err)
			}
		}
	}
	b := make([]byte, 64)
	body := &scrubbed{ReadCloser: io.NopCloser(&chopped{"data abc", 8}), key: []byte(key), buf: make([]byte, len(key)+64)}
	if n, _ := body.Read(b); string(b[:n]) != "data " {
		t.Errorf("what is no beginning of the key must not wait: %q", b[:n])
	}
}

// chopped gives a text in pieces.
type chopped struct {
	text string
	size int
}

func (c *chopped) Read(b []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	n := copy(b, c.text[:min(c.size, len(c.text))])
	c.text = c.text[n:]
	return n, nil
}
