package te

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Envelope is an envelope read back.
type Envelope struct {
	Meta    Meta
	Matches []Match // Path, Line, Text and More; paths unquoted, texts as printed
	Counts  []Tally // of the files of which not all matches are shown; Dir is the file
	Omitted []Tally // the breadcrumbs; one for several directories has no Dir
	Text    string  // of an error, without its mark

	under string // the file whose heading stands above
}

var crumbLine = regexp.MustCompile(`^# TE: ([0-9]+) more in (.+)$`)

var otherDirs = regexp.MustCompile(`^[0-9]+ other directories$`)

var (
	headLine = regexp.MustCompile(`^(.+):(?: [0-9]+ of ([0-9]+))?$`)
	hitLine  = regexp.MustCompile(`^([0-9]+)([:-]) (.*)$`)
)

// Parse reads what Render, Preview and Fail write.
func Parse(s string) (Envelope, error) {
	var e Envelope
	body, ok := strings.CutPrefix(s, begin)
	line, rest, closed := strings.Cut(body, "\n"+end+"\n")
	if !ok || !closed || strings.Contains(line, "\n") {
		return e, fmt.Errorf("te: want a header: %q, one line of JSON, %q, an empty line", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	var h header
	if err := json.Unmarshal([]byte(line), &h); err != nil {
		return e, fmt.Errorf("te: header: %w", err)
	}
	if h.V != Version {
		return e, fmt.Errorf("te: header: version %d: want %d", h.V, Version)
	}
	e.Meta = h.meta()
	for i, l := range strings.Split(strings.TrimSuffix(rest, "\n"), "\n") {
		if err := e.line(l); err != nil {
			return e, fmt.Errorf("te: line %d: %w", i+5, err)
		}
	}
	return e, nil
}

func (e *Envelope) line(l string) error {
	if l == "" {
		return nil
	}
	if text, ok := strings.CutPrefix(l, errorMark); ok {
		e.Text = text
		return nil
	}
	if m := crumbLine.FindStringSubmatch(l); m != nil {
		return e.crumb(m[1], m[2])
	}
	if m := hitLine.FindStringSubmatch(l); m != nil && e.under != "" {
		return e.hit(e.under, m[1], m[2], m[3])
	}
	name, rest, err := splitPath(l)
	if err != nil {
		if m := headLine.FindStringSubmatch(l); m != nil {
			return e.heading(m[1], m[2])
		}
		return err
	}
	e.under = ""
	at := numbered.FindStringIndex(rest)
	return e.hit(name, rest[at[0]+1:at[1]-2], rest[at[0]:at[0]+1], rest[at[1]:])
}

// hit is a line of a file: a match if its mark is a colon, else one near it.
func (e *Envelope) hit(name, number, mark, text string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	found := Line{n, text}
	if mark == ":" {
		e.Matches = append(e.Matches, Match{Path: name, Line: found})
		return nil
	}
	if len(e.Matches) == 0 {
		if e.under == "" {
			return fmt.Errorf("line %d of %s: want a match before its further lines", n, name)
		}
		return nil // what leads to the first match
	}
	last := &e.Matches[len(e.Matches)-1]
	last.More = append(last.More, found)
	return nil
}

// heading begins the lines of a file.
func (e *Envelope) heading(name, of string) (err error) {
	if strings.HasPrefix(name, `"`) {
		if name, err = strconv.Unquote(name); err != nil {
			return err
		}
	}
	e.under = name
	if of == "" {
		return nil
	}
	n, err := strconv.Atoi(of)
	e.Counts = append(e.Counts, Tally{name, n})
	return err
}

func (e *Envelope) crumb(count, dir string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	if otherDirs.MatchString(dir) {
		dir = ""
	}
	if strings.HasPrefix(dir, `"`) {
		if dir, err = strconv.Unquote(dir); err != nil {
			return err
		}
	}
	e.Omitted = append(e.Omitted, Tally{dir, n})
	return nil
}

// splitPath cuts a line of content before the number.
func splitPath(l string) (name, rest string, err error) {
	from := 0
	if strings.HasPrefix(l, `"`) {
		q, err := strconv.QuotedPrefix(l)
		if err != nil {
			return "", "", fmt.Errorf("%q: path: %w", l, err)
		}
		from = len(q)
	}
	at := numbered.FindStringIndex(l[from:])
	if at == nil || from > 0 && at[0] > 0 || from+at[0] == 0 {
		return "", "", fmt.Errorf("%q: want path:LINE: text, path-LINE- text or a breadcrumb", l)
	}
	name, rest = l[:from+at[0]], l[from+at[0]:]
	if from > 0 {
		name, err = strconv.Unquote(name)
	}
	return name, rest, err
}
