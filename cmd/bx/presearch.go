package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// presearched is how many places go along with a question.
const presearched = 5

// presearch finds places for a question about the code before the model is asked.
// They go along as a text of others, unless that is switched off or the model may
// not read.
func (j *job) presearch(ctx context.Context, c *connection, tools *tool.Set, question string, tier utp.Tier) string {
	off := j.set.Presearch != nil && !*j.set.Presearch
	if off || c.client == nil || j.app.noTools || !c.tools || tier < utp.TierWalk || j.app.team != "" || !agent.AboutCode(question) {
		return ""
	}
	j.view.Progress.Busy("searching for places")
	defer j.view.Progress.Busy("")
	places, err := tools.Places(ctx, question, presearched)
	if err != nil || len(places) == 0 {
		return "" // the model can search by itself
	}
	var list []string
	j.sources = nil
	for _, p := range places {
		if j.kept(p.Path) {
			continue
		}
		list = append(list, fmt.Sprintf("- %s:%d: %s", p.Path, p.N, strings.TrimSpace(p.Text)))
		if !slices.Contains(j.sources, p.Path) {
			j.sources = append(j.sources, p.Path)
		}
	}
	if len(list) == 0 {
		return ""
	}
	j.view.Line(view.Verbose, "places that go along: %s ([agent] presearch = false leaves them out)", strings.Join(j.sources, ", "))
	return "Places that a search for the question found, which may be beside the point:\n\n" + strings.Join(list, "\n")
}

// kept reports a file that a rule keeps from the model, or asks about.
func (j *job) kept(path string) bool {
	args, _ := json.Marshal(map[string]string{"path": path})
	d := j.verdict(utp.Call{ID: "place", Name: "read_file", Args: args}).Decision
	return d == rule.Deny || d == rule.Ask
}

// along is what goes along with a question beside it: the notes of the repository
// and places.
func along(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}
