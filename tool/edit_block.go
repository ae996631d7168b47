package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed edit_block.md
var editBlockText string

var editBlock = builtin{
	Tool: utp.Tool{
		Name: "edit_block", Tier: utp.Run, Confirm: true, Description: editBlockText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, relative to the top of the repository"},` +
			`"old_text":{"type":"string","description":"The text to replace, exactly as it stands in the file"},` +
			`"new_text":{"type":"string","description":"The text to put in its place"}},` +
			`"required":["path","old_text","new_text"]}`),
	},
	run: with((*Set).editBlock),
}

type editArgs struct {
	Path string  `json:"path"`
	Old  *string `json:"old_text"`
	New  *string `json:"new_text"`
}

// edited is the answer of edit_block.
type edited struct {
	Success      bool   `json:"success"`
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Line         int    `json:"line"` // where the replacement begins
}

func (s *Set) editBlock(ctx context.Context, a editArgs) (string, error) {
	switch {
	case a.Path == "":
		return "", missing("path")
	case a.Old == nil || *a.Old == "":
		return "", missing("old_text")
	case a.New == nil:
		return "", missing("new_text")
	case *a.Old == *a.New:
		return "", fail("old_text and new_text are the same")
	}
	at, err := s.toWrite(a.Path)
	if err != nil {
		return "", err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	src, err := s.read(ctx, at, maxFile)
	if err != nil {
		return "", err
	}
	before, after, err := cutOnce(string(src), *a.Old, at.given)
	if err != nil {
		return "", err
	}
	if err := s.replace(at, []byte(before+*a.New+after)); err != nil {
		return "", s.explain(ctx, at, err)
	}
	return object(edited{true, at.name, 1, strings.Count(before, "\n") + 1}), nil
}

// cutOnce splits src at the only place where old stands.
func cutOnce(src, old, name string) (before, after string, err error) {
	before, after, ok := strings.Cut(src, old)
	if !ok && strings.Contains(src, "\r\n") && strings.Contains(strings.ReplaceAll(src, "\r\n", "\n"), old) {
		return "", "", fail("Text not found in file: %s. Its lines end in \\r\\n, those of old_text in \\n", name)
	}
	if !ok {
		return "", "", fail("Text not found in file: %s. old_text must be exactly what stands there, white space included", name)
	}
	if n := occurrences(src, old); n > 1 {
		return "", "", fail("Expected 1 match, found %d: %s. Take more lines around the change into old_text", n, name)
	}
	return before, after, nil
}

// occurrences counts overlapping ones too: "aa" stands in "aaa" twice.
func occurrences(s, sub string) (n int) {
	for i := strings.Index(s, sub); i >= 0; i = strings.Index(s, sub) {
		n++
		s = s[i+1:]
	}
	return n
}
