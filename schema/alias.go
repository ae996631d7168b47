package schema

import (
	"encoding/json"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// Alias is a name that models invent for a tool. From and To are compared
// without regard to case and to the marks between words. To may be the From of
// another alias; an alias counts only if a tool of the set stands at the end.
type Alias struct {
	From     string            `json:"from,omitempty"`     // "" : no name, only Args
	To       string            `json:"to,omitempty"`       // "" with From "": Args holds for every tool
	Defaults json.RawMessage   `json:"defaults,omitempty"` // object; a member is added where the model gave no such argument and the tool has it
	Args     map[string]string `json:"args,omitempty"`     // argument as invented → argument of the tool, if the tool has it
}

func (s *Set) addAliases() {
	s.aliases = map[string][]*Alias{}
	for i := range s.opts.Aliases {
		a := &s.opts.Aliases[i]
		if n, err := parse(a.Defaults); len(a.Defaults) > 0 && (err != nil || n.kind != '{') {
			s.broken = append(s.broken, Issue{a.From, "the defaults of this alias are not a JSON object; they are not used"})
		}
		if f := fold(a.From); f != "" {
			s.aliases[f] = append(s.aliases[f], a)
		}
	}
}

// follow finds the tool after an alias, and the aliases on the way to it.
func (s *Set) follow(name string) (tool string, way []*Alias, ok bool) {
	return s.followFrom(name, nil)
}

func (s *Set) followFrom(name string, way []*Alias) (string, []*Alias, bool) {
	for _, a := range s.aliases[fold(name)] {
		if slices.Contains(way, a) {
			continue
		}
		next := append(slices.Clip(way), a)
		if s.Has(a.To) {
			return a.To, next, true
		}
		if hit, ok := near(s.spelled().folded, a.To); ok {
			return hit, next, true
		}
		if tool, full, ok := s.followFrom(a.To, next); ok {
			return tool, full, true
		}
	}
	return "", nil, false
}

// way gives the aliases between a written name and its tool; none for a tool's own name.
func (s *Set) way(name string) []*Alias {
	if s == nil || s.Has(name) || len(s.aliases) == 0 {
		return nil
	}
	own, _, _ := s.Resolve(name)
	for _, v := range variants(name) {
		if tool, way, ok := s.follow(v); ok && tool == own {
			return way
		}
	}
	return nil
}

// addDefaults appends the defaults of the aliases that name went through to
// the arguments. What the model gave wins, then the alias nearest to its name.
func (s *Set) addDefaults(name string, args node) (node, []utp.Fix) {
	var fixes []utp.Fix
	for _, a := range s.way(name) {
		defaults, err := parse(a.Defaults)
		if err != nil || defaults.kind != '{' {
			continue
		}
		for i, k := range defaults.keys {
			if _, given := args.find(k.name); given || !s.shape(name).knows(k.name) {
				continue
			}
			args = node{kind: '{', keys: append(slices.Clip(args.keys), k), kids: append(slices.Clip(args.kids), defaults.kids[i])}
			args.rebuild()
			fixes = append(fixes, utp.Fix{Path: "/" + escape(k.name), Now: string(defaults.kids[i].raw), Why: "default of the alias " + a.From})
		}
	}
	return args, fixes
}

// argument finds what the aliases say of an argument's name: those on the way
// from the written tool name first, then those of the tool, then the general ones.
func (s *Set) argument(tool, arg string, sh *shape) (string, bool) {
	way := s.way(tool)
	canonical, _, _ := s.Resolve(tool)
	own, general := s.argTables(canonical)
	for _, tables := range [][]*Alias{way, own, general} {
		if to, ok := onlyTarget(tables, arg, sh); ok {
			return to, true
		}
	}
	return "", false
}

func (s *Set) argTables(tool string) (own, general []*Alias) {
	for i := range s.opts.Aliases {
		a := &s.opts.Aliases[i]
		switch {
		case a.From == "" && a.To == "":
			general = append(general, a)
		case fold(a.To) == fold(tool):
			own = append(own, a)
		}
	}
	return own, general
}

// onlyTarget finds the one argument of the tool that the tables map arg to.
func onlyTarget(tables []*Alias, arg string, sh *shape) (target string, ok bool) {
	for _, a := range tables {
		for from, to := range a.Args {
			if fold(from) != fold(arg) || !slices.Contains(sh.order, to) || to == target {
				continue
			}
			if ok {
				return "", false
			}
			target, ok = to, true
		}
	}
	return target, ok
}
