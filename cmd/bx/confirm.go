package main

import (
	"context"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// confirm asks the user before a call changes anything.
func (j *job) confirm(ctx context.Context, c utp.Call, t utp.Tool) (bool, string) {
	changes, _ := j.tools.Foresee(ctx, c)
	text := view.Question(c, t, changes, j.tools.Sensitive(c))
	yes, ok := j.app.yesNo(ctx, text)
	switch {
	case yes:
		return true, ""
	case ok:
		return false, "the user said no"
	}
	return false, "there is nobody to ask; the user can start bx with --allow run"
}
