package search

import (
	"path"
	"strings"
)

// The longest chunk, and how a longer one is cut: windows of cutSize lines
// that share cutOverlap. Text without definitions is cut in windows of
// textSize. All in lines.
const (
	maxChunk   = 120
	cutSize    = 80
	cutOverlap = 15
	textSize   = 60
)

// Chunk is a piece of a file that can be read by itself: a definition with the
// comments above it, a part of a long one, or a window of text. Lines count
// from 1 and End is the last. The chunks of a file are in order and cover it.
type Chunk struct {
	Path       string
	Start, End int
	Line       int      // where the definition itself begins, above Start for a further part of a long one; Start if there is none
	Symbols    []string // the names it defines; a method is Type.Method where that is known
	Kind       Kind
}

// Chunks cuts a file. A Go file is cut by its syntax, other programs at lines
// that look like definitions, the rest in windows.
func Chunks(name string, src []byte) []Chunk {
	lines := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
	kind := KindOf(name)
	var marks []mark
	switch {
	case kind != Code:
		marks = windows(len(lines))
	case path.Ext(name) == ".go":
		marks = goMarks(src)
	}
	if marks == nil {
		marks = lineMarks(lines)
	}
	return cut(name, kind, lines, marks)
}

// mark is a line at which a chunk begins. The chunk ends before the next one.
type mark struct {
	start   int // with comments
	line    int // the definition itself
	symbols []string
}

func windows(n int) []mark {
	marks := []mark{}
	for at := 1; at <= n; at += textSize {
		marks = append(marks, mark{start: at, line: at})
	}
	return marks
}

func lineMarks(lines []string) (marks []mark) {
	floor := 1
	for i, l := range lines {
		name, ok := Definition(l)
		if !ok {
			continue
		}
		start := i + 1
		for start > floor && comment.MatchString(lines[start-2]) {
			start--
		}
		marks = append(marks, mark{start, i + 1, []string{name}})
		floor = i + 2
	}
	return marks
}

// cut makes chunks of the lines between marks, the first from line 1.
func cut(name string, kind Kind, lines []string, marks []mark) (out []Chunk) {
	if len(marks) == 0 || marks[0].start > 1 {
		marks = append([]mark{{start: 1, line: 1}}, marks...)
	}
	for i, m := range marks {
		end := len(lines)
		if i+1 < len(marks) {
			end = marks[i+1].start - 1
		}
		start, end := trim(lines, m.start, end)
		if start <= end {
			out = append(out, Chunk{name, start, end, max(m.line, start), m.symbols, kind}.split()...)
		}
	}
	return out
}

// trim leaves out blank lines at both ends.
func trim(lines []string, start, end int) (int, int) {
	for start <= end && strings.TrimSpace(lines[start-1]) == "" {
		start++
	}
	for start <= end && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	return start, end
}

func (c Chunk) split() (out []Chunk) {
	if c.End-c.Start < maxChunk {
		return []Chunk{c}
	}
	for start := c.Start; ; start += cutSize - cutOverlap {
		w := c
		w.Start, w.End = start, min(start+cutSize-1, c.End)
		if len(w.Symbols) == 0 && (w.Line < w.Start || w.Line > w.End) {
			w.Line = w.Start
		}
		out = append(out, w)
		if w.End == c.End {
			return out
		}
	}
}
