package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxIssues bounds what one call is told.
const maxIssues = 10

// wording puts the validator's findings into words for a model.
type wording struct {
	sh   *shape
	args any
	out  []Issue
}

// list sorts the issues and cuts the list.
func (w *wording) list() []Issue {
	slices.SortFunc(w.out, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	out := slices.Compact(w.out)
	if more := len(out) - maxIssues + 1; more > 1 {
		out = append(out[:maxIssues-1], Issue{"", fmt.Sprintf("and %d more problems of this sort", more)})
	}
	return out
}

func (w *wording) add(at []string, format string, args ...any) {
	w.out = append(w.out, Issue{pointer(at), fmt.Sprintf(format, args...)})
}

func pointer(at []string) string {
	var b strings.Builder
	for _, step := range at {
		b.WriteString("/" + escape(step))
	}
	return b.String()
}

// walk goes down to the findings that name a cause.
func (w *wording) walk(err *jsonschema.ValidationError) {
	switch k := err.ErrorKind.(type) {
	case *kind.AnyOf:
		w.alternatives(err)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			w.add(err.InstanceLocation, "fits two of the allowed forms at once; give the fields of one form only")
			return
		}
		w.alternatives(err)
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range err.Causes {
			w.walk(cause)
		}
	default:
		w.cause(err)
	}
}

// cause words one finding.
func (w *wording) cause(err *jsonschema.ValidationError) {
	at := err.InstanceLocation
	switch k := err.ErrorKind.(type) {
	case *kind.Required:
		w.missing(at, k.Missing, "")
	case *kind.Dependency:
		w.missing(at, k.Missing, k.Prop)
	case *kind.DependentRequired:
		w.missing(at, k.Missing, k.Prop)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			w.add(append(slices.Clone(at), name), "%s", noSuch(field(at), name, w.known(at)))
		}
	case *kind.PropertyNames:
		// The validator lets later locations overwrite this one, so it cannot be told.
		w.add(nil, "the name %s is not allowed", show(k.Property))
	default:
		w.add(at, "%s", describe(err, lookup(w.args, at)))
	}
}

// missing words what is not there, with its type and description.
func (w *wording) missing(at, names []string, with string) {
	atoms := w.atoms(at)
	for _, name := range names {
		text := fmt.Sprintf("missing required %s %s", field(at), show(name))
		if about := summary(member(atoms, name)); about != "" {
			text += " (" + about + ")"
		}
		if with != "" {
			text += ", needed together with " + show(with)
		}
		w.add(at, "%s", text)
	}
}

// field is what a member is called at that place.
func field(at []string) string {
	if len(at) == 0 {
		return "argument"
	}
	return "field"
}

// known lists what may stand at that place.
func (w *wording) known(at []string) []string {
	if len(at) == 0 {
		return w.sh.order
	}
	return slices.Sorted(maps.Keys(properties(w.atoms(at))))
}

// atoms gives the schemas of the value at that place.
func (w *wording) atoms(at []string) []*js {
	v := w.args
	want := []*js{w.sh.root}
	for _, step := range at {
		atoms := reach(flatten(want, v))
		if _, isList := v.([]any); isList {
			i, _ := strconv.Atoi(step)
			want = element(atoms, i)
		} else {
			want = member(atoms, step)
		}
		v = lookup(v, []string{step})
	}
	return reach(flatten(want, v))
}

// alternatives words that v fits none of several forms: the form that it was
// meant to have, if one stands out, else all of them.
func (w *wording) alternatives(err *jsonschema.ValidationError) {
	var meant []*jsonschema.ValidationError
	var want []string
	for _, cause := range err.Causes {
		types, wrong := wrongKind(cause, err.InstanceLocation)
		if !wrong {
			meant = append(meant, cause)
		}
		for _, t := range types {
			if !slices.Contains(want, t) {
				want = append(want, t)
			}
		}
	}
	switch {
	case len(meant) == 0 && len(want) > 0:
		w.add(err.InstanceLocation, "want %s, got %s", strings.Join(want, " or "), show(lookup(w.args, err.InstanceLocation)))
	case len(meant) == 1:
		w.walk(meant[0])
	default:
		w.forms(err, meant)
	}
}

// wrongKind reports whether v fails a form in that it is of another type, has
// another value, or another value in a field that tells the forms apart; with
// what was wanted in the first two cases.
func wrongKind(err *jsonschema.ValidationError, at []string) (want []string, wrong bool) {
	for _, leaf := range leaves(err) {
		here := len(leaf.InstanceLocation) == len(at)
		switch k := leaf.ErrorKind.(type) {
		case *kind.Type:
			if here {
				return []string{wanted(k.Want)}, true
			}
		case *kind.Enum:
			if here {
				return []string{oneOf(k.Want)}, true
			}
		case *kind.Const:
			if here {
				return []string{show(k.Want)}, true
			}
			wrong = wrong || len(leaf.InstanceLocation) == len(at)+1
		}
	}
	return nil, wrong
}

func leaves(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(err.Causes) == 0 {
		return []*jsonschema.ValidationError{err}
	}
	var out []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		out = append(out, leaves(cause)...)
	}
	return out
}

// maxForms bounds the alternatives that one issue spells out.
const maxForms = 4

// forms says for each alternative what is wrong first.
func (w *wording) forms(err *jsonschema.ValidationError, meant []*jsonschema.ValidationError) {
	if len(meant) == 0 {
		meant = err.Causes
	}
	var texts []string
	for _, cause := range meant[:min(len(meant), maxForms)] {
		sub := wording{sh: w.sh, args: w.args}
		sub.walk(cause)
		if list := sub.list(); len(list) > 0 {
			issue := list[0]
			issue.Path = strings.TrimPrefix(issue.Path, pointer(err.InstanceLocation))
			texts = append(texts, issue.Error())
		}
	}
	slices.Sort(texts)
	w.add(err.InstanceLocation, "fits none of the allowed forms: %s", strings.Join(slices.Compact(texts), "; or "))
}
