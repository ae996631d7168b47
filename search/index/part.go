package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
)

// The blobs are sequences of unsigned varints. The lengths of a part are those of
// its chunks, in words. Its dirs are runs of chunks: how many, how long the name of
// their directory is, and the name. The places of a word are, for each chunk of the
// part that has it, the distance from the one before (from the one before the part)
// and a count: four times how often its text has the word, and how often its
// symbols do; three stands for three and more, and then that follows by itself.
const manySymbols = 3

// counted is a chunk as the words that it has, with their number.
type counted struct {
	words  []string
	uses   []uses
	length int
}

// uses is how often a chunk has a word: in its symbols and in its text. A chunk
// that has neither has it in its path.
type uses struct{ symbols, text int32 }

// counter counts the words of chunks by their stems, which it remembers.
type counter struct {
	stems map[string]string
	at    map[string]int // in the words of the chunk at hand
	counted
}

func newCounter() *counter { return &counter{stems: map[string]string{}, at: map[string]int{}} }

// count counts the words of a chunk's path, symbols and text.
func (c *counter) count(path, symbols, text string) counted {
	clear(c.at)
	c.counted = counted{words: c.words[:0], uses: c.uses[:0]}
	c.add(path, uses{})
	c.add(symbols, uses{symbols: 1})
	c.add(text, uses{text: 1})
	return counted{slices.Clone(c.words), slices.Clone(c.uses), c.length}
}

func (c *counter) add(text string, u uses) {
	each(text, func(word string) {
		short, ok := c.stems[word]
		if !ok {
			short = strings.Clone(stem(word)) // else it would keep the whole file
			c.stems[word] = short
		}
		i, ok := c.at[short]
		if !ok {
			i = len(c.words)
			c.at[short], c.words, c.uses = i, append(c.words, short), append(c.uses, uses{})
		}
		c.uses[i].symbols += u.symbols
		c.uses[i].text += u.text
		c.length++
	})
}

// part gathers the words of chunks until they are written.
type part struct {
	first   int64 // chunk
	lengths []byte
	dirs    []byte
	dir     string // of the last run
	run     uint64
	words   map[string]*wordPlaces
}

type wordPlaces struct {
	last int64
	text []byte
}

func (p *part) add(chunk int64, dir string, c counted) {
	if p.words == nil {
		p.first, p.dir, p.words = chunk, dir, map[string]*wordPlaces{}
	}
	if dir != p.dir {
		p.endRun()
		p.dir = dir
	}
	p.run++
	p.lengths = binary.AppendUvarint(p.lengths, uint64(c.length))
	for i, word := range c.words {
		at := p.words[word]
		if at == nil {
			at = &wordPlaces{last: p.first - 1}
			p.words[word] = at
		}
		u := c.uses[i]
		at.text = binary.AppendUvarint(at.text, uint64(chunk-at.last))
		at.text = binary.AppendUvarint(at.text, uint64(u.text)*4+uint64(min(u.symbols, manySymbols)))
		if u.symbols >= manySymbols {
			at.text = binary.AppendUvarint(at.text, uint64(u.symbols))
		}
		at.last = chunk
	}
}

func (p *part) endRun() {
	p.dirs = binary.AppendUvarint(p.dirs, p.run)
	p.dirs = binary.AppendUvarint(p.dirs, uint64(len(p.dir)))
	p.dirs = append(p.dirs, p.dir...)
	p.run = 0
}

// write keeps a part, unless it is empty.
func (p *part) write(ctx context.Context, tx *sql.Tx) error {
	if p.words == nil {
		return nil
	}
	p.endRun()
	if _, err := tx.ExecContext(ctx, "INSERT INTO parts VALUES(?, ?, ?)", p.first, p.lengths, p.dirs); err != nil {
		return err
	}
	put, err := tx.PrepareContext(ctx, "INSERT INTO words VALUES(?, ?, ?)")
	if err != nil {
		return err
	}
	for _, word := range slices.Sorted(maps.Keys(p.words)) {
		if _, err := put.ExecContext(ctx, word, p.first, p.words[word].text); err != nil {
			return errors.Join(err, put.Close())
		}
	}
	return put.Close()
}
