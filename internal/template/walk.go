package template

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"
)

// maxDepth is how deep templates may use each other.
const maxDepth = 1000

// run is one template at work.
type run struct {
	set       Set
	tree      *parse.Tree
	out       *strings.Builder
	variables []variable // those in scope; the last of a name counts
	depth     int
}

type variable struct {
	name  string
	value any
}

// errBreak and errContinue end a turn of a range.
var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

// fail is an error at a node.
func (r *run) fail(n parse.Node, format string, args ...any) error {
	where, context := r.tree.ErrorContext(n)
	return fmt.Errorf("template: %s: executing %q at <%s>: %w", where, r.tree.Name, context, fmt.Errorf(format, args...))
}

// walk writes what a node makes of dot.
func (r *run) walk(dot any, node parse.Node) error {
	switch n := node.(type) {
	case *parse.TextNode:
		r.out.Write(n.Text)
	case *parse.ActionNode:
		v, err := r.pipe(dot, n.Pipe)
		if err != nil || len(n.Pipe.Decl) > 0 {
			return err
		}
		return r.print(n, v)
	case *parse.ListNode:
		for _, sub := range n.Nodes {
			if err := r.walk(dot, sub); err != nil {
				return err
			}
		}
	case *parse.IfNode:
		return r.branch(dot, &n.BranchNode, false)
	case *parse.WithNode:
		return r.branch(dot, &n.BranchNode, true)
	case *parse.RangeNode:
		return r.repeat(dot, n)
	case *parse.TemplateNode:
		return r.use(dot, n)
	case *parse.BreakNode:
		return errBreak
	case *parse.ContinueNode:
		return errContinue
	}
	return nil
}

// scope gives the function that forgets the variables declared from here on.
func (r *run) scope() func() {
	n := len(r.variables)
	return func() { r.variables = r.variables[:n] }
}

// branch is if and with.
func (r *run) branch(dot any, n *parse.BranchNode, with bool) error {
	defer r.scope()()
	v, err := r.pipe(dot, n.Pipe)
	if err != nil {
		return err
	}
	switch yes, ok := template.IsTrue(v); {
	case !ok:
		return r.fail(n, "if/with can't use %v", v)
	case !yes:
		return r.otherwise(dot, n)
	case with:
		dot = v
	}
	return r.walk(dot, n.List)
}

func (r *run) otherwise(dot any, n *parse.BranchNode) error {
	if n.ElseList == nil {
		return nil
	}
	return r.walk(dot, n.ElseList)
}

func (r *run) repeat(dot any, n *parse.RangeNode) error {
	defer r.scope()()
	over, err := r.pipe(dot, n.Pipe)
	if err != nil {
		return err
	}
	v, count, at := reflect.Indirect(reflect.ValueOf(over)), 0, func(i int) any { return i }
	switch k := v.Kind(); {
	case k == reflect.Invalid:
	case k == reflect.Slice || k == reflect.Array:
		count, at = v.Len(), func(i int) any { return v.Index(i).Interface() }
	case v.CanInt() && len(n.Pipe.Decl) < 2:
		count = int(v.Int())
	default:
		return r.fail(n, "range can't iterate over %v", over)
	}
	if count <= 0 {
		return r.otherwise(dot, &n.BranchNode)
	}
	for i := range count {
		pair := []any{i, at(i)}[2-max(1, len(n.Pipe.Decl)):]
		for k, d := range n.Pipe.Decl {
			r.assign(d.Ident[0], pair[k])
		}
		if err := r.turn(at(i), n.List); errors.Is(err, errBreak) {
			break
		} else if err != nil && !errors.Is(err, errContinue) {
			return err
		}
	}
	return nil
}

// turn is one turn of a range.
func (r *run) turn(dot any, list *parse.ListNode) error {
	defer r.scope()()
	return r.walk(dot, list)
}

func (r *run) use(dot any, n *parse.TemplateNode) error {
	tree := r.set[n.Name]
	switch {
	case tree == nil:
		return r.fail(n, "template %q not defined", n.Name)
	case r.depth == maxDepth:
		return r.fail(n, "exceeded maximum template depth (%v)", maxDepth)
	}
	v, err := r.pipe(dot, n.Pipe)
	if err != nil {
		return err
	}
	inner := run{r.set, tree, r.out, []variable{{"$", v}}, r.depth + 1}
	return inner.walk(v, tree.Root)
}

// print writes a value as fmt does, and what a pointer points at.
func (r *run) print(n parse.Node, v any) error {
	switch v.(type) {
	case nil:
		r.out.WriteString("<no value>")
		return nil
	case error, fmt.Stringer:
	default:
		p := reflect.ValueOf(v)
		if p.Kind() == reflect.Pointer && !p.IsNil() {
			return r.print(n, p.Elem().Interface())
		}
		if p.Kind() == reflect.Func || p.Kind() == reflect.Chan {
			return r.fail(n, "can't print %s of type %s", n, p.Type())
		}
	}
	fmt.Fprint(r.out, v)
	return nil
}
