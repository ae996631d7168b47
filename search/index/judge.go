package index

import (
	"context"
	"math"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/search/vector"
)

// judged is how many places, the best by their words, are read and judged by what
// they are about. The others are left out.
const judged = 150

// What the score of a place is multiplied by: e to the power of these times how
// near its parts are to the question, as cosines, and times how much of the
// question they have, as shares. Source: as of the weights of a file.
const (
	pathNear    = 0.7
	commentNear = 1.1
	codeNear    = 0.8
	defines     = 0.5 // added, if it defines something or is of a document

	nameHas   = 0.5
	pathHas   = 0.75
	firstHas  = 1.0 // the lines with which its comments begin
	codeHas   = 0.3
	allHas    = 1.0
	typeWorth = -0.75 // added for a type: what does something is asked for more often than what it belongs to
	ownWorth  = -0.3  // added for a name that says it is nobody else's business, as _name
)

// firstLines is how many lines of comments, at most, say what a definition is for.
const firstLines = 3

// judge multiplies the scores of the best places by what their texts are about. It
// reads their files, one after another, and keeps none.
func (x *Index) judge(ctx context.Context, found []place, words []weighed) error {
	about := &vector.Vector{}
	for _, w := range words {
		about.Add(w.word, w.weight)
	}
	of := map[string][]int{} // the places of a file
	var files []string
	for i, p := range found {
		if of[p.path] == nil {
			files = append(files, p.path)
		}
		of[p.path] = append(of[p.path], i)
	}
	g, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		g.Go(func() error {
			q := newAsked(words)
			for i := w; i < len(files); i += workers {
				lines := x.lines(files[i])
				for _, at := range of[files[i]] {
					p := &found[at]
					p.score *= math.Exp(p.near(p.text(lines), about, q))
				}
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// text is the lines of a place, none if the file got shorter.
func (p *place) text(lines []string) []string {
	if p.end > len(lines) {
		return nil
	}
	return lines[p.start-1 : p.end]
}

// near tells how near a place is to what a question is about.
func (p *place) near(lines []string, about *vector.Vector, q *asked) (near float64) {
	ext := path.Ext(p.path)
	comments, code := prose(ext, lines)
	kind := search.KindOf(p.path)
	if kind != search.Code { // all of it is both
		comments, code = lines, lines
	}
	measure := func(cosine float64, text ...string) bits {
		t := q.tallied(text...)
		near += cosine * about.Cos(t.vector())
		return q.has(t)
	}
	here := measure(pathNear, strings.TrimSuffix(p.path, ext))
	says, does := measure(commentNear, comments...), measure(codeNear, code...)
	near += nameHas*q.share(q.has(q.tallied(p.symbols))) + pathHas*q.share(here) + allHas*q.share(says|does)
	if kind == search.Code {
		near += firstHas*q.share(q.has(q.tallied(first(comments)...))) + codeHas*q.share(does)
	}
	if p.symbols != "" || kind == search.Doc {
		near += defines
	}
	if n := p.line - p.start; !q.types && n >= 0 && n < len(lines) && isType(lines[n]) {
		near += typeWorth
	}
	if strings.HasPrefix(p.symbols[strings.LastIndexAny(p.symbols, " .")+1:], "_") {
		near += ownWorth
	}
	return near
}

// first are the lines with which comments begin.
func first(comments []string) (out []string) {
	for _, l := range comments {
		if strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
		if len(out) == firstLines {
			break
		}
	}
	return out
}

// isType reports whether a line begins the definition of a type or a class.
func isType(line string) bool {
	line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
	return strings.HasPrefix(line, "type ") || strings.HasPrefix(line, "class ")
}

// tallied counts the words of a text. The tally is good until the next.
func (q *asked) tallied(lines ...string) *tally {
	q.names.reset()
	q.parts.reset()
	add := func(name string) { q.names.add(name, 1) }
	for _, l := range lines {
		identifiers(l[:min(len(l), maxShown)], add)
	}
	for i, name := range q.names.words {
		identifier(name, func(w string) { q.parts.add(w, q.names.n[i]) })
	}
	return &q.parts
}

// vector is the sum of the words. One that comes often counts little more than one
// that comes once.
func (t *tally) vector() *vector.Vector {
	v := &vector.Vector{}
	for i, w := range t.words {
		v.Add(w, math.Log1p(float64(t.n[i])))
	}
	return v
}

// tally counts words in the order in which they come, so that sums of them are
// the same every time.
type tally struct {
	at    map[string]int
	words []string
	n     []int
}

func (t *tally) reset() {
	clear(t.at)
	t.words, t.n = t.words[:0], t.n[:0]
}

func (t *tally) add(word string, n int) {
	i, ok := t.at[word]
	if !ok {
		if t.at == nil {
			t.at = map[string]int{}
		}
		i = len(t.words)
		t.at[word], t.words, t.n = i, append(t.words, word), append(t.n, 0)
	}
	t.n[i] += n
}

// prose parts what the lines of a program say to people from what they do.
func prose(ext string, lines []string) (comments, code []string) {
	open := "" // what ends a docstring that has begun
	for _, l := range lines {
		text := strings.TrimLeft(l, " \t")
		mark := strings.TrimLeft(text, "rRuUbB")
		switch {
		case open != "":
			comments = append(comments, l)
			if strings.Contains(l, open) {
				open = ""
			}
		case ext == ".py" && (strings.HasPrefix(mark, `"""`) || strings.HasPrefix(mark, "'''")):
			comments = append(comments, l)
			if strings.Count(l, mark[:3]) < 2 {
				open = mark[:3]
			}
		case remark(text):
			comments = append(comments, l)
		default:
			does, says := trailing(l)
			comments, code = append(comments, says), append(code, does)
		}
	}
	return comments, code
}

// remark reports whether a line is a comment, of any language.
func remark(text string) bool {
	for _, mark := range [...]string{"//", "#", "/*", "*", "--", ";;"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// trailing cuts the comment behind code off a line.
func trailing(l string) (does, says string) {
	for _, mark := range [...]string{" // ", " # ", "\t// ", "\t# "} {
		if does, says, ok := strings.Cut(l, mark); ok {
			return does, says
		}
	}
	return l, ""
}

// lines are those of a file as it is now, none of one that is gone.
func (x *Index) lines(file string) []string {
	src, err := search.Read(x.root, file, search.DefaultMaxSize)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
}
