package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

//go:embed read_result.md
var readResultText string

var readResult = builtin{
	Tool: utp.Tool{
		Name: "read_result", Tier: utp.TierCrawl, Description: readResultText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"handle":{"type":"string","description":"The handle, as res_0123456789ab"},` +
			`"chunk":{"type":"integer","description":"Which piece of the whole result, counted from 1","default":1},` +
			`"lines":{"type":"string","description":"Only these lines of the whole result, as 120-180"}},` +
			`"required":["handle"]}`),
	},
	run: with((*Set).readResult),
}

type resultArgs struct {
	Handle string `json:"handle"`
	Chunk  int    `json:"chunk"`
	Lines  string `json:"lines"`
}

func (s *Set) readResult(_ context.Context, a resultArgs) (string, error) {
	if a.Handle == "" {
		return "", missing("handle")
	}
	text, _, err := s.results.Get(s.real, a.Handle)
	if err != nil {
		return "", fail("%s: %v", printable(a.Handle), handle.ErrNone)
	}
	room := max(s.config.MaxResult-200, 100)
	if a.Lines != "" {
		return someLines(a.Handle, text, a.Lines, room)
	}
	chunk, of := te.Chunk(text, room, max(a.Chunk, 1))
	if a.Chunk > of {
		return "", fail("chunk %d: the result has %d", a.Chunk, of)
	}
	head := fmt.Sprintf("%s: chunk %d of %d\n", a.Handle, max(a.Chunk, 1), of)
	if next := max(a.Chunk, 1) + 1; next <= of {
		return fmt.Sprintf("%s%s\n[...chunk=%d reads on...]", head, strings.TrimSuffix(chunk, "\n"), next), nil
	}
	return head + chunk, nil
}

var lineSpan = regexp.MustCompile(`^\s*(\d+)(?:\s*[-:,]\s*(\d+))?\s*$`)

// someLines are lines of a result, as far as there is room.
func someLines(name, text, span string, room int) (string, error) {
	m := lineSpan.FindStringSubmatch(span)
	if m == nil {
		return "", fail("argument 'lines' is %s: want lines such as 120-180", printable(span))
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	from, err := strconv.Atoi(m[1])
	to := from
	if err == nil && m[2] != "" {
		to, err = strconv.Atoi(m[2])
	}
	if err != nil || from < 1 || to < from || from > len(lines) {
		return "", fail("lines %s: the result has lines 1-%d", span, len(lines))
	}
	to = min(to, len(lines))
	kept := cutText(strings.Join(lines[from-1:to], "\n"), room)
	last := from + strings.Count(kept, "\n")
	out := fmt.Sprintf("%s: lines %d-%d of %d\n%s", name, from, last, len(lines), kept)
	if last < to {
		out += fmt.Sprintf("\n[...truncated, %d more lines...] lines=%d-%d reads on", to-last, last+1, to)
	}
	return out, nil
}

// keep puts a whole result where its handle finds it; "" is no handle.
func (s *Set) keep(command, text string) string {
	id, err := s.results.Put(s.real, command, text)
	if err != nil {
		return "" // the result goes out without one
	}
	return id
}
