package schema

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// maxPasses bounds how often the arguments are gone through: one repair may
// uncover the place for another.
const maxPasses = 8

// Check makes the arguments of a call fit its tool: it adds the defaults of an
// alias, takes all arguments out of a wrapper ({"arguments": {…}}), puts near
// names of keys right, drops empty optional texts if the options say so and a
// null that an optional argument may not be, turns values into the types that
// are wanted, and validates. A member that stands in its object twice, with
// different values, is an issue. What comes back is valid JSON if args is; it is args itself, byte for byte, if nothing had to
// change. Issues are sorted by path, at most ten; none means that the
// arguments are valid, or that nothing is known of the tool. tool may be any name that
// Resolve takes: by an alias its own defaults and argument names count.
func (s *Set) Check(tool string, args json.RawMessage) (json.RawMessage, []utp.Fix, []Issue) {
	sh := s.shape(tool)
	if sh == nil {
		return args, nil, nil
	}
	n, fixes, err := s.object(tool, args)
	if err != nil {
		return args, nil, []Issue{{"", "the arguments are not valid JSON: " + err.Error()}}
	}
	if n.twice != "" {
		return args, nil, []Issue{{n.twice, "given twice, with different values; write it once"}}
	}
	if n.kind == '{' {
		var more []utp.Fix
		n, more = s.addDefaults(tool, n)
		fixes = append(fixes, more...)
	}
	for range maxPasses {
		out, more, valid := s.pass(tool, sh, n)
		if valid {
			return written(args, n, fixes), fixes, nil
		}
		if len(more) == 0 {
			break
		}
		n, fixes = out, append(fixes, more...)
	}
	return written(args, n, fixes), fixes, sh.issues(n)
}

// Fit makes a call fit its tool: Check, by the name that the model wrote, for an
// alias has defaults and argument names of its own. No arguments are an empty
// object; the input of a custom tool is not looked at. Of issues the call stays as
// it was.
func (s *Set) Fit(c utp.Call) (utp.Call, []Issue) {
	tool, ok := s.Tool(c.Name)
	if !ok || c.Kind == utp.CustomCall || tool.Kind == utp.CustomTool {
		return c, nil
	}
	out := c
	if len(bytes.TrimSpace(c.Args)) == 0 && c.RawArgs == "" {
		out.Args = empty
	}
	if args := bytes.TrimSpace(out.Args); len(args) == 0 || args[0] != '{' || !json.Valid(args) {
		return c, []Issue{{Message: "the arguments are not a JSON object"}}
	}
	args, fixes, issues := s.Check(s.asWritten(c), out.Args)
	if len(issues) > 0 {
		return c, issues
	}
	out.Args, out.Fixes = args, append(slices.Clip(c.Fixes), fixes...)
	return out, nil
}

// asWritten is the name that the model gave the tool.
func (s *Set) asWritten(c utp.Call) string {
	for _, f := range c.Fixes {
		if f.Path != "" || f.Now != c.Name {
			continue
		}
		if own, _, ok := s.Resolve(f.Was); ok && own == c.Name {
			return f.Was
		}
	}
	return c.Name
}

// written gives the text of n: args, if nothing changed.
func written(args json.RawMessage, n node, fixes []utp.Fix) json.RawMessage {
	if len(fixes) == 0 {
		return args
	}
	return n.raw
}

// object reads the arguments. None at all are an empty object; JSON in a
// string and a lone value for the sole argument are made one.
func (s *Set) object(tool string, args json.RawMessage) (node, []utp.Fix, error) {
	text := bytes.TrimSpace(args)
	if len(text) == 0 || string(text) == "null" {
		n, _ := parse(empty)
		return n, []utp.Fix{{Was: string(text), Now: "{}", Why: "no arguments"}}, nil
	}
	n, err := parse(args)
	if err != nil || n.kind == '{' {
		return n, nil, err
	}
	fix := func(now node, why string, guess bool) (node, []utp.Fix, error) {
		return now, []utp.Fix{{Was: shorten(string(text), maxFix), Now: shorten(string(now.raw), maxFix), Why: why, Guess: guess}}, nil
	}
	if inner, why, ok := container(n.text()); ok && inner.kind == '{' {
		return fix(inner, why, false)
	}
	name, ok := s.Sole(tool)
	if !ok || n.kind == 'n' {
		return n, nil, nil
	}
	sole := node{kind: '{', keys: []key{{name, quote(name)}}, kids: []node{n}}
	sole.rebuild()
	return fix(sole, "a lone value is meant for the argument "+name, true)
}

// pass goes through the arguments once. Without fixes they are as they were;
// valid says that nothing is left to do.
func (s *Set) pass(tool string, sh *shape, args node) (out node, fixes []utp.Fix, valid bool) {
	if args.kind != '{' {
		return args, nil, false
	}
	step := func(n node, more []utp.Fix) {
		args, fixes = n, append(fixes, more...)
	}
	step(s.unwrap(tool, sh, args))
	step(s.renameKeys(tool, args))
	if s.opts.DropEmptyOptional {
		step(dropEmpty(sh, args))
	}
	c, want := newCoercer(sh, args), []*js{sh.root}
	if c.fits(want, args) && !args.loose {
		return args, fixes, len(fixes) == 0
	}
	out = c.fit("", want, args)
	if !c.spent() && len(c.fixes) > 0 && out.kind == '{' {
		step(out, c.fixes)
	}
	return args, fixes, false
}

// wrappers are keys that models put around all arguments.
var wrappers = []string{"arguments", "args", "input", "inputs", "parameters", "params", "properties", "kwargs", ""}

// Wraps reports whether a key is one that models put around all arguments.
func Wraps(key string) bool { return slices.Contains(wrappers, key) }

// unwrap takes the arguments out of an object whose only key is a wrapper.
func (s *Set) unwrap(tool string, sh *shape, args node) (node, []utp.Fix) {
	if len(args.keys) != 1 || !Wraps(args.keys[0].name) || len(sh.order) == 0 {
		return args, nil
	}
	name, inner := args.keys[0].name, args.kids[0]
	if inner.kind == '"' {
		inner, _, _ = container(inner.text())
	}
	if _, fix := s.Key(tool, name); fix != nil || sh.knows(name) || inner.kind != '{' || !s.belongs(tool, sh, inner) {
		return args, nil
	}
	return inner, []utp.Fix{{Was: shorten(string(args.raw), maxFix), Now: shorten(string(inner.raw), maxFix),
		Why: "all arguments stood in one called " + string(quote(name))}}
}

// belongs reports whether an object may be the tool's arguments: it is empty,
// a wrapper itself, or has a key that the tool knows.
func (s *Set) belongs(tool string, sh *shape, n node) bool {
	return len(n.keys) == 0 || slices.ContainsFunc(n.keys, func(k key) bool {
		_, fix := s.Key(tool, k.name)
		return fix != nil || sh.knows(k.name) || len(n.keys) == 1 && Wraps(k.name)
	})
}

// DropEmpty leaves out the optional arguments whose value is "", as Check does if
// the options say so. It changes nothing else.
func (s *Set) DropEmpty(tool string, args json.RawMessage) (json.RawMessage, []utp.Fix) {
	sh := s.shape(tool)
	if sh == nil {
		return args, nil
	}
	n, err := parse(args)
	if err != nil || n.kind != '{' {
		return args, nil
	}
	n, fixes := dropEmpty(sh, n)
	return written(args, n, fixes), fixes
}

// dropEmpty leaves out the arguments whose value is "" and that need not be there.
func dropEmpty(sh *shape, args node) (node, []utp.Fix) {
	out := node{kind: '{'}
	var fixes []utp.Fix
	for i, k := range args.keys {
		if string(args.kids[i].raw) == `""` && slices.Contains(sh.order, k.name) && !needs(reach(sh.atoms), k.name) {
			fixes = append(fixes, utp.Fix{Path: "/" + escape(k.name), Was: `""`, Why: "empty text for an optional argument"})
			continue
		}
		out.keys, out.kids = append(out.keys, k), append(out.kids, args.kids[i])
	}
	return settle(args, out, len(fixes) > 0), fixes
}

// issues tells what is still wrong.
func (sh *shape) issues(args node) []Issue {
	if args.kind != '{' {
		return []Issue{{"", "want an object with the arguments by name, got " + show(args.val)}}
	}
	if sh.broken != nil {
		return nil
	}
	if !sh.bearable(&args) {
		return []Issue{{"", "the arguments are nested too deeply to be checked; write them with less nesting"}}
	}
	if simple(sh.root, args.val) == fitting {
		return nil
	}
	err := validate(sh.root, args.val)
	if err == nil {
		return nil
	}
	w := wording{sh: sh, args: args.val, out: sh.strangers(args)}
	w.walk(err)
	return w.list()
}
