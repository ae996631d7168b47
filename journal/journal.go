// Package journal keeps events on the disk: one JSON line each, appended in one
// write to a segment, a file of one program and one day. Readers add up the
// segments, each event by its segment and offset, so that none is counted twice.
//
// A process that is killed loses nothing that it had written. A line that was
// cut off spoils no other: what follows it on the same line is found again.
package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/record"
)

// Segment is a file of events.
type Segment struct {
	Name    string // of the file; no two segments ever have the same
	Program string
	Day     string // 2026-11-23, in UTC
	Size    int64  // bytes
}

const extension = ".jsonl"

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func pathOf(dir, name string) string { return filepath.Join(dir, name) }

// newName names a segment: its program, its day, when it began, and by the clock
// and the process a word that no other has.
func newName(program, day string, now time.Time) string {
	word := strconv.FormatInt(time.Now().UnixNano(), 36) + "." + strconv.Itoa(os.Getpid())
	return program + "-" + day + "-" + now.UTC().Format("150405") + "-" + word + extension
}

// parseName is the reverse of newName.
func parseName(name string) (s Segment, ok bool) {
	base, ok := strings.CutSuffix(name, extension)
	parts := strings.Split(base, "-")
	if !ok || len(parts) != 6 {
		return s, false
	}
	return Segment{Name: name, Program: parts[0], Day: strings.Join(parts[1:4], "-")}, true
}

// List gives the segments of a directory, the oldest first. A directory that is
// not there has none.
func List(dir string) ([]Segment, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var out []Segment
	for _, e := range entries {
		s, ok := parseName(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // removed meanwhile
		}
		s.Size = info.Size()
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Segment) int { return strings.Compare(began(a), began(b)) })
	return out, nil
}

// began orders segments: by day and time, then by program.
func began(s Segment) string { return strings.TrimPrefix(s.Name, s.Program) + s.Program }

// Read gives the events of a segment from an offset on, each with the offset at
// which its line ends, to each; it ends early if that says false. next is where
// to go on later: behind the last whole line that each took. A last line without
// an end is left for later.
func Read(dir, segment string, from int64, each func(end int64, e record.Event) bool) (next int64, skipped record.Skipped, err error) {
	f, err := os.Open(pathOf(dir, segment))
	if err != nil {
		return from, skipped, fmt.Errorf("journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return from, skipped, fmt.Errorf("journal: %s: %w", segment, err)
	}
	r := bufio.NewReaderSize(f, 64<<10)
	next = from
	var line []byte
	for {
		n, whole, err := readLine(r, &line)
		if err != nil && !errors.Is(err, io.EOF) {
			return next, skipped, fmt.Errorf("journal: %s: %w", segment, err)
		}
		if !whole {
			return next, skipped, nil
		}
		end := next + n
		e, broken := decode(line, &skipped)
		skipped.Broken += broken
		if e != nil && !each(end, e) {
			return next, skipped, nil
		}
		next = end
	}
}

// readLine reads a line of n bytes. Of a line that is too long for an event it
// keeps the last part, which may be one.
func readLine(r *bufio.Reader, line *[]byte) (n int64, whole bool, err error) {
	*line = (*line)[:0]
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		*line = append(*line, part...)
		if over := len(*line) - record.MaxLine; over > 0 {
			*line = append((*line)[:0], (*line)[over:]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err == nil, err
		}
	}
}

// begin is how each line begins. Inside a line it stands nowhere: texts have
// their quotes escaped.
var begin = []byte(`{"v":`)

// decode reads a line, which may begin with the rest of one that was cut off.
// broken counts what was cut off.
func decode(line []byte, skipped *record.Skipped) (e record.Event, broken int) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, 0
	}
	e, err := record.Decode(line)
	if err == nil {
		return e, 0
	}
	if at := bytes.LastIndex(line, begin); at > 0 {
		broken = bytes.Count(line[:at], begin)
		if broken == 0 {
			broken = 1
		}
		if e, err = record.Decode(line[at:]); err == nil {
			return e, broken
		}
	}
	skipped.Note(err)
	return nil, broken
}
