package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
)

// What a word of a question counts for. Source: as of the weights of a file.
const (
	lightWeight = 0.3   // of a word that says little, such as "function"
	alikeWeight = 0.6   // of a word that says about the same
	familiar    = 10    // how much less such a word counts where the question's own is in every chunk
	common      = 20    // one in so many chunks has a word that needs no other in its place
	withWord    = 20000 // chunks of one word that are looked at, the best ones
	symWeight   = 2.0   // of a word in the name of a definition; in its text it is 1
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
func places(ctx context.Context, tx *sql.Tx, terms []string) ([]place, []weighed, error) {
	var all int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM chunks").Scan(&all); err != nil {
		return nil, nil, err
	}
	scores, shares, sum := map[int64]float64{}, map[int64]float64{}, 0.0
	words := make([]weighed, len(terms))
	for i, term := range terms {
		words[i] = weighed{word: term, weight: 1}
		if slices.Contains(light, term) {
			words[i].weight = lightWeight
		}
		got, own, err := chunksWith(ctx, tx, term, all)
		if err != nil {
			return nil, nil, err
		}
		words[i].rarity = words[i].weight * math.Log(1+float64(all)/float64(max(own, 1)))
		sum += words[i].rarity
		for id, score := range got {
			scores[id] += words[i].weight * score
			shares[id] += words[i].rarity
		}
	}
	for id, share := range shares {
		scores[id] *= share / sum
	}
	found, err := read(ctx, tx, best(scores), words)
	return found, words, err
}

// chunksWith gives what each chunk with a word, or one that says about the same,
// scores for it, and how many have the word itself.
func chunksWith(ctx context.Context, tx *sql.Tx, word string, all int) (scores map[int64]float64, own int, err error) {
	scores = map[int64]float64{}
	take := func(word string, weight float64) (n int, err error) {
		rows, err := tx.QueryContext(ctx, "SELECT rowid, -bm25(words, 0.0, ?, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score DESC LIMIT ?",
			symWeight, match([]string{word}), withWord)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		for ; rows.Next(); n++ {
			var id int64
			var score float64
			if err := rows.Scan(&id, &score); err != nil {
				return n, err
			}
			scores[id] = max(scores[id], score*weight)
		}
		return n, rows.Err()
	}
	if own, err = take(word, 1); err != nil {
		return nil, 0, err
	}
	if own*common > all {
		return scores, own, nil
	}
	for _, other := range meanings(word) {
		if _, err := take(other, alikeWeight/(1+familiar*float64(own)/float64(all))); err != nil {
			return nil, 0, err
		}
	}
	return scores, own, nil
}

// best are the chunks of the highest scores.
func best(scores map[int64]float64) []place {
	out := make([]place, 0, len(scores))
	for id, score := range scores {
		out = append(out, place{id: id, score: score})
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	return out[:min(len(out), judged)]
}

// read completes places with what the database knows of their chunks.
func read(ctx context.Context, tx *sql.Tx, found []place, words []weighed) (out []place, err error) {
	q, err := tx.PrepareContext(ctx, `SELECT f.path, c.start, c."end", c.line, c.symbols FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	for i := range found {
		p := &found[i]
		if err := q.QueryRowContext(ctx, p.id).Scan(&p.path, &p.start, &p.end, &p.line, &p.symbols); err != nil {
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
