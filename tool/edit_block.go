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
		Name: "edit_block", Tier: utp.TierRun, Confirm: true, Description: editBlockText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, relative to the top of the repository"},` +
			`"old_text":{"type":"string","description":"The text to replace, as it stands in the file"},` +
			`"new_text":{"type":"string","description":"The text to put in its place"},` +
			`"replace_all":{"type":"boolean","description":"Whether to replace every place where old_text stands","default":false},` +
			`"edits":{"type":"array","description":"Several replacements in this file, all or none, instead of old_text and new_text","items":{"type":"object","properties":{` +
			`"old_text":{"type":"string"},"new_text":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["old_text","new_text"]}}},` +
			`"required":["path"]}`),
	},
	plan: planning((*Set).editBlock), sensitive: sensitiveWrites,
}

type editArgs struct {
	Path string `json:"path"`
	replacement
	Edits []replacement `json:"edits"`
}

// edited is the answer of edit_block.
type edited struct {
	Success      bool   `json:"success"`
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Line         int    `json:"line"`           // where the first one begins
	Note         string `json:"note,omitempty"` // what was left aside to find the text
}

func (s *Set) editBlock(ctx context.Context, a editArgs) (plan, error) {
	edits, err := a.all()
	if err != nil {
		return plan{}, err
	}
	at, err := s.toWrite(ctx, a.Path)
	if err != nil {
		return plan{}, err
	}
	old, err := s.original(ctx, at)
	if err != nil {
		return plan{}, err
	}
	text, answer := string(old.data), edited{Success: true, Path: at.name}
	for _, e := range edits {
		r, err := e.replace(text, at.given)
		if err != nil {
			return plan{}, err
		}
		if text, answer.Replacements = r.text, answer.Replacements+r.count; answer.Line == 0 {
			answer.Line = r.line
		}
		if r.aside != exactly {
			answer.Note = "found with " + r.aside.String()
		}
	}
	if text == string(old.data) {
		return plan{}, fail("the file would stay as it is: %s", at.given)
	}
	return plan{[]change{{at: at, old: old, data: []byte(text)}}, answer}, nil
}

// all lists the replacements of a call.
func (a editArgs) all() ([]replacement, error) {
	if a.Path == "" {
		return nil, missing("path")
	}
	edits := a.Edits
	if a.Old != nil || a.New != nil || len(edits) == 0 {
		edits = append([]replacement{a.replacement}, edits...)
	}
	for _, e := range edits {
		switch {
		case e.Old == nil || *e.Old == "":
			return nil, missing("old_text")
		case e.New == nil:
			return nil, missing("new_text")
		case *e.Old == *e.New:
			return nil, fail("old_text and new_text are the same")
		}
	}
	return edits, nil
}

// occurrences counts overlapping ones too: "aa" stands in "aaa" twice.
func occurrences(s, sub string) (n int) {
	for i := strings.Index(s, sub); i >= 0; i = strings.Index(s, sub) {
		n++
		s = s[i+1:]
	}
	return n
}
