package parse

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

// ended feeds text in pieces to the end of a reply.
func ended(pieces ...string) string {
	var t tail
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(t.add(p))
	}
	rest, _ := t.end()
	return b.String() + rest
}

// contract: W-14 A-22
func TestTheTokenAtTheEnd(t *testing.T) {
	for in, want := range map[string]string{
		"It is 5.<|im_end|>":                      "It is 5.",
		"It is 5.</s>":                            "It is 5.",
		"It is 5.\n<|eot_id|>\n":                  "It is 5.",
		"It is 5.<|im_end|>\n<|endoftext|>":       "It is 5.",
		"It is 5.</s></s> </s>":                   "It is 5.",
		"<|im_end|>":                              "",
		"Write <|im_end|> there.":                 "Write <|im_end|> there.",
		"Write `</s>`.":                           "Write `</s>`.",
		"```\nstop = \"</s>\"\n```":               "```\nstop = \"</s>\"\n```",
		"<p><s>old</s>":                           "<p><s>old</s>",
		"It is 5.<|im_":                           "It is 5.<|im_",
		"It is 5.<|im_end|><|im_":                 "It is 5.<|im_end|><|im_",
		"It is 5.<|im_end|> More.<|im_end|>":      "It is 5.<|im_end|> More.",
		"5 <":                                     "5 <",
		"Done.  \n":                               "Done.  \n",
		"Fin.<｜end▁of▁sentence｜>":                 "Fin.",
		strings.Repeat("</s>\n", 300):             strings.Repeat("</s>\n", 300),
		"<tool_call>{\"name\":\"f\"}</tool_call>": "<tool_call>{\"name\":\"f\"}</tool_call>",
	} {
		if got := ended(in); strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := ended(strings.Split(in, "")...); got != ended(in) {
			t.Errorf("%q in single characters: %q, whole %q", in, got, ended(in))
		}
	}
}

// A model that ends its turn without end costs no more for each token.
func BenchmarkEndings(b *testing.B) {
	for _, n := range []int{1e3, 1e4} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				var t tail
				for range n {
					t.add("<|im_end|>")
				}
			}
		})
	}
}

// However the text is cut, the same is left; and what is taken off is a run of
// tokens at the end.
func TestTheEndIsCutInvariant(t *testing.T) {
	words := []string{"a", " ", "\n", "<", "<s>", "</", "|", ">", "im_end"}
	for _, end := range chat().ends.list {
		words = append(words, end.Text)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, "words"), "")
		var pieces []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		got := ended(pieces...)
		if got != ended(in) || !strings.HasPrefix(in, got) {
			t.Fatalf("%q in %q: %q, whole %q", in, pieces, got, ended(in))
		}
		off := in[len(got):]
		for _, end := range chat().ends.list {
			off = strings.ReplaceAll(off, end.Text, "")
		}
		if strings.TrimSpace(off) != "" {
			t.Fatalf("%q lost %q", in, in[len(got):])
		}
	})
}

// Before native events the text is no end.
func TestTextBeforeANativeCallStays(t *testing.T) {
	p := New(Config{})
	evs := slices.Clone(p.Through(utp.Event{Kind: utp.EventText, Text: "I look.</s>"}))
	evs = append(evs, p.Through(utp.Event{Kind: utp.EventWhole, Part: 1, Value: utp.Call{ID: "1", Name: "f", Args: []byte("{}")}})...)
	evs = append(evs, p.Through(utp.Event{Kind: utp.EventFinish})...)
	if got := utp.Collect(evs); got.Text() != "I look.</s>" || len(got.Calls()) != 1 {
		t.Errorf("%+v", got)
	}
}
