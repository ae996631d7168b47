package utp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// TestTokensInEveryScript holds the estimate against what five tokenizers count
// in prose of many scripts, code, tables and blobs.
func TestTokensInEveryScript(t *testing.T) {
	c, err := golden.Read("testdata/tokens.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(c.Get("counts")), "\n")[1:]
	if len(rows) < 37 {
		t.Fatalf("%d kinds of text, want 37", len(rows))
	}
	for _, row := range rows {
		var kind string
		var n [5]float64
		if _, err := fmt.Sscan(row, &kind, &n[0], &n[1], &n[2], &n[3], &n[4]); err != nil {
			t.Fatalf("%q: %v", row, err)
		}
		mean := (n[0] + n[1] + n[2] + n[3] + n[4]) / 5
		got := float64(utp.Tokens(strings.TrimSpace(c.Get(kind))))
		if got < mean*0.8 || got > mean*1.3 {
			t.Errorf("%s: %.0f tokens, the tokenizers count %.0f in the mean: %.2f", kind, got, mean, got/mean)
		}
	}
}

// TestTokensOfJapanese: a count of characters takes a third of what there is.
func TestTokensOfJapanese(t *testing.T) {
	text := strings.Repeat("このプログラムは質問に答えるために、必要なファイルを読みます。", 1000)
	r := &utp.Request{Messages: []utp.Message{utp.NewText(utp.RoleUser, text)}}
	if got := r.Tokens(); got < 17000 || got > 25000 {
		t.Errorf("%d tokens for %d characters; o200k counts 20000", got, len([]rune(text)))
	}
}

func TestTokensOfAnyBytes(t *testing.T) {
	if n := utp.Tokens(""); n != 0 {
		t.Errorf("nothing has %d tokens", n)
	}
	for a := range 256 {
		for b := range 256 {
			text := []byte{byte(a), byte(b)}
			if n := utp.Tokens(text); n < 0 || n > 4 {
				t.Errorf("%q: %d tokens", text, n)
			}
			if n := utp.Tokens(append(text[:2:2], "and some words more"...)); n < 3 || n > 9 {
				t.Errorf("%q and some words more: %d tokens", text, n)
			}
		}
	}
}

func TestTokensOfRequest(t *testing.T) {
	words := strings.Repeat("some words ", 400) // 800 tokens
	text := []utp.Part{utp.Text{Text: words}}
	for name, parts := range map[string][]utp.Part{
		"text": text, "thinking": {utp.Think{Text: words}}, "result": {utp.Result{Parts: text}},
		"arguments": {utp.Call{Name: "f", Args: []byte(`{"a":"` + words + `"}`)}}, "raw arguments": {utp.Call{Name: "f", RawArgs: words}},
		"unknown": {utp.Unknown{Raw: []byte(`"` + words + `"`)}}, "a text file": {utp.Blob{MIME: "text/plain", Data: []byte(words)}},
		"an image": {utp.Blob{MIME: "image/png", Data: []byte{1, 2, 3}}},
	} {
		if n := (utp.Message{Role: utp.RoleUser, Parts: parts}).Tokens(); n < 650 || n > 1100 {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
	bare := &utp.Request{Messages: []utp.Message{utp.NewText(utp.RoleUser, "hi")}}
	told := &utp.Request{Messages: bare.Messages, Tools: []utp.Tool{{Name: "read_file", Description: words, Schema: []byte(`{"type":"object"}`)}}}
	if few, more := bare.Tokens(), told.Tokens(); few > 10 || more < few+650 {
		t.Errorf("%d tokens without tools, %d with", few, more)
	}
}

func TestTokensAllocatesNothing(t *testing.T) {
	r := &utp.Request{Tools: []utp.Tool{{Name: "f", Schema: []byte(`{"type":"object"}`)}},
		Messages: []utp.Message{utp.NewText(utp.RoleUser, strings.Repeat("Wörter und 言葉 ", 100))}}
	if n := testing.AllocsPerRun(20, func() { _ = r.Tokens() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTokens(b *testing.B) {
	c, err := golden.Read("testdata/tokens.txtar")
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []string{"en", "ja", "go", "json", "base64"} {
		text := c.Get(kind)
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_ = utp.Tokens(text)
			}
		})
	}
}
