package main

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// rules are those in force. The members of a team share them.
type rules struct {
	mu     sync.Mutex
	set    rule.Set
	unkept sync.Once // it was said that changes of commands are not kept
}

func (r *rules) all() rule.Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.set)
}

func (r *rules) add(more rule.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set = append(r.set, more...)
}

// verdict is what the rules say of a call.
func (j *job) verdict(c utp.Call) rule.Verdict {
	root, paths := j.part.of(j.root, j.tools.Paths(c))
	v := j.rules.all().Decide(rule.Query{Tool: c.Name, Named: c.Name == tool.ShellName || j.servers.has(c.Name), Args: c.Args, Paths: paths,
		Command: shellCommand(c), Root: root, Repaired: repaired(c)})
	if j.part != nil && c.Name == tool.ShellName && v.Decision == rule.Allow {
		return rule.Verdict{} // its words are relative to the part, and the rule's to the repository
	}
	return v
}

// repaired reports a call that was found in text and had to be mended.
func repaired(c utp.Call) bool { return c.FromText() && len(c.Fixes) > 0 }

func shellCommand(c utp.Call) string {
	var args struct{ Command string }
	if c.Name != tool.ShellName || json.Unmarshal(c.Args, &args) != nil {
		return ""
	}
	return args.Command
}

// always lists the rules that a yes for good stands for: this tool on these files,
// these programs with their sub-commands, or this tool of an MCP server, in this
// repository.
func (j *job) always(c utp.Call, changes []tool.Change) rule.Set {
	if command := shellCommand(c); command != "" {
		set, ok := rule.Always(command, j.root)
		if !ok {
			return nil
		}
		return set
	}
	if j.servers.has(c.Name) {
		return rule.Set{{Tool: c.Name, Decision: rule.Allow, Root: j.root}}
	}
	if len(changes) == 0 {
		return nil
	}
	r := rule.Rule{Tool: c.Name, Decision: rule.Allow, Root: j.root}
	for _, f := range changes {
		r.Paths = append(r.Paths, literally(f.Path))
	}
	return rule.Set{r}
}

// literally is a path as a glob.
func literally(p string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, `\`, `\\`).Replace(p)
}

// keep writes rules into the user's own file.
func (j *job) keep(set rule.Set) {
	file := userFile()
	if err := config.PutRules(file, set, j.set.Dialects); err != nil {
		j.view.Warn("the rule holds until bx ends, and is not kept: %v", err)
		return
	}
	j.view.Line(view.Normal, "the rule is kept in %s", file)
}

func (a *app) rulesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rules [COMMAND]", Short: "List what calls run unasked, ask or are forbidden, by your rules", Args: cobra.MaximumNArgs(1),
		Long: `List the rules ([[rule]] in bx.toml) that hold in this repository, and where each
stands. With a COMMAND, in quotes, say what they decide about it.`,
		Example: "  bx rules\n  bx rules 'go test ./... | head'",
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withTools(func(j *job, _ *tool.Set) error { return j.showRules(words) })
		},
	}
}

func (j *job) showRules(words []string) error {
	if len(words) == 1 {
		args, err := json.Marshal(map[string]string{"command": words[0]})
		if err != nil {
			return err
		}
		c := utp.Call{Name: tool.ShellName, Args: args}
		return view.Judged(j.app.out, j.app.json, j.verdict(c), j.tools.Sensitive(c))
	}
	set := slices.DeleteFunc(j.rules.all(), func(r rule.Rule) bool { return r.Root != "" && r.Root != j.root })
	if j.app.json {
		return view.JSON(j.app.out, append(rule.Set{}, set...))
	}
	view.Rules(j.app.out, set)
	return nil
}
