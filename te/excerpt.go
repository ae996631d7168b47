package te

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLine is the longest line of an excerpt, in bytes; the rest becomes "…".
const maxLine = 2000

// Excerpt writes the envelope of a text that is longer than budget bytes: its
// beginning, its end, and in between the lines of interest, which count from
// 0. Where lines are missing a breadcrumb says which. Lines that fit are as
// they were, but for one that could pass for a part of an envelope, which gets
// a backslash before it.
func Excerpt(m Meta, text string, interest []int, budget int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	m.Truncated = true
	m.Lines, m.Size = len(lines), int64(len(text))
	m.ContentType = cmp.Or(m.ContentType, ContentType("", text[:min(len(text), 4096)]))
	room := max(budget-len(m.String())-200, 200)
	return m.String() + pick(lines, interest, room).text(lines)
}

// kept says of each line whether it is shown.
type kept []bool

// pick keeps lines from both ends for half of the room, or all of it if none is
// of interest, and those of interest with a line on both sides.
func pick(lines []string, interest []int, room int) kept {
	k := make(kept, len(lines))
	ends := room
	if len(interest) > 0 {
		ends = room / 2
		room -= ends
		for _, i := range interest {
			for _, near := range []int{i, i - 1, i + 1} {
				if near < 0 || near >= len(lines) || k[near] {
					continue
				}
				if room -= cost(lines[near]); room < 0 {
					break
				}
				k[near] = true
			}
		}
	}
	head, tail := ends/2, ends-ends/2
	for i := 0; i < len(lines); i++ {
		if head -= cost(lines[i]); head < 0 && i > 0 {
			break
		}
		k[i] = true
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if tail -= cost(lines[i]); tail < 0 {
			break
		}
		k[i] = true
	}
	return k
}

func cost(line string) int { return min(len(line), maxLine) + 2 }

func (k kept) text(lines []string) string {
	var b strings.Builder
	for i := 0; i < len(lines); i++ {
		if k[i] {
			b.WriteString(shown(lines[i]) + "\n")
			continue
		}
		end := i
		for end < len(lines) && !k[end] {
			end++
		}
		fmt.Fprintf(&b, "%s%s left out\n", crumb, span(i+1, end))
		i = end - 1
	}
	return b.String()
}

func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d-%d", from, to)
}

// shown is a line of an excerpt.
func shown(line string) string {
	if len(line) > maxLine {
		cut := maxLine
		for cut > 0 && !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut] + "…"
	}
	if slices.ContainsFunc([]string{crumb, strings.TrimSpace(begin), strings.TrimSpace(end), errorMark}, func(mark string) bool {
		return strings.HasPrefix(line, mark)
	}) {
		line = `\` + line
	}
	return line
}

// Chunk is the nth piece of a text, counted from 1, in pieces of whole lines
// of at most size bytes; a longer line makes pieces of its own. of is how many
// there are. An n out of range has no text.
func Chunk(text string, size, n int) (chunk string, of int) {
	for rest := text; rest != "" || of == 0; {
		cut := piece(rest, max(size, 1))
		if of++; of == n {
			chunk = rest[:cut]
		}
		rest = rest[cut:]
	}
	return chunk, of
}

func piece(text string, size int) int {
	if len(text) <= size {
		return len(text)
	}
	if i := strings.LastIndexByte(text[:size], '\n'); i >= 0 {
		return i + 1
	}
	for size > 1 && !utf8.RuneStart(text[size]) {
		size--
	}
	return size
}
