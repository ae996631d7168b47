package index

import (
	"slices"
	"strings"
)

// asked tells which words of a question a text has, or words that say about the
// same. It remembers what it was asked before, for one reader.
type asked struct {
	words []weighed
	means [][]string
	sum   float64 // of the rarities
	types bool    // the question is about a type
	known map[string]bits

	names, parts tally // of the text at hand
}

// bits are the words of a question that a text has: the words themselves in the
// lower half, in the upper one those that it has by another word too.
type bits uint64

const half = 32 // Terms gives no more words

var typeWords = strings.Fields("type types class classes struct structs interface interfaces record")

func newAsked(words []weighed) *asked {
	q := &asked{words: words, known: map[string]bits{}}
	for _, w := range words {
		q.means = append(q.means, meanings(w.word))
		q.sum += w.rarity
		q.types = q.types || slices.Contains(typeWords, w.word)
	}
	return q
}

func (q *asked) has(t *tally) (b bits) {
	for _, w := range t.words {
		one, ok := q.known[w]
		if !ok {
			one = q.look(w)
			q.known[strings.Clone(w)] = one // else it would keep the whole file
		}
		b |= one
	}
	return b
}

func (q *asked) look(word string) (b bits) {
	for i, w := range q.words {
		if alike(word, w.word) {
			b |= 1<<i | 1<<(half+i)
		} else if slices.ContainsFunc(q.means[i], func(m string) bool { return alike(word, m) }) {
			b |= 1 << (half + i)
		}
	}
	return b
}

// share is how much of the question words are, by their rarity.
func (q *asked) share(b bits) (sum float64) {
	if q.sum == 0 {
		return 0
	}
	for i, w := range q.words {
		switch {
		case b>>i&1 == 1:
			sum += w.rarity
		case b>>(half+i)&1 == 1:
			sum += alikeWeight * w.rarity
		}
	}
	return sum / q.sum
}
