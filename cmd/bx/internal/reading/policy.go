package reading

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse"
)

// Unknown says what becomes of a call whose tool was not offered.
type Unknown int

const (
	Keep   Unknown = iota // it is a call like any other
	AsText                // it stays text, with a Problem
	Flag                  // it is a call, invalid, and a Problem
)

// Malformed says what becomes of the text of a call that cannot be read.
type Malformed int

const (
	KeepText Malformed = iota // it stays in the content
	Strip                     // it is left out of the content
	Fail                      // the whole input is an error
)

// Policy says what is done with doubtful calls. The zero Policy keeps all text
// and repairs what is unambiguous.
type Policy struct {
	Unknown   Unknown
	Malformed Malformed
	Repair    parse.Repair
	DropEmpty bool // optional arguments that are empty texts are left out
	Shown     bool // calls count that a reply only shows
	Repeated  bool // calls count that a tool or a user wrote
}

// policies are the settings of ParsePolicy, with their values.
var policies = []struct {
	name   string
	values []string
	set    func(p *Policy, value int)
}{
	{"unknown", []string{"keep", "text", "flag"}, func(p *Policy, v int) { p.Unknown = Unknown(v) }},
	{"malformed", []string{"keep", "strip", "error"}, func(p *Policy, v int) { p.Malformed = Malformed(v) }},
	{"repair", []string{"safe", "off", "aggressive"}, func(p *Policy, v int) { p.Repair = parse.Repair(v) }},
	{"empty", []string{"keep", "drop"}, func(p *Policy, v int) { p.DropEmpty = v == 1 }},
	{"shown", []string{"text", "run"}, func(p *Policy, v int) { p.Shown = v == 1 }},
	{"repeated", []string{"text", "run"}, func(p *Policy, v int) { p.Repeated = v == 1 }},
}

// ParsePolicy reads "unknown=flag,repair=off"; "" is the zero Policy.
func ParsePolicy(s string) (p Policy, err error) {
	for setting := range strings.SplitSeq(s, ",") {
		if setting = strings.TrimSpace(setting); setting == "" {
			continue
		}
		if err := p.set(setting); err != nil {
			return Policy{}, err
		}
	}
	return p, nil
}

func (p *Policy) set(setting string) error {
	name, value, _ := strings.Cut(setting, "=")
	var known []string
	for _, s := range policies {
		known = append(known, s.name+"="+strings.Join(s.values, "|"))
		if s.name != name {
			continue
		}
		v := slices.Index(s.values, value)
		if v < 0 {
			return fmt.Errorf("%s: want %s", setting, known[len(known)-1])
		}
		s.set(p, v)
		return nil
	}
	return fmt.Errorf("%s: want settings of %s", setting, strings.Join(known, ", "))
}

// apply puts the policy into a parser's configuration.
func (p Policy) apply(c *parse.Config) {
	if p.Unknown == AsText {
		c.Policy.Unknown = parse.TextUnknown
	}
	c.Policy.Shown, c.Policy.Repeated = p.Shown, p.Repeated
	c.Repair = p.Repair
}
