package tool

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed write_file.md
var writeFileText string

var writeFile = builtin{
	Tool: utp.Tool{
		Name: "write_file", Tier: utp.TierRun, Confirm: true, Description: writeFileText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, relative to the top of the repository"},` +
			`"content":{"type":"string","description":"The text to write"},` +
			`"mode":{"type":"string","description":"Whether to replace the whole file or to add to its end","enum":["rewrite","append"],"default":"rewrite"}},` +
			`"required":["path","content"]}`),
	},
	plan: planning((*Set).writeFile), sensitive: sensitiveWrites,
}

type writeArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
	Mode    string  `json:"mode"`
}

// written is the answer of write_file.
type written struct {
	Success bool   `json:"success"`
	Path    string `json:"path"`
	Bytes   int    `json:"bytes_written"`
}

func (s *Set) writeFile(ctx context.Context, a writeArgs) (plan, error) {
	switch {
	case a.Path == "":
		return plan{}, missing("path")
	case a.Content == nil:
		return plan{}, missing("content")
	case a.Mode != "" && a.Mode != "rewrite" && a.Mode != "append":
		return plan{}, fail("argument 'mode' is %s: want rewrite or append", printable(a.Mode))
	}
	at, err := s.toWrite(ctx, a.Path)
	if err != nil {
		return plan{}, err
	}
	c := change{at: at}
	if !s.absent(at) {
		if c.old, err = s.originalBytes(ctx, at); err != nil {
			return plan{}, err
		}
	}
	content := *a.Content
	switch {
	case a.Mode == "append" && c.old != nil:
		if err := c.old.text(at); err != nil {
			return plan{}, err
		}
		c.data = append(append(c.data, c.old.data...), endsAs(string(c.old.data), content)...)
		c.adds = true
	case c.old != nil:
		c.data = []byte(like(string(c.old.data), content))
	default:
		c.data = []byte(content)
	}
	return plan{[]change{c}, written{true, at.name, len(content)}}, nil
}

// endsAs is a text to add to a file, with the file's line ends.
func endsAs(src, more string) string {
	if lineEnd(src) == "\r\n" {
		return withEnds(more, "\r\n")
	}
	return more
}
