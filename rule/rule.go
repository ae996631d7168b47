// Package rule says what a user's rules decide about a call: whether it runs
// unasked, asks, or is forbidden. It also reads command lines into simple
// commands of literal words, which is all of a shell that a rule can allow.
package rule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Decision is what becomes of a call. The higher one wins.
type Decision int

const (
	None  Decision = iota // no rule is about it
	Allow                 // it runs unasked
	Ask                   // the user is asked, whatever else is allowed
	Deny                  // it does not run
)

var decisions = []string{"", "allow", "ask", "deny"}

// String gives the word that a file writes.
func (d Decision) String() string { return decisions[d] }

// MarshalText writes the word.
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the word.
func (d *Decision) UnmarshalText(text []byte) error {
	i := slices.Index(decisions, string(text))
	if i < 1 {
		return fmt.Errorf("unknown decision %q: want \"allow\", \"ask\" or \"deny\"", text)
	}
	*d = Decision(i)
	return nil
}

// Rule is about the calls that fit all that it sets.
type Rule struct {
	Tool     string            `toml:"tool" json:"tool"`                 // name or pattern
	Command  string            `toml:"command" json:"command,omitempty"` // of a shell: the words, or patterns of them, that a command begins with
	Paths    []string          `toml:"paths" json:"paths,omitempty"`     // globs; "**" is any folders
	Args     map[string]string `toml:"args" json:"args,omitempty"`       // patterns by the names of arguments; /…/ is a regular expression
	Decision Decision          `toml:"decision" json:"decision"`         // required
	Reason   string            `toml:"reason" json:"reason,omitempty"`   // for the model, and in the question
	Root     string            `toml:"root" json:"root,omitempty"`       // the repository that it is for; "" is all
	From     string            `toml:"-" json:"from,omitempty"`          // where it stands, for people
}

// Check says what is wrong with a rule.
func (r Rule) Check() error {
	switch {
	case r.Tool == "":
		return fmt.Errorf("the rule names no tool: want tool = \"NAME\"")
	case r.Decision == None:
		return fmt.Errorf("the rule decides nothing: want decision = \"allow\", \"ask\" or \"deny\"")
	case r.Decision == Allow && strings.Trim(r.Tool, "*") == "":
		return fmt.Errorf("a rule cannot allow every tool: name them")
	}
	if _, err := wildcard(r.Tool); err != nil {
		return fmt.Errorf("tool: %w", err)
	}
	for _, p := range r.Paths {
		if !doublestar.ValidatePattern(p) {
			return fmt.Errorf("paths: %q is no pattern", p)
		}
	}
	for name, p := range r.Args {
		if _, err := pattern(p); err != nil {
			return fmt.Errorf("args.%s: %w", name, err)
		}
	}
	if r.Command == "" {
		return nil
	}
	words := strings.Fields(r.Command)
	if strings.ContainsAny(words[0], "/*?") {
		return fmt.Errorf("command: %q: want the name of a program, without a path and without * or ?", words[0])
	}
	return nil
}

// Query is a call that is judged.
type Query struct {
	Tool     string
	Named    bool            // only a rule with its very name allows it
	Args     json.RawMessage // an object
	Paths    []string        // the files that it names, relative, without links too; nil: it is not known which
	Command  string          // of a shell
	Root     string          // of the repository, absolute
	Repaired bool            // it was found in text and had to be mended: no rule allows it
}

// Verdict is what the rules say of a call.
type Verdict struct {
	Decision Decision
	Why      string // the rule's reason, or where it stands
	Parsed   bool   // a command, allowed as Parse read it: only that may run
}

// Set is rules in any order.
type Set []Rule

// Decide judges a call: deny goes over ask, ask over allow. A rule that forbids
// or asks fits where any of the paths or commands of a call does, one that allows
// where all of them do; several rules may allow a list of commands together.
func (s Set) Decide(q Query) Verdict {
	script, err := Parse(q.Command)
	for _, d := range []Decision{Deny, Ask} {
		for _, r := range s {
			if r.Decision == d && r.about(q) && r.hits(q, script) {
				return Verdict{Decision: d, Why: r.why()}
			}
		}
	}
	if v := s.allowCommands(q, script); v.Decision == Allow {
		return v
	}
	if q.Command != "" && (err != nil || script.opaque()) && slices.ContainsFunc(s, func(r Rule) bool { return r.Decision > Allow && r.Command != "" && r.about(q) }) {
		return Verdict{Decision: Ask, Why: "there are rules about commands, and what this one runs cannot be told"}
	}
	for _, r := range s {
		if !q.Repaired && r.Decision == Allow && r.Command == "" && r.allows(q) {
			return Verdict{Decision: Allow, Why: r.why()}
		}
	}
	return Verdict{}
}

// allowCommands wants a rule for each command of a line.
func (s Set) allowCommands(q Query, script *Script) Verdict {
	if script == nil || q.Repaired {
		return Verdict{}
	}
	why, any := "", false
	for _, words := range script.Commands() {
		if outside(words, q.Root) != "" {
			return Verdict{}
		}
		if changesFolder(words) {
			continue
		}
		i := slices.IndexFunc(s, func(r Rule) bool {
			return r.Decision == Allow && r.Command != "" && r.allows(q) && covers(strings.Fields(r.Command), words)
		})
		if i < 0 {
			return Verdict{}
		}
		why, any = s[i].why(), true
	}
	if !any {
		return Verdict{}
	}
	return Verdict{Decision: Allow, Why: why, Parsed: true}
}

func (r Rule) why() string {
	if r.Reason != "" {
		return r.Reason
	}
	return r.From
}

// about reports whether a rule is about a tool here.
func (r Rule) about(q Query) bool {
	return (r.Root == "" || r.Root == q.Root) && fits(r.Tool, q.Tool)
}

// hits reports whether a rule that forbids or asks fits.
func (r Rule) hits(q Query, script *Script) bool {
	if len(r.Paths) > 0 && !slices.ContainsFunc(q.Paths, r.onPath) || !r.argsFit(q.Args) {
		return false
	}
	return r.Command == "" || script.any(strings.Fields(r.Command))
}

// allows reports whether a rule that allows fits, its command aside.
func (r Rule) allows(q Query) bool {
	if !r.about(q) || q.Named && r.Tool != q.Tool || !r.argsFit(q.Args) {
		return false
	}
	return len(r.Paths) == 0 || len(q.Paths) > 0 && !slices.ContainsFunc(q.Paths, func(p string) bool { return !r.onPath(p) })
}

func (r Rule) onPath(p string) bool {
	return slices.ContainsFunc(r.Paths, func(glob string) bool {
		ok, err := doublestar.Match(strings.TrimPrefix(glob, "./"), p)
		return ok && err == nil
	})
}

func (r Rule) argsFit(args json.RawMessage) bool {
	if len(r.Args) == 0 {
		return true
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(args, &values) != nil {
		return false
	}
	for name, p := range r.Args {
		re, err := pattern(p)
		if v, ok := values[name]; err != nil || !ok || !re.MatchString(textOf(v)) {
			return false
		}
	}
	return true
}

// textOf is a value as patterns see it: the letters of a string, else JSON.
func textOf(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var compact bytes.Buffer
	if json.Compact(&compact, v) != nil {
		return string(v)
	}
	return compact.String()
}

// pattern reads a pattern of an argument.
func pattern(p string) (*regexp.Regexp, error) {
	if len(p) > 1 && p[0] == '/' && p[len(p)-1] == '/' {
		re, err := regexp.Compile(p[1 : len(p)-1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		return re, nil
	}
	return wildcard(p)
}

// wildcard reads a pattern in which * is any text and ? any letter.
func wildcard(p string) (*regexp.Regexp, error) {
	quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(p))
	return regexp.Compile(`(?s)\A` + quoted + `\z`)
}

func fits(p, text string) bool {
	if !strings.ContainsAny(p, "*?") {
		return p == text
	}
	re, err := wildcard(p)
	return err == nil && re.MatchString(text)
}
