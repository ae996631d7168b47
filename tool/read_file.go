package tool

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/search"
)

//go:embed read_file.md
var readFileText string

var readFile = builtin{
	Tool: utp.Tool{
		Name: "read_file", Tier: utp.TierWalk, Description: readFileText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, relative to the top of the repository"},` +
			`"max_lines":{"type":"integer","description":"How many lines to return at most","default":200},` +
			`"start_line":{"type":"integer","description":"The first line to return, counted from 1","default":1}},` +
			`"required":["path"]}`),
	},
	run: with((*Set).readFile), sensitive: sensitiveReads,
}

const defaultLines = 200

type readArgs struct {
	Path      string `json:"path"`
	MaxLines  int    `json:"max_lines"`
	StartLine int    `json:"start_line"`
}

func (s *Set) readFile(ctx context.Context, a readArgs) (string, error) {
	if a.Path == "" {
		return "", missing("path")
	}
	if a.MaxLines <= 0 {
		a.MaxLines = defaultLines
	}
	at, err := s.toRead(ctx, a.Path)
	if err != nil {
		return "", err
	}
	f, _, err := s.open(ctx, at)
	if err != nil {
		return "", err
	}
	defer f.Close()
	p := page{start: max(a.StartLine, 1), lines: a.MaxLines, room: s.config.MaxResult - len(at.given) - 200}
	whole := sha256.New()
	if err := p.fill(ctx, io.TeeReader(f, whole)); err != nil {
		return "", s.explain(ctx, at, err)
	}
	s.seen.noteSum(at.real, [sha256.Size]byte(whole.Sum(nil)))
	return p.text(at.given)
}

// page is a range of the lines of a file, as far as there is room.
type page struct {
	start, lines int
	room         int // bytes

	kept  []string
	cut   bool // the room was used up
	total int  // lines of the file
}

// fill reads to the end of the file, to count its lines.
func (p *page) fill(ctx context.Context, r io.Reader) error {
	b := bufio.NewReaderSize(r, 64<<10)
	if head, err := b.Peek(8000); search.Binary(head) {
		return search.ErrBinary
	} else if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for {
		line, n, err := readLine(b, max(p.room, 0)+1)
		if n > 0 {
			p.total++
			p.keep(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line of any length and keeps at most limit bytes of it. n
// is its whole length.
func readLine(b *bufio.Reader, limit int) (line []byte, n int, err error) {
	for {
		piece, err := b.ReadSlice('\n')
		n += len(piece)
		line = append(line, piece[:min(len(piece), max(limit-len(line), 0))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, n, err
		}
	}
}

func (p *page) keep(line []byte) {
	if p.total < p.start || p.total-p.start >= p.lines || p.cut {
		return
	}
	text := strings.ToValidUTF8(strings.TrimSuffix(string(line), "\n"), "\uFFFD")
	if len(text)+1 > p.room {
		p.cut = true
		if len(p.kept) > 0 {
			return
		}
		text = cutText(text, p.room) + " [...line truncated...]"
	}
	p.room -= len(text) + 1
	p.kept = append(p.kept, text)
}

func (p *page) text(name string) (string, error) {
	if p.total == 0 {
		return name + ": empty file", nil
	}
	if p.start > p.total {
		return "", fail("start_line %d is beyond the end: %s has %d lines", p.start, name, p.total)
	}
	last := p.start + len(p.kept) - 1
	text := fmt.Sprintf("%s: lines %d-%d of %d\n%s", name, p.start, last, p.total, strings.Join(p.kept, "\n"))
	if more := p.total - last; more > 0 {
		text += fmt.Sprintf("\n[...truncated, %d more lines...] start_line=%d reads on", more, last+1)
	}
	return text, nil
}
