package tool

import (
	"regexp"
	"strconv"
	"strings"
)

// What a patch does to a file.
const (
	updating = iota
	adding
	deleting
)

// filePatch is the part of a patch that is about one file.
type filePatch struct {
	what  int
	path  string
	to    string // the file is moved there too
	hunks []hunk
}

// hunk is one change of a file, found by its lines.
type hunk struct {
	below []string // lines that the change stands below, outermost first
	line  int      // where a unified diff says that it begins; 0 is not said
	lines []string // each with its mark " ", "-" or "+"
	end   bool     // it ends at the end of the file
}

// readPatch reads the form of "*** Begin Patch", or a unified diff.
func readPatch(text string) (files []filePatch, err error) {
	r := patchReader{}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i := 0; i < len(lines); i++ {
		if from, to, ok := diffHeader(lines, i); ok && !r.inDiffHunk() {
			r.diffFile(from, to)
			i++
			continue
		}
		if err := r.line(lines[i], i+1); err != nil {
			return nil, err
		}
	}
	for _, f := range r.files {
		if f.what == updating && f.to == "" && len(f.hunks) == 0 {
			return nil, fail("the patch changes nothing in %s: want a hunk below its header", printable(f.path))
		}
	}
	if len(r.files) == 0 {
		return nil, fail(`the patch names no file: want "*** Begin Patch", then "*** Update File: PATH" and hunks, then "*** End Patch"`)
	}
	return r.files, nil
}

type patchReader struct {
	files []filePatch
	left  [2]int // lines of the old and of the new file that the hunk of a unified diff still has
	diff  bool   // the file's header was that of a unified diff
}

// inDiffHunk reports whether the hunk of a unified diff wants more lines, so
// that "--- x" takes a line "-- x" away.
func (r *patchReader) inDiffHunk() bool { return r.left[0] > 0 || r.left[1] > 0 }

// diffHeader reads "--- a/x" and "+++ b/x".
func diffHeader(lines []string, i int) (from, to string, ok bool) {
	from, ok1 := strings.CutPrefix(lines[i], "--- ")
	if !ok1 || i+1 >= len(lines) {
		return "", "", false
	}
	to, ok = strings.CutPrefix(lines[i+1], "+++ ")
	return diffPath(from, "a/"), diffPath(to, "b/"), ok
}

// diffPath is a path of a header, without its prefix and the time behind a tab.
func diffPath(s, prefix string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if s == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(s, prefix)
}

func (r *patchReader) diffFile(from, to string) {
	f := filePatch{path: from}
	switch {
	case from == "":
		f = filePatch{what: adding, path: to}
	case to == "":
		f.what = deleting
	case from != to:
		f.to = to
	}
	r.files, r.diff = append(r.files, f), true
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$`)

func (r *patchReader) line(l string, n int) error {
	for _, h := range []struct {
		mark string
		what int
	}{{"*** Update File:", updating}, {"*** Add File:", adding}, {"*** Delete File:", deleting}} {
		if p, ok := strings.CutPrefix(l, h.mark); ok {
			r.files, r.left, r.diff = append(r.files, filePatch{what: h.what, path: strings.TrimSpace(p)}), [2]int{}, false
			return nil
		}
	}
	if r.diff && !r.inDiffHunk() && !strings.HasPrefix(l, "@@") && !strings.HasPrefix(l, `\`) {
		return nil // between the files of a diff
	}
	switch head := strings.TrimSpace(l); {
	case head == "*** Begin Patch", head == "*** End Patch", len(r.files) == 0:
		return nil
	}
	f := &r.files[len(r.files)-1]
	switch {
	case strings.HasPrefix(l, "*** Move to:"):
		f.to = strings.TrimSpace(strings.TrimPrefix(l, "*** Move to:"))
	case strings.HasPrefix(l, "*** End of File"):
		if len(f.hunks) > 0 {
			f.hunks[len(f.hunks)-1].end = true
		}
	case strings.HasPrefix(l, `\ No newline`):
	case strings.HasPrefix(l, "@@") && !r.inDiffHunk():
		r.head(f, l)
	default:
		return r.body(f, l, n)
	}
	return nil
}

// head begins a hunk. Several heads without lines between say where it stands.
func (r *patchReader) head(f *filePatch, l string) {
	h := hunk{}
	below := strings.TrimPrefix(strings.TrimPrefix(l, "@@"), " ")
	if m := hunkHead.FindStringSubmatch(l); m != nil {
		h.line, _ = strconv.Atoi(m[1])
		r.left = [2]int{count(m[2]), count(m[4])}
		below = ""
	} else {
		below = strings.TrimSuffix(below, " @@")
	}
	if n := len(f.hunks); n > 0 && len(f.hunks[n-1].lines) == 0 {
		h.below = f.hunks[n-1].below
		f.hunks = f.hunks[:n-1]
	}
	if strings.TrimSpace(below) != "" {
		h.below = append(h.below, below)
	}
	f.hunks = append(f.hunks, h)
}

func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// body adds a line to the hunk. A line without a mark is an empty one that stays.
func (r *patchReader) body(f *filePatch, l string, n int) error {
	if l == "" {
		l = " "
	}
	if !strings.Contains(" -+", l[:1]) {
		return fail("line %d of the patch begins with %q: want a blank, - or + before each line of a hunk", n, cutText(l, 40))
	}
	if f.what == deleting {
		return nil
	}
	if l[0] != '+' {
		r.left[0] = max(r.left[0]-1, 0)
	}
	if l[0] != '-' {
		r.left[1] = max(r.left[1]-1, 0)
	}
	if len(f.hunks) == 0 {
		f.hunks = append(f.hunks, hunk{})
	}
	h := &f.hunks[len(f.hunks)-1]
	h.lines = append(h.lines, l)
	return nil
}

// content is the text of a file that is added.
func (f filePatch) content() string {
	var b strings.Builder
	for _, h := range f.hunks {
		for _, l := range h.lines {
			if l[0] == '+' {
				b.WriteString(l[1:] + "\n")
			}
		}
	}
	return b.String()
}

// update is the text of a file after the hunks, and how little it was like them.
func (f filePatch) update(src, name string) (string, likeness, error) {
	file, end := rows(src), lineEnd(src)
	worst, next := exactly, 0
	for i, h := range f.hunks {
		place, l, ok := h.find(file, next)
		if !ok {
			return "", worst, h.lost(file, name, i+1)
		}
		worst = max(worst, l)
		fresh := h.fresh(file, place, l, end)
		rest := file[place.to:]
		file = append(append(file[:place.from:place.from], fresh...), rest...)
		next = place.from + len(fresh)
	}
	for i := range file[:max(len(file)-1, 0)] {
		if file[i].end == "" {
			file[i].end = end
		}
	}
	return joined(file), worst, nil
}

// old are the lines that a hunk takes to be in the file.
func (h hunk) old() (out []string) {
	for _, l := range h.lines {
		if l[0] != '+' {
			out = append(out, l[1:])
		}
	}
	return out
}

// find finds the place of a hunk from row next on: below the lines it names, at
// the line it names, or else the first one. A hunk that only adds goes behind
// the line it names, or to the end.
func (h hunk) find(file []row, next int) (stretch, likeness, bool) {
	for _, b := range h.below {
		at, ok := lineLike(file, b, next)
		if !ok {
			return stretch{}, exactly, false
		}
		next = at + 1
	}
	old := h.old()
	if len(old) == 0 {
		at := len(file)
		switch {
		case h.line > 0:
			at = min(max(h.line, next), len(file))
		case len(h.below) > 0:
			at = next
		}
		return stretch{from: at, to: at}, exactly, true
	}
	for l := exactly; l < likenesses; l++ {
		if found := l.find(file, old, next); len(found) > 0 {
			return h.nearest(found, len(file)), l, true
		}
	}
	return stretch{}, exactly, false
}

// lineLike finds a line, as it stands or else but for white space.
func lineLike(file []row, want string, from int) (int, bool) {
	for _, l := range []likeness{exactly, indented} {
		for i := from; i < len(file); i++ {
			if l.same(file[i].text, want) {
				return i, true
			}
		}
	}
	return 0, false
}

func (h hunk) nearest(found []stretch, rows int) stretch {
	best := found[0]
	for _, s := range found[1:] {
		switch {
		case h.end && s.to == rows, h.line > 0 && away(s.from, h.line-1) < away(best.from, h.line-1):
			best = s
		}
	}
	return best
}

func away(a, b int) int { return max(a-b, b-a) }

// fresh are the lines that stand where a hunk was found: those that stay are
// the file's own.
func (h hunk) fresh(file []row, s stretch, l likeness, end string) (out []row) {
	at := s.from
	for _, line := range h.lines {
		text := line[1:]
		switch {
		case line[0] == '+':
			if l >= indented {
				text = s.reindent([]string{text})[0]
			}
			out = append(out, row{text, end})
			continue
		case l == unspaced && strings.TrimSpace(text) == "":
			continue
		}
		for l == unspaced && strings.TrimSpace(file[at].text) == "" {
			out = append(out, file[at])
			at++
		}
		if line[0] == ' ' {
			out = append(out, file[at])
		}
		at++
	}
	return out
}

func (h hunk) lost(file []row, name string, n int) error {
	for _, b := range h.below {
		if _, ok := lineLike(file, b, 0); !ok {
			return fail("hunk %d does not fit %s: there is no line %s", n, name, quotedLine(b))
		}
	}
	return fail("hunk %d: %v", n, notThere(file, h.old(), name))
}
