package markdown

import (
	"regexp"
	"strings"
	"sync"
)

// ruler is the line below the head of a table.
var ruler = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-*:?[ \t]*$`)
})

// tables renders the table that has ended here, if one has: with its columns
// aligned, or where it is too wide as a list of its rows.
func (w *Writer) tables() {
	lines := w.table
	w.table = nil
	if len(lines) == 0 {
		return
	}
	if len(lines) < 2 || !ruler().MatchString(lines[1]) || !strings.Contains(lines[1], "-") {
		for _, line := range lines {
			w.inline(w.begin(line), true)
			w.finish()
		}
		return
	}
	t := table{right: rights(cellsOf(lines[1]))}
	for i, line := range lines {
		if i != 1 {
			t.add(w, cellsOf(line), i == 0)
		}
	}
	if t.width() < w.columns() {
		t.print(w)
		return
	}
	t.list(w)
}

// table is its cells, rendered.
type table struct {
	rows  [][]shown
	wide  []int // of its columns
	right []bool
}

type shown struct {
	text  string // with styles
	width int
	raw   string
}

func (t *table) add(w *Writer, texts []string, head bool) {
	var row []shown
	for i, text := range texts {
		cell := Writer{}
		if head {
			cell.style = bold
		}
		cell.wrap.begin(0, "")
		cell.before = ' '
		cell.inline(text, true)
		cell.wrap.put()
		row = append(row, shown{cell.wrap.out.String(), cell.wrap.at, text})
		if i == len(t.wide) {
			t.wide = append(t.wide, 0)
		}
		t.wide[i] = max(t.wide[i], cell.wrap.at)
	}
	t.rows = append(t.rows, row)
}

// between stands between two columns.
const between = "  "

func (t *table) width() (sum int) {
	for _, n := range t.wide {
		sum += n + len(between)
	}
	return sum - len(between)
}

func (t *table) print(w *Writer) {
	for i, row := range t.rows {
		var b strings.Builder
		for c, cell := range row {
			pad := strings.Repeat(" ", t.wide[c]-cell.width)
			if c < len(t.right) && t.right[c] {
				b.WriteString(pad + cell.text)
			} else {
				b.WriteString(cell.text + pad)
			}
			b.WriteString(between)
		}
		w.wrap.out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
		if i == 0 {
			var rules []string
			for _, n := range t.wide {
				rules = append(rules, strings.Repeat("─", n))
			}
			w.wrap.out.WriteString(styled(dim, strings.Join(rules, between)) + "\n")
		}
	}
}

// list prints each row as lines "column: cell".
func (t *table) list(w *Writer) {
	for i, row := range t.rows[1:] {
		if i > 0 {
			w.wrap.newline()
		}
		for c, cell := range row {
			if cell.raw == "" {
				continue
			}
			w.open("    ")
			if c < len(t.rows[0]) && t.rows[0][c].raw != "" {
				w.wrap.text(bold, t.rows[0][c].raw+":")
				w.wrap.text("", " ")
			}
			w.inline(cell.raw, true)
			w.finish()
		}
	}
}

func rights(marks []string) (out []bool) {
	for _, m := range marks {
		out = append(out, strings.HasSuffix(m, ":") && !strings.HasPrefix(m, ":"))
	}
	return out
}

// cellsOf splits a row of a table at the bars that are neither escaped nor code.
func cellsOf(line string) (out []string) {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	from, code := 0, false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '`':
			code = !code
		case line[i] == '|' && !code:
			out = append(out, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(line[min(from, len(line)):]); last != "" {
		out = append(out, last)
	}
	return out
}
