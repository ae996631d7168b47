package contract

import (
	"regexp"
	"strings"
)

var (
	// tagLine names rows, in any of the comment forms (Go, txtar, script).
	tagLine = regexp.MustCompile(`^\s*(?://|#)?\s*contract:\s*(.*)$`)
	// short is an acceptance id without its prefix: 4.1, C3.
	short = regexp.MustCompile(`^([45]\.[0-9]+|[CIN][0-9])$`)
	// digit ends an id that lacks its leading zero: P-8.
	digit = regexp.MustCompile(`-([0-9])$`)
)

// Tags lists the ids that the "contract:" lines of a comment name, in order,
// each once. Commas between ids are allowed; "4.1" and "C3" are UAT-4.1 and
// UAT-C3, and "P-8" is P-08.
func Tags(comment string) (ids []string) {
	for line := range strings.Lines(comment) {
		if m := tagLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			ids = append(ids, strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })...)
		}
	}
	return once(ids)
}

func once(ids []string) (out []string) {
	seen := map[string]bool{}
	for _, id := range ids {
		if short.MatchString(id) {
			id = "UAT-" + id
		}
		id = digit.ReplaceAllString(id, "-0$1")
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
