package commands

import (
	"errors"
	"strconv"
	"strings"
)

// option is a flag by all its names. It has a value if value is set.
type option struct {
	names string // "-i --ignore-case"
	on    func()
	value func(string) error
}

// options are flags as getopt reads them: -abc, -A3, -A 3, --name=value.
type options []([]option)

func (o options) find(name string) (option, bool) {
	for _, list := range o {
		for _, f := range list {
			for n := range strings.FieldsSeq(f.names) {
				if n == name {
					return f, true
				}
			}
		}
	}
	return option{}, false
}

func unknownFlag(name string) error { return usage("unknown flag: %s", name) }

// leading reads the flags before the first word and returns the rest.
func (o options) leading(args []string) (rest []string, err error) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && args[0] != "--" {
		if args, err = o.one(args); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// all reads flags among words, which end at "--", and returns the words.
func (o options) all(args []string) (words []string, err error) {
	for len(args) > 0 {
		switch {
		case args[0] == "--":
			return append(words, args[1:]...), nil
		case len(args[0]) > 1 && args[0][0] == '-':
			if args, err = o.one(args); err != nil {
				return nil, err
			}
		default:
			words, args = append(words, args[0]), args[1:]
		}
	}
	return words, nil
}

// one reads the flag, or the letters, in args[0] and returns what follows.
func (o options) one(args []string) (rest []string, err error) {
	word, rest := args[0], args[1:]
	if f, ok := o.find(word); ok { // as it is: --long, or -name as find has it
		return o.apply(f, word, nil, rest)
	}
	if strings.HasPrefix(word, "--") {
		name, value, has := strings.Cut(word, "=")
		f, ok := o.find(name)
		if !ok {
			return nil, unknownFlag(name)
		}
		if !has {
			return o.apply(f, name, nil, rest)
		}
		return o.apply(f, name, &value, rest)
	}
	for i, c := range word[1:] {
		f, ok := o.find("-" + string(c))
		switch {
		case !ok && i == 0:
			return nil, unknownFlag(word)
		case !ok:
			return nil, unknownFlag("-" + string(c))
		}
		if f.value != nil {
			var value *string
			if after := word[1+i+len(string(c)):]; after != "" {
				value = &after
			}
			return o.apply(f, "-"+string(c), value, rest)
		}
		f.on()
	}
	return rest, nil
}

func (o options) apply(f option, name string, value *string, rest []string) ([]string, error) {
	switch {
	case f.value == nil && value != nil:
		return nil, usage("%s takes no value", name)
	case f.value == nil:
		f.on()
		return rest, nil
	case value == nil && len(rest) == 0:
		return nil, usage("%s wants a value", name)
	case value == nil:
		value, rest = &rest[0], rest[1:]
	}
	if err := f.value(*value); err != nil {
		if already := new(failure); errors.As(err, &already) {
			return nil, err
		}
		return nil, usage("%s %s: %v", name, *value, err)
	}
	return rest, nil
}

func toggle(names string, at *bool) option { return option{names: names, on: func() { *at = true }} }

// either sets one of two flags, of which the last that is given counts.
func either(names string, at, other *bool) option {
	return option{names: names, on: func() { *at, *other = true, false }}
}

func text(names string, at *string) option {
	return option{names: names, value: func(s string) error { *at = s; return nil }}
}

func list(names string, at *[]string) option {
	return option{names: names, value: func(s string) error { *at = append(*at, s); return nil }}
}

// wanted says what a value has to be.
type wanted string

func (w wanted) Error() string { return string(w) }

func number(names string, at *int, least int) option {
	return option{names: names, value: func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return wanted("want a whole number of at least " + strconv.Itoa(least))
		}
		*at = n
		return nil
	}}
}

// globalOptions are read before a command.
func (a *app) globalOptions() []option {
	g := &a.globals
	return append(a.sharedOptions(), toggle("-i", &g.raw), text("--handle", &g.handle), number("--chunk", &g.chunk, 1), toggle("--list-handles", &g.list),
		toggle("--stats", &g.stats), toggle("--version", &g.version), toggle("-h --help", &g.help))
}

// sharedOptions are also read after one of te's own commands. Only te itself has
// --raw, whose output nothing bounds.
func (a *app) sharedOptions() []option {
	g := &a.globals
	all := []option{toggle("--json", &g.json), number("--budget", &g.budget, 1), {names: "--root", value: a.setRoot}}
	if a.inner == nil {
		all = append(all, toggle("--raw", &g.raw))
	}
	return all
}

// setRoot is --root. After a command the workspace is open already.
func (a *app) setRoot(dir string) error {
	if a.inner != nil {
		return wanted("the root is the server's")
	}
	a.dir = dir
	if a.root == nil {
		return nil
	}
	a.root.Close()
	a.root = nil
	return a.begin()
}
