package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/settings"
	"github.com/unifiedtoolprotocol/utp/rule"
)

// takeRules puts the rules of a document behind those of the files before it. A
// repository's own may only restrict.
func (c *Config) takeRules(d document, before rule.Set, trusted bool) error {
	for _, k := range keysOf(d.text) {
		if k.String() != "rule" {
			continue
		}
		at := d.at(k.offset, k.len, "rule: want a table [[rule]] for each rule")
		if !k.table || k.value.len > 0 {
			return at
		}
		r := &c.Rules[k.nth]
		if err := r.Check(); err != nil {
			at.Message = "rule: " + err.Error()
			return at
		}
		if r.Command != "" && r.Tool != "shell" {
			at.Message = fmt.Sprintf("rule: command is of the tool shell, not of %s", r.Tool)
			return at
		}
		if r.Decision == rule.Allow && !trusted {
			at.Message = "rule: a repository's own file cannot allow anything: put the rule into your own bx.toml (bx status names it)"
			return at
		}
		r.From = fmt.Sprintf("%s:%d", d.name, at.Line)
	}
	c.Rules = append(before, c.Rules...)
	return nil
}

// PutRules appends rules to a file of the user and leaves the rest of it as it
// is. The file is made if there is none; it is replaced whole or not at all.
func PutRules(path string, rules rule.Set, known Own) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made := strings.TrimRight(string(text), "\n")
	for _, r := range rules {
		if made != "" {
			made += "\n\n"
		}
		made += strings.TrimRight(ruleTOML(r), "\n")
	}
	made += "\n"
	c := Defaults()
	c.Own = known
	if err := c.apply(document{short(path), path, []byte(made), nil}, nil); err != nil {
		return fmt.Errorf("the rule cannot be added to %s: %w", short(path), err)
	}
	return settings.Replace(path, []byte(made))
}

// ruleTOML writes a rule of a question: a tool, a command or files, and a root.
func ruleTOML(r rule.Rule) string {
	out := "[[rule]]\ntool = " + strconv.Quote(r.Tool) + "\n"
	if r.Command != "" {
		out += "command = " + strconv.Quote(r.Command) + "\n"
	}
	if len(r.Paths) > 0 {
		var quoted []string
		for _, p := range r.Paths {
			quoted = append(quoted, strconv.Quote(p))
		}
		out += "paths = [" + strings.Join(quoted, ", ") + "]\n"
	}
	if r.Root != "" {
		out += "root = " + strconv.Quote(r.Root) + "\n"
	}
	return out + "decision = " + strconv.Quote(r.Decision.String()) + "\n"
}
