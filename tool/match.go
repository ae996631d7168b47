package tool

import (
	"fmt"
	"slices"
	"strings"
)

// replacement is one text for another in a file.
type replacement struct {
	Old *string `json:"old_text"`
	New *string `json:"new_text"`
	All bool    `json:"replace_all"`
}

// row is a line of a file: its text, and the line end as it stands there.
type row struct{ text, end string }

func rows(src string) (out []row) {
	for line := range strings.Lines(src) {
		text := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if !strings.HasSuffix(line, "\n") {
			text = line
		}
		out = append(out, row{text, line[len(text):]})
	}
	return out
}

func joined(rs []row) string {
	var b strings.Builder
	for _, r := range rs {
		b.WriteString(r.text + r.end)
	}
	return b.String()
}

// lineEnd is how most lines of a text end.
func lineEnd(src string) string {
	if dos := strings.Count(src, "\r\n"); dos > 0 && 2*dos >= strings.Count(src, "\n") {
		return "\r\n"
	}
	return "\n"
}

// withEnds is a text whose lines end in end.
func withEnds(text, end string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if end == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", end)
}

// like is new content for a file in the file's own line ends and with its mark
// of the byte order. Content that has line ends of its own choice keeps them.
func like(src, content string) string {
	const mark = "\uFEFF"
	if lineEnd(src) == "\r\n" && !strings.Contains(content, "\r\n") {
		content = withEnds(content, "\r\n")
	}
	if strings.HasPrefix(src, mark) && !strings.HasPrefix(content, mark) {
		content = mark + content
	}
	return content
}

// How much two texts may differ and still be the same lines, least first.
type likeness int

const (
	exactly    likeness = iota
	trailing            // but for white space at the ends of lines
	indented            // but for indentation too
	unspaced            // but for blank lines too
	likenesses = unspaced + 1
)

func (l likeness) String() string {
	return [...]string{"", "white space at the ends of lines left aside", "indentation left aside", "indentation and blank lines left aside"}[l]
}

func (l likeness) same(a, b string) bool {
	switch l {
	case exactly:
		return a == b
	case trailing:
		return strings.TrimRight(a, " \t") == strings.TrimRight(b, " \t")
	}
	return strings.TrimSpace(a) == strings.TrimSpace(b)
}

// stretch is a run of lines of a file that is like the lines looked for.
type stretch struct {
	from, to int         // rows
	pairs    [][2]string // lines looked for, lines that are there
}

// find lists where lines stand in a file, from row start on.
func (l likeness) find(file []row, want []string, start int) (out []stretch) {
	if l >= indented && blank(want) {
		return nil
	}
	for i := start; i < len(file); i++ {
		if s, ok := l.at(file, want, i); ok {
			out = append(out, s)
		}
	}
	return out
}

func (l likeness) at(file []row, want []string, i int) (s stretch, ok bool) {
	s.from = i
	for _, w := range want {
		if l == unspaced {
			if strings.TrimSpace(w) == "" {
				continue
			}
			for len(s.pairs) > 0 && i < len(file) && strings.TrimSpace(file[i].text) == "" {
				i++
			}
		}
		if i >= len(file) || !l.same(file[i].text, w) {
			return s, false
		}
		s.pairs = append(s.pairs, [2]string{w, file[i].text})
		i++
	}
	s.to = i
	return s, len(s.pairs) > 0
}

func blank(lines []string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return false
		}
	}
	return true
}

func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// reindent moves new lines as the lines found are moved against those looked
// for. One that was looked for too stands where it was found.
func (s stretch) reindent(lines []string) []string {
	out, near := make([]string, len(lines)), 0
	for i, line := range lines {
		out[i] = line
		if strings.TrimSpace(line) == "" {
			continue
		}
		in := indent(line)
		if at := slices.IndexFunc(s.pairs[near:], func(p [2]string) bool { return trailing.same(p[0], line) }); at >= 0 {
			near += at
			out[i] = indent(s.pairs[near][1]) + line[len(in):]
			continue
		}
		out[i] = s.indentation(in, near) + line[len(in):]
	}
	return out
}

// indentation is what an indentation of the lines looked for is in the file:
// that of the line next to near which has it, else the nearest one below it and
// what is more.
func (s stretch) indentation(in string, near int) string {
	best, at, unit := -1, 0, 0
	for i, p := range s.pairs {
		was, is := indent(p[0]), indent(p[1])
		if strings.TrimSpace(p[0]) == "" {
			continue
		}
		if n := strings.Count(is, "\t"); n > 0 && n == len(is) && strings.Trim(was, " ") == "" && len(was)%n == 0 {
			unit = max(unit, len(was)/n)
		}
		if strings.HasPrefix(in, was) && (len(was) > best || len(was) == best && away(i, near) < away(at, near)) {
			best, at = len(was), i
		}
	}
	if best < 0 {
		return in
	}
	more := in[best:]
	if unit > 0 && strings.Trim(more, " ") == "" && len(more)%unit == 0 {
		more = strings.Repeat("\t", len(more)/unit)
	}
	return indent(s.pairs[at][1]) + more
}

// replaced is a text after a replacement, where that begins, how many places it
// changed, and what was left aside to find them.
type replaced struct {
	text  string
	line  int
	count int
	aside likeness
}

// replace looks for the old text as it stands, then with the file's line ends,
// then line by line with less and less of the white space.
func (r replacement) replace(src, name string) (replaced, error) {
	end := lineEnd(src)
	fresh := *r.New
	if strings.Contains(src, "\n") {
		fresh = withEnds(fresh, end)
	}
	for _, old := range []string{*r.Old, withEnds(*r.Old, end)} {
		n := occurrences(src, old)
		switch {
		case n == 0:
			continue
		case n > 1 && !r.All:
			return replaced{}, ambiguous(n, name, exactly)
		}
		line := strings.Count(src[:strings.Index(src, old)], "\n") + 1
		return replaced{strings.ReplaceAll(src, old, fresh), line, strings.Count(src, old), exactly}, nil
	}
	return r.replaceLines(src, name, end)
}

func (r replacement) replaceLines(src, name, end string) (replaced, error) {
	file, want, with := rows(src), textLines(*r.Old), textLines(*r.New)
	for l := trailing; l < likenesses; l++ {
		found := l.find(file, want, 0)
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1 && !r.All:
			return replaced{}, ambiguous(len(found), name, l)
		}
		out, done := []row{}, 0
		n := 0
		for _, s := range found {
			if s.from < done {
				continue
			}
			lines := with
			if l >= indented {
				lines = s.reindent(with)
			}
			out = append(append(out, file[done:s.from]...), filled(lines, file[s.from:s.to], end)...)
			done, n = s.to, n+1
		}
		return replaced{joined(append(out, file[done:]...)), found[0].from + 1, n, l}, nil
	}
	return replaced{}, notThere(file, want, name)
}

// textLines are the lines of a text without the blank ones at both ends; none
// of an empty text.
func textLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.Split(text, "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// filled are lines in the place of others; the last ends as the last did.
func filled(lines []string, old []row, end string) []row {
	out := make([]row, len(lines))
	for i, l := range lines {
		out[i] = row{l, end}
	}
	if len(out) > 0 && len(old) > 0 {
		out[len(out)-1].end = old[len(old)-1].end
	}
	return out
}

func ambiguous(n int, name string, l likeness) error {
	aside := ""
	if l != exactly {
		aside = ", " + l.String()
	}
	return fail("Expected 1 match, found %d%s: %s. Include more surrounding lines in old_text, or set replace_all", n, aside, name)
}

// notThere says where the file comes nearest to what was looked for.
func notThere(file []row, want []string, name string) error {
	text := fmt.Sprintf("Text not found in file: %s", name)
	if len(want) == 0 {
		return failure(text + ". old_text is blank")
	}
	best, length := -1, 0
	for i := range file {
		n := 0
		for n < len(want) && i+n < len(file) && indented.same(file[i+n].text, want[n]) {
			n++
		}
		if n > length && strings.TrimSpace(want[0]) != "" {
			best, length = i, n
		}
	}
	switch {
	case best < 0:
		return fail("%s. Not even its first line %s is there: read the file again", text, quotedLine(want[0]))
	case best+length >= len(file):
		return fail("%s. The lines from %d on are like it, but the file ends before %s", text, best+1, quotedLine(want[length]))
	}
	return fail("%s. The lines from %d on are like it, but line %d is %s and old_text has %s", text,
		best+1, best+length+1, quotedLine(file[best+length].text), quotedLine(want[length]))
}

func quotedLine(s string) string { return fmt.Sprintf("%q", cutText(strings.TrimSpace(s), 80)) }
