package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed apply_patch.md
var applyPatchText string

var applyPatch = builtin{
	Tool: utp.Tool{
		Name: "apply_patch", Tier: utp.TierRun, Confirm: true, Description: applyPatchText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"patch":{"type":"string","description":"The patch"}},` +
			`"required":["patch"]}`),
	},
	plan: planning((*Set).applyPatch), sensitive: sensitivePatch, paths: pathsOfPatch,
}

type patchArgs struct {
	Patch string `json:"patch"`
}

func sensitivePatch(s *Set, args json.RawMessage) string {
	return s.anyWritingAsks(pathsOfPatch(args)...)
}

func pathsOfPatch(args json.RawMessage) (out []string) {
	a, err := arguments[patchArgs](args)
	if err != nil {
		return nil
	}
	files, err := readPatch(a.Patch)
	if err != nil {
		return nil
	}
	for _, f := range files {
		out = append(out, f.path, f.to)
	}
	return out
}

// patched is the answer of apply_patch.
type patched struct {
	Success bool     `json:"success"`
	Added   []string `json:"added,omitempty"`
	Updated []string `json:"updated,omitempty"`
	Moved   []moved  `json:"moved,omitempty"`
	Deleted []string `json:"deleted,omitempty"`
	Note    string   `json:"note,omitempty"`
}

func (s *Set) applyPatch(ctx context.Context, a patchArgs) (plan, error) {
	if strings.TrimSpace(a.Patch) == "" {
		return plan{}, missing("patch")
	}
	files, err := readPatch(a.Patch)
	if err != nil {
		return plan{}, err
	}
	var p plan
	answer := patched{Success: true}
	for _, f := range files {
		changes, err := s.patchFile(ctx, f, &answer)
		if err != nil {
			return plan{}, err
		}
		for _, c := range changes {
			if slices.ContainsFunc(p.changes, func(o change) bool { return o.at.real == c.at.real }) {
				return plan{}, fail("the patch names %s twice: put its hunks below one header", c.at.given)
			}
		}
		p.changes = append(p.changes, changes...)
	}
	p.answer = answer
	return p, nil
}

// patchFile says what a patch makes of one file.
func (s *Set) patchFile(ctx context.Context, f filePatch, answer *patched) ([]change, error) {
	at, err := s.toWrite(ctx, f.path)
	if err != nil {
		return nil, err
	}
	if f.what == adding {
		if !s.absent(at) {
			return nil, fail("File exists: %s. Use Update File", at.given)
		}
		answer.Added = append(answer.Added, at.name)
		return []change{{at: at, data: []byte(f.content())}}, nil
	}
	if f.what == deleting {
		old, err := s.originalBytes(ctx, at)
		answer.Deleted = append(answer.Deleted, at.name)
		return []change{{at: at, old: old, gone: true}}, err
	}
	old, err := s.original(ctx, at)
	if err != nil {
		return nil, err
	}
	text, aside, err := f.update(string(old.data), at.given)
	if err != nil {
		return nil, err
	}
	if aside != exactly {
		answer.Note = "found with " + aside.String()
	}
	if f.to == "" {
		answer.Updated = append(answer.Updated, at.name)
		return []change{{at: at, old: old, data: []byte(text)}}, nil
	}
	to, err := s.toWrite(ctx, f.to)
	if err != nil {
		return nil, err
	}
	if !s.absent(to) {
		return nil, fail("File exists: %s. Move or delete it first", to.given)
	}
	answer.Moved = append(answer.Moved, moved{true, at.name, to.name})
	return []change{{at: to, data: []byte(text), mode: old.mode}, {at: at, old: old, gone: true}}, nil
}
