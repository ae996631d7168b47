package index

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// What a word of a question counts for. Source: as of the weights of a file.
const (
	lightWeight = 0.3 // of a word that says little, such as "function"
	alikeWeight = 0.6 // of a word that says about the same
	familiar    = 10  // how much less such a word counts where the question's own is in every chunk
	common      = 20  // one in so many chunks has a word that needs no other in its place
	symWeight   = 2.0 // of a word in the name of a definition; in its text it is 1
)

// weighed is what is known of a word of a question.
type weighed struct {
	word   string
	weight float64
	rarity float64 // with the weight
}

// places finds the chunks that have words of the question, or words that say about
// the same. A chunk's score is what the words count for that it has, times the
// share of the question that they are: rare words are a greater share.
func (c *corpus) places(terms []string) ([]place, []weighed, error) {
	scores, sum := newScores(len(c.lengths)), 0.0
	words := make([]weighed, len(terms))
	for i, term := range terms {
		words[i] = weighed{word: term, weight: 1}
		if slices.Contains(light, term) {
			words[i].weight = lightWeight
		}
		own, err := c.chunksWith(term, scores)
		if err != nil {
			return nil, nil, err
		}
		words[i].rarity = words[i].weight * math.Log(1+float64(c.all)/float64(max(own, 1)))
		sum += words[i].rarity
		scores.next(words[i])
	}
	found, err := c.read(scores.best(sum), words)
	return found, words, err
}

// chunksWith scores the chunks with a word, or with one that says about the same,
// and tells how many have the word itself.
func (c *corpus) chunksWith(word string, s *scores) (own int, err error) {
	if err := c.look(word); err != nil {
		return 0, err
	}
	own = len(c.found)
	c.bm25(s.put)
	weight := alikeWeight / (1 + familiar*float64(own)/float64(max(c.all, 1)))
	for _, other := range meanings(word) {
		if err := c.look(other); err != nil {
			return 0, err
		}
		if own*common <= c.all {
			c.bm25(func(chunk int, score float64) { s.put(chunk, score*weight) })
		}
	}
	return own, nil
}

// scores are those of chunks, by number: of the words that are done, and of the one
// at hand.
type scores struct {
	sum, share, word []float32
	is               []bool // has the word at hand
	at               []int  // the chunks that do
	any              []int  // the chunks that have any, some of them twice
}

func newScores(chunks int) *scores {
	return &scores{sum: make([]float32, chunks), share: make([]float32, chunks), word: make([]float32, chunks), is: make([]bool, chunks)}
}

// put keeps the best score of a chunk for the word at hand.
func (s *scores) put(chunk int, score float64) {
	if !s.is[chunk] {
		s.is[chunk] = true
		s.at = append(s.at, chunk)
	}
	s.word[chunk] = max(s.word[chunk], float32(score))
}

// next is done with the word at hand.
func (s *scores) next(w weighed) {
	for _, chunk := range s.at {
		if s.share[chunk] == 0 {
			s.any = append(s.any, chunk)
		}
		s.sum[chunk] += float32(w.weight) * s.word[chunk]
		s.share[chunk] += float32(w.rarity)
		s.word[chunk], s.is[chunk] = 0, false
	}
	s.at = s.at[:0]
}

// best are the chunks of the highest scores, where the words of the question are
// worth all.
func (s *scores) best(all float64) []place {
	out := make([]place, 0, judged+1)
	for _, chunk := range s.any {
		p := place{id: int64(chunk), score: float64(s.sum[chunk]) * float64(s.share[chunk]) / all}
		if len(out) == judged && better(p, out[judged-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(out, p, better)
		if out = slices.Insert(out, at, p); len(out) > judged {
			out = out[:judged]
		}
	}
	return out
}

func better(a, b place) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) }

// read completes places with what the database knows of their chunks.
func (c *corpus) read(found []place, words []weighed) (out []place, err error) {
	q, err := c.tx.PrepareContext(c.ctx, `SELECT f.path, c.start, c."end", c.line, c.symbols FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	for i := range found {
		p := &found[i]
		if err := q.QueryRowContext(c.ctx, p.id).Scan(&p.path, &p.start, &p.end, &p.line, &p.symbols); err != nil {
			return nil, err
		}
		p.named = pathWeight * named(p.path, words)
	}
	return found, nil
}

// named is the rarity of the words of the question that a path has.
func named(path string, words []weighed) (sum float64) {
	seen := make([]bool, len(words))
	each(path, func(part string) {
		for i, w := range words {
			if !seen[i] && alike(part, w.word) {
				seen[i] = true
				sum += w.rarity
			}
		}
	})
	return sum
}
