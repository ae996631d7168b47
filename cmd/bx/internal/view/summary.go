package view

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

// Unconfirmed counts the calls that did not run for want of a yes.
func Unconfirmed(done []agent.Done) (n int) {
	for _, d := range done {
		if d.Refusal == agent.NotConfirmed {
			n++
		}
	}
	return n
}

// Summary says in a line what a turn did. looks: it could have looked at the
// repository, so that an answer without a look is marked.
func Summary(a agent.Answer, looks bool) string {
	s := sums{}
	for _, d := range a.Calls {
		s.add(d)
	}
	words := s.words()
	if looks && a.Text != "" && s.worked == 0 {
		words = append([]string{"note: this answer comes from the model alone: it looked at nothing here"}, words...)
	}
	return strings.Join(words, "; ")
}

// sums counts what calls did.
type sums struct {
	worked, searches, others, denied, failed int
	read, changed                            []string // paths, each once
}

func (s *sums) add(d agent.Done) {
	switch {
	case d.Cached:
		return
	case d.Result.Status == utp.StatusDenied:
		s.denied++
		return
	case d.Result.Status != utp.StatusOK:
		s.failed++
		return
	}
	s.worked++
	path := pathOf(d.Call)
	switch name := d.Call.Name; {
	case name == "search_code" || name == "grep" || name == "glob":
		s.searches++
	case slices.Contains(writers, name):
		for _, path := range written(d.Call) {
			s.changed = once(s.changed, path)
		}
	case path != "" && name != "list_dir":
		s.read = once(s.read, path)
	default:
		s.others++
	}
}

// writers are the tools that change files.
var writers = []string{"write_file", "edit_block", "delete_file", "move_file", "apply_patch"}

// patched finds the files of a patch as GPT models write it.
var patched = regexp.MustCompile(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$`)

// written lists the files that a call of a writer changes.
func written(c utp.Call) (paths []string) {
	var args struct{ Path, From, To, Patch string }
	if json.Unmarshal(c.Args, &args) != nil {
		return nil
	}
	for _, p := range []string{args.Path, args.From, args.To} {
		if p != "" {
			paths = append(paths, p)
		}
	}
	for _, m := range patched.FindAllStringSubmatch(args.Patch, -1) {
		paths = append(paths, strings.TrimSpace(m[1]+m[2]))
	}
	return paths
}

func once(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// words begin with what was looked at and end with what did not work.
func (s *sums) words() (out []string) {
	var did []string
	if s.searches > 0 {
		did = append(did, strings.Replace(Count(s.searches, "search"), "searchs", "searches", 1))
	}
	if n := len(s.read); n > 0 {
		did = append(did, Count(n, "file")+" read")
	}
	if n := len(s.changed); n > 0 {
		did = append(did, fmt.Sprintf("%s changed: %s", Count(n, "file"), short(Clean(strings.Join(s.changed, ", ")), 300)))
	}
	if s.others > 0 {
		did = append(did, Count(s.others, "other call"))
	}
	if len(did) > 0 {
		out = append(out, strings.Join(did, ", "))
	}
	if s.denied > 0 {
		out = append(out, Count(s.denied, "call")+" denied"+nothingChanged(s.changed))
	}
	if s.failed > 0 {
		out = append(out, Count(s.failed, "call")+" failed")
	}
	return out
}

func nothingChanged(changed []string) string {
	if len(changed) == 0 {
		return ", no file changed"
	}
	return ""
}
