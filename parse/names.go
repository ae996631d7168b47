package parse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// offer are the tools that were offered, if that is known.
type offer struct {
	*schema.Set        // nil: not known
	unknown     string // the last name that means none of them
}

// known reports whether the offered tools are known.
func (o *offer) known() bool { return o.Set != nil }

// resolve finds the offered tool that a name means.
func (o *offer) resolve(name string) (string, *utp.Fix, bool) {
	if !o.known() || name == "" {
		return name, nil, false
	}
	if o.Has(name) {
		return name, nil, true
	}
	if name == o.unknown {
		return name, nil, false
	}
	own, fix, ok := o.Resolve(name)
	if plain := unmark(name); !ok && plain != name {
		if own, _, ok = o.Resolve(plain); ok {
			fix = &utp.Fix{Was: name, Now: own, Why: "Markdown's backslash"}
		} else {
			own = name
		}
	}
	if !ok {
		o.unknown = strings.Clone(name)
	}
	return own, fix, ok
}

// declared reports whether a name means an offered tool.
func (o *offer) declared(name string) bool {
	_, _, ok := o.resolve(name)
	return ok
}

// plainly reports whether a name that stands as ordinary text means an offered
// tool. One word in another case ("Search" for search) is only a word; an alias
// was given by the user.
func (o *offer) plainly(name string) bool {
	own, fix, ok := o.resolve(name)
	if fix != nil && fix.Why == schema.ByAlias && name == strings.ToLower(name) {
		return true
	}
	return ok && (strings.HasSuffix(name, own) || strings.ContainsAny(strings.TrimRight(name, ".:/"), "_-.:/") || isCamel(name))
}

// nameOf is the name of the tool in an opener's slots: from the name, or from
// an id that holds it.
func (o *offer) nameOf(g *gram, c *scan.Caps) string {
	name := c.Name
	if name == "" && c.ID != "" {
		name = o.nameInID(g.ID, c.ID)
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !o.declared(name) {
		name = name[i+1:]
	}
	return name
}

// counted reports whether a mere counter stands where the id of a call is due that
// holds its name.
func (o *offer) counted(g *gram, c *scan.Caps) bool {
	return o.known() && g.Body == grammar.Args && c.Name == "" && c.ID != "" && strings.Trim(c.ID, "0123456789") == ""
}

// fitting is the only tool that arguments are sound for; "" if there is none.
func (o *offer) fitting(args []byte) (only string) {
	for _, name := range o.Names() {
		if len(o.Order(name)) == 0 || !o.sound(name, args) || !o.knows(&utp.Call{Name: name, Args: args}) {
			continue
		}
		if only != "" {
			return ""
		}
		only = name
	}
	return only
}

// nameInID reads the name out of an id of the form "functions.{name}:{n}".
// Where the id has another prefix, the name is its last dotted part. A mere
// counter holds none, and an id without a counter only that of an offered tool.
func (o *offer) nameInID(form, id string) string {
	before, after, _ := strings.Cut(form, "{name}")
	sep := strings.TrimSuffix(after, "{n}")
	name, prefixed := strings.CutPrefix(id, before)
	i := strings.LastIndex(name, sep)
	counted := sep != "" && i >= 0
	if counted {
		name = name[:i]
	}
	switch {
	case o.declared(name):
		return name
	case strings.Trim(name, "0123456789") == "", !counted && o.known():
		return ""
	case !prefixed:
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return name
}

// meansNothing reports whether a name that was not offered says that no tool fits.
func (o *offer) meansNothing(name string) bool {
	return o.known() && nothings[strings.ToLower(name)] && !o.declared(name)
}

// needsNothing reports whether the tool can do without arguments.
func (o *offer) needsNothing(name string) bool {
	_, _, issues := o.Check(name, json.RawMessage("{}"))
	return len(issues) == 0
}

// sound reports whether a known tool is called with valid arguments.
func (o *offer) sound(name string, args []byte) bool {
	if !o.declared(name) {
		return false
	}
	_, _, issues := o.Check(name, args)
	return len(issues) == 0
}

// knows reports whether the tool has every argument of a call.
func (o *offer) knows(c *utp.Call) bool {
	order := o.Order(c.Name)
	var args map[string]json.RawMessage
	if len(order) == 0 || json.Unmarshal(c.Args, &args) != nil {
		return len(order) == 0
	}
	for key := range args {
		if !slices.Contains(order, key) {
			return false
		}
	}
	return true
}

// nothings are names that models call where no tool fits.
var nothings = map[string]bool{
	"no_function": true, "no_function_call": true, "no_tool": true, "no_tool_call": true, "no_call": true,
	"none": true, "nonetype": true, "null": true, "noop": true, "no_op": true, "out_of_domain": true,
}

// unmark takes the backslashes of Markdown out of a name: get\_weather.
func unmark(name string) string { return strings.ReplaceAll(name, `\_`, "_") }

// isCamel reports whether small and capital letters meet inside a name.
func isCamel(name string) bool {
	for i := 1; i < len(name); i++ {
		if scan.Lower(name[i]) != name[i] && scan.Upper(name[i-1]) != name[i-1] {
			return true
		}
	}
	return false
}

// inForm reports whether an id is of the form "functions.{name}:{n}": with its
// prefix, or with its counter.
func inForm(form, id string) bool {
	before, after, _ := strings.Cut(form, "{name}")
	sep := strings.TrimSuffix(after, "{n}")
	return before != "" && strings.HasPrefix(id, before) || sep != "" && strings.Contains(id, sep)
}

// noTokens takes control tokens ("<|message|>") out of a name: a model may write
// one there, but none belongs there.
func noTokens(name string) string {
	for {
		before, rest, found := strings.Cut(name, "<|")
		_, after, closed := strings.Cut(rest, "|>")
		if !found || !closed {
			return name
		}
		name = before + after
	}
}
