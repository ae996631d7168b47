package vector_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp/search/vector"
)

// A word with an ending is the word without it, unless the table has both.
func TestEndings(t *testing.T) {
	if c := of("semaphoring").Cos(of("semaphore semaphores")); c < 0 {
		t.Errorf("cosine = %v", c)
	}
	if *of("tokenizered") != *of("tokenizer") {
		t.Error("an ending that the table lacks changes the vector")
	}
}

// What the table lacks adds nothing, and nothing is near to nothing.
func TestUnknownWords(t *testing.T) {
	for _, word := range []string{"", "s", "qzxjv", "Größe", "\xff", "zzzzzzzzzzzz", "0"} {
		if v := of(word); *v != (vector.Vector{}) || v.Cos(of("socket")) != 0 {
			t.Errorf("%q has a vector", word)
		}
	}
}

// A sum is as near to each of its words, however often they are taken.
func TestSums(t *testing.T) {
	once, twice := of("socket listen"), &vector.Vector{}
	twice.Add("socket", 2)
	twice.Add("listen", 2)
	if c := once.Cos(twice); c < 0.9999 || c > 1.0001 {
		t.Errorf("cosine of a text with itself = %v, want 1", c)
	}
}
