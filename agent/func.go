package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Tier orders tools by what they may do to the machine.
type Tier = utp.Tier

// The tiers. A call of a tool of tier Run needs the user's yes.
const (
	Crawl = utp.TierCrawl // searches an index
	Walk  = utp.TierWalk  // reads
	Run   = utp.TierRun   // writes or executes
)

// Function is a Go function that a model may call. Its tier is Walk: give one
// that changes something Run. What else the model is told of it may be changed
// too, until it is offered.
type Function struct {
	utp.Tool
	run func(ctx context.Context, c utp.Call) utp.Result
}

// Func makes a tool of a function. The model gets the schema of In, a struct or a
// map: names by the tag json, what they are by the tag jsonschema, and fields
// that are not "omitempty" are required. Out goes to the model as it is if it is a
// string, else as JSON; an error as the result of a call that failed. Func panics
// if In has no schema: a channel, a function, a type within itself.
func Func[In, Out any](name, description string, f func(context.Context, In) (Out, error)) *Function {
	return &Function{
		Tool: utp.Tool{Name: name, Description: description, Schema: schemaOf[In](name), Tier: Walk},
		run: func(ctx context.Context, c utp.Call) utp.Result {
			var in In
			if err := json.Unmarshal(c.Args, &in); err != nil {
				return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("the arguments of '%s' cannot be read: %v", name, err))
			}
			out, err := f(ctx, in)
			if err != nil {
				return utp.TextResult(c, utp.StatusFailed, err.Error())
			}
			return answer(c, out)
		},
	}
}

// answer is what a function gave.
func answer(c utp.Call, out any) utp.Result {
	if v := reflect.ValueOf(out); v.Kind() == reflect.String {
		return utp.TextResult(c, utp.StatusOK, v.String())
	}
	text, err := json.Marshal(out)
	if err != nil {
		return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("'%s' ran, but its result cannot be written as JSON: %v", c.Name, err))
	}
	return utp.TextResult(c, utp.StatusOK, string(text))
}

func schemaOf[In any](name string) json.RawMessage {
	s, err := jsonschema.For[In](nil)
	if err == nil && s.Type != "object" {
		err = fmt.Errorf("want a struct or a map for the arguments, got %v", reflect.TypeFor[In]())
	}
	if err != nil {
		panic(fmt.Sprintf("agent: Func %q: %v", name, err))
	}
	neverNull(s)
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("agent: Func %q: %v", name, err))
	}
	return b
}

// neverNull takes the null from lists and pointers, which may be left out. Many
// providers take no list of types.
func neverNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if kinds := slices.DeleteFunc(slices.Clone(s.Types), func(k string) bool { return k == "null" }); len(kinds) == 1 {
		s.Type, s.Types = kinds[0], nil
	}
	for _, p := range s.Properties {
		neverNull(p)
	}
	neverNull(s.Items)
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil {
		neverNull(s.AdditionalProperties)
	}
}

// Functions is a Gate that offers these functions and runs them. Those of tier Run
// need its Confirm, or their names in its Allow.
func Functions(list ...*Function) *Gate {
	g := &Gate{}
	var tools []utp.Tool
	by := map[string]*Function{}
	for _, f := range list {
		if by[f.Name] != nil {
			panic(fmt.Sprintf("agent: two functions are called %q", f.Name))
		}
		by[f.Name], tools, g.Tier = f, append(tools, f.Tool), max(g.Tier, f.Tier)
	}
	g.Tools = schema.Compile(tools)
	g.Runner = RunnerFunc(func(ctx context.Context, c utp.Call) utp.Result { return by[c.Name].run(ctx, c) })
	return g
}
