package template

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// pipe is the value of a pipeline, which its variables take.
func (r *run) pipe(dot any, n *parse.PipeNode) (v any, err error) {
	if n == nil {
		return nil, nil
	}
	var last []any // of the command before
	for _, c := range n.Cmds {
		if v, err = r.command(dot, c, last); err != nil {
			return nil, err
		}
		last = []any{v}
	}
	for _, d := range n.Decl {
		if n.IsAssign {
			r.assign(d.Ident[0], v)
		} else {
			r.variables = append(r.variables, variable{d.Ident[0], v})
		}
	}
	return v, nil
}

// assign gives the variable of a name another value. The parser knows that it is there.
func (r *run) assign(name string, v any) {
	if i := r.find(name); i >= 0 {
		r.variables[i].value = v
	}
}

func (r *run) find(name string) int {
	for i, v := range slices.Backward(r.variables) {
		if v.name == name {
			return i
		}
	}
	return -1
}

// command is a function with its arguments, or a value.
func (r *run) command(dot any, n *parse.CommandNode, last []any) (any, error) {
	first := n.Args[0]
	if id, ok := first.(*parse.IdentifierNode); ok {
		return r.call(dot, id, n.Args[1:], last)
	}
	if len(n.Args) > 1 || len(last) > 0 {
		return nil, r.fail(first, "can't give argument to non-function %s", first)
	}
	if _, ok := first.(*parse.NilNode); ok {
		return nil, r.fail(n, "nil is not a command")
	}
	return r.value(dot, first)
}

// value is an operand.
func (r *run) value(dot any, node parse.Node) (any, error) {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		return r.fields(n, dot, n.Ident)
	case *parse.VariableNode:
		if i := r.find(n.Ident[0]); i >= 0 {
			return r.fields(n, r.variables[i].value, n.Ident[1:])
		}
		return nil, r.fail(n, "undefined variable: %s", n.Ident[0])
	case *parse.ChainNode:
		v, err := r.value(dot, n.Node)
		if err != nil {
			return nil, err
		}
		return r.fields(n, v, n.Field)
	case *parse.PipeNode:
		return r.pipe(dot, n)
	case *parse.IdentifierNode:
		return r.call(dot, n, nil, nil)
	case *parse.BoolNode:
		return n.True, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return r.number(n)
	}
	return nil, nil // nil itself
}

// number is a constant, of the type that Go would give it.
func (r *run) number(n *parse.NumberNode) (any, error) {
	text := strings.ToLower(n.Text)
	floating := strings.ContainsAny(text, ".p") || strings.Contains(text, "e") && !strings.Contains(text, "0x")
	switch {
	case n.IsComplex:
		return n.Complex128, nil
	case n.IsFloat && floating && text[0] != '\'':
		return n.Float64, nil
	case n.IsInt && int64(int(n.Int64)) == n.Int64:
		return int(n.Int64), nil
	}
	return nil, r.fail(n, "%s overflows int", n.Text)
}

// fields follows a chain of fields.
func (r *run) fields(n parse.Node, v any, names []string) (_ any, err error) {
	for _, name := range names {
		if v, err = field(v, name); err != nil {
			return nil, r.fail(n, "%w", err)
		}
	}
	return v, nil
}

func field(of any, name string) (any, error) {
	v := reflect.ValueOf(of)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, fmt.Errorf("nil pointer evaluating %T.%s", of, name)
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Invalid:
		return nil, nil
	case reflect.Struct:
		f, ok := v.Type().FieldByName(name)
		if !ok {
			break
		}
		if !f.IsExported() {
			return nil, fmt.Errorf("%s is an unexported field of struct type %T", name, of)
		}
		in, err := v.FieldByIndexErr(f.Index)
		if err != nil {
			return nil, err
		}
		return in.Interface(), nil
	}
	return nil, fmt.Errorf("can't evaluate field %s in type %T", name, of)
}

// call runs a function. Of and and or, the first argument that decides is the value,
// and those behind it are not looked at.
func (r *run) call(dot any, id *parse.IdentifierNode, nodes []parse.Node, last []any) (any, error) {
	f := functions[id.Ident]
	if n := len(nodes) + len(last); n < f.least || f.most >= 0 && n > f.most {
		return nil, r.fail(id, "wrong number of args for %s: want %s got %d", id.Ident, f.want(), n)
	}
	lazy := id.Ident == "and" || id.Ident == "or"
	args := make([]any, 0, len(nodes)+1)
	for _, n := range nodes {
		v, err := r.value(dot, n)
		if err != nil {
			return nil, err
		}
		if lazy && truth(v) == (id.Ident == "or") {
			return v, nil
		}
		args = append(args, v)
	}
	args = append(args, last...)
	if lazy {
		return args[len(args)-1], nil
	}
	v, err := f.do(args)
	if err != nil {
		return nil, r.fail(id, "error calling %s: %w", id.Ident, err)
	}
	return v, nil
}

func truth(v any) bool {
	yes, _ := template.IsTrue(v)
	return yes
}
