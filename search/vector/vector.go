// Package vector gives common words as vectors: words that are used alike point
// alike, so that a question and the code that answers it can be near one another
// without a word in common. A text is the sum of its words.
//
// The table is compiled in and read where it lies; workshop/README.md says how
// it is made.
package vector

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sort"
	"strings"
)

// Dim is the length of a vector.
const Dim = 96

// The table holds, in little endian: the number of words; where each word ends
// in the text of all words, which are in order; that text; then for each word a
// scale (float32) and its numbers, two in a byte, the lower four bits first, 8
// for zero.
//
//go:embed words.bin
var table string

const (
	ends = 4         // where the ends of the words begin
	row  = 4 + Dim/2 // bytes of a vector
	zero = 8
)

var (
	count = number(0)
	text  = ends + 4*count
	rows  = text + number(ends+4*(count-1))
)

// number reads an unsigned integer of the table.
func number(at int) int {
	return int(binary.LittleEndian.Uint32([]byte(table[at : at+4])))
}

// Vector points where a text does; the zero Vector is the empty text. The longer
// it is, the more the text says.
type Vector [Dim]float32

// Add adds a word in lower case, weight times. A word that the table lacks is
// taken as the one without its ending, or adds nothing.
func (v *Vector) Add(word string, weight float64) {
	at, ok := find(word)
	if !ok {
		return
	}
	weight *= float64(math.Float32frombits(uint32(number(at))))
	for i := range Dim / 2 {
		b := table[at+4+i]
		v[2*i] += float32(weight * (float64(b&0x0f) - zero))
		v[2*i+1] += float32(weight * (float64(b>>4) - zero))
	}
}

// Cos is the cosine between two texts, from -1 to 1; that of an empty one is 0.
func (v *Vector) Cos(w *Vector) float64 {
	var dot, a, b float64
	for i := range v {
		x, y := float64(v[i]), float64(w[i])
		dot += x * y
		a += x * x
		b += y * y
	}
	if a == 0 || b == 0 {
		return 0
	}
	return dot / math.Sqrt(a*b)
}

// endings are what a word of the table may have behind it.
var endings = []string{"s", "es", "ed", "ing", "er"}

// find returns where the row of a word begins.
func find(word string) (at int, ok bool) {
	if at, ok = lookup(word); ok {
		return at, true
	}
	for _, e := range endings {
		if stem, cut := strings.CutSuffix(word, e); cut {
			if at, ok = lookup(stem); ok {
				return at, true
			}
		}
	}
	return 0, false
}

func lookup(word string) (at int, ok bool) {
	i := sort.Search(count, func(i int) bool { return wordAt(i) >= word })
	return rows + i*row, i < count && wordAt(i) == word
}

// wordAt is the word number i in order.
func wordAt(i int) string {
	start := 0
	if i > 0 {
		start = number(ends + 4*(i-1))
	}
	return table[text+start : text+number(ends+4*i)]
}
