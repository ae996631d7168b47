package tool

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed move_file.md
var moveFileText string

var moveFile = builtin{
	Tool: utp.Tool{
		Name: "move_file", Tier: utp.TierRun, Confirm: true, Description: moveFileText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"from":{"type":"string","description":"The file, relative to the top of the repository"},` +
			`"to":{"type":"string","description":"Its new path; nothing may be there yet"}},` +
			`"required":["from","to"]}`),
	},
	plan: planning((*Set).moveFile), sensitive: sensitiveWrites,
}

//go:embed delete_file.md
var deleteFileText string

var deleteFile = builtin{
	Tool: utp.Tool{
		Name: "delete_file", Tier: utp.TierRun, Confirm: true, Description: deleteFileText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, relative to the top of the repository"}},` +
			`"required":["path"]}`),
	},
	plan: planning((*Set).deleteFile), sensitive: sensitiveWrites,
}

type moveArgs struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// moved is the answer of move_file.
type moved struct {
	Success bool   `json:"success"`
	From    string `json:"from"`
	To      string `json:"to"`
}

func (s *Set) moveFile(ctx context.Context, a moveArgs) (plan, error) {
	switch {
	case a.From == "":
		return plan{}, missing("from")
	case a.To == "":
		return plan{}, missing("to")
	}
	from, err := s.toWrite(ctx, a.From)
	if err != nil {
		return plan{}, err
	}
	to, err := s.toWrite(ctx, a.To)
	if err != nil {
		return plan{}, err
	}
	old, err := s.originalBytes(ctx, from)
	if err != nil {
		return plan{}, err
	}
	if !s.absent(to) {
		return plan{}, fail("File exists: %s. Move or delete it first", to.given)
	}
	return plan{[]change{
		{at: to, data: old.data, mode: old.mode},
		{at: from, old: old, gone: true},
	}, moved{true, from.name, to.name}}, nil
}

// deleted is the answer of delete_file.
type deleted struct {
	Success bool   `json:"success"`
	Path    string `json:"path"`
}

func (s *Set) deleteFile(ctx context.Context, a struct{ Path string }) (plan, error) {
	if a.Path == "" {
		return plan{}, missing("path")
	}
	at, err := s.toWrite(ctx, a.Path)
	if err != nil {
		return plan{}, err
	}
	old, err := s.originalBytes(ctx, at)
	if err != nil {
		return plan{}, err
	}
	return plan{[]change{{at: at, old: old, gone: true}}, deleted{true, at.name}}, nil
}
