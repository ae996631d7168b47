package contract

import (
	"fmt"
	"regexp"
	"strings"
)

// Row is one requirement.
type Row struct {
	ID      string
	Group   string   // the heading it stands under
	Text    string   // what must hold
	ShownBy []string // rows whose tests count for it too
}

var rowID = regexp.MustCompile(`^(?:[A-Z]{1,3}-[0-9]+|UAT-[0-9A-Z.]+)$`)

// Rows reads a page of requirements: headings of the second level, and under
// them tables whose first cell is an id, the second what must hold, and an
// optional third the ids that show it.
func Rows(page string) (rows []Row, err error) {
	group, seen := "", map[string]bool{}
	for line := range strings.Lines(page) {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			group = strings.TrimSpace(h)
		}
		cells := cells(line)
		if len(cells) < 2 || !rowID.MatchString(cells[0]) {
			continue
		}
		r := Row{ID: cells[0], Group: group, Text: cells[1]}
		if len(cells) > 2 {
			r.ShownBy = strings.Fields(cells[2])
		}
		if seen[r.ID] {
			return nil, fmt.Errorf("contract: %s stands there twice: give the second row an id of its own", r.ID)
		}
		seen[r.ID] = true
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("contract: the page holds no row: want lines like | P-01 | what must hold |")
	}
	return rows, nil
}

func cells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	return cells
}
