package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// confirm asks the user before a call changes anything.
func (j *job) confirm(ctx context.Context, c utp.Call, t utp.Tool) (bool, string) {
	before, after, known := foresee(j.root, c)
	text := view.Question(c, t, before, after, known)
	yes, ok := j.app.yesNo(ctx, text)
	switch {
	case yes:
		return true, ""
	case ok:
		return false, "the user said no"
	}
	return false, "there is nobody to ask; the user can start bx with --allow run"
}

// maxPreview is the largest file that is compared before a question.
const maxPreview = 1 << 20

// foresee says what a file would become if the call ran. It never leaves root.
func foresee(root string, c utp.Call) (before, after string, ok bool) {
	var args struct {
		Path    string `json:"path"`
		OldText string `json:"old_text"`
		NewText string `json:"new_text"`
		Content string `json:"content"`
		Mode    string `json:"mode"`
	}
	if json.Unmarshal(c.Args, &args) != nil || args.Path == "" {
		return "", "", false
	}
	before, found := readIn(root, args.Path)
	switch {
	case c.Name == "edit_block" && found && args.OldText != "" && strings.Contains(before, args.OldText):
		return before, strings.Replace(before, args.OldText, args.NewText, 1), true
	case c.Name == "write_file" && args.Mode == "append":
		return before, before + args.Content, true
	case c.Name == "write_file":
		return before, args.Content, true
	}
	return "", "", false
}

func readIn(root, path string) (string, bool) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return "", false
	}
	defer r.Close()
	if info, err := r.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxPreview {
		return "", false
	}
	f, err := r.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPreview))
	return string(b), err == nil
}
