package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Tier ranks tools by what they may do to the machine.
type Tier = utp.Tier

// The tiers. A call of a tool of tier Run needs the user's consent.
const (
	Crawl = utp.TierCrawl // searches an index
	Walk  = utp.TierWalk  // reads
	Run   = utp.TierRun   // writes or executes
)

// Function is a Go function that a model may call. Its tier is Walk; set Run for one
// that changes something. The fields may be changed until it is offered.
type Function struct {
	utp.Tool
	run func(ctx context.Context, c utp.Call) utp.Result
}

// Func returns a tool that calls f. The model gets the JSON Schema of In, a struct or a
// map, as encoding/json reads it. The tag jsonschema describes a field, and the tag enum
// lists its allowed values:
//
//	Unit string `json:"unit,omitempty" jsonschema:"of the temperature" enum:"celsius,kelvin"`
//
// A field is required unless it is a pointer, omitempty or omitzero. Arguments that do
// not fit are refused before f runs, and the model gets the reason.
//
// Out goes to the model as it is if it is a string or bytes, else as JSON. An error or a
// panic makes the call fail, and the model gets its text.
//
// Func panics if name is empty, f is nil, or JSON cannot be read into In, such as into a
// channel.
func Func[In, Out any](name, description string, f func(context.Context, In) (Out, error)) *Function {
	arguments, err := schemaOf(reflect.TypeFor[In]())
	switch {
	case name == "":
		err = errors.New("want a name")
	case f == nil:
		err = errors.New("want a function, got nil")
	}
	if err != nil {
		panic(fmt.Sprintf("agent: Func %q: %v", name, err))
	}
	return &Function{
		Tool: utp.Tool{Name: name, Description: description, Schema: arguments, Tier: Walk},
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

// answer returns the result of a call for what the function returned.
func answer(c utp.Call, out any) utp.Result {
	if err, ok := out.(error); ok && err != nil {
		return utp.TextResult(c, utp.StatusFailed, err.Error())
	}
	switch v := reflect.Indirect(reflect.ValueOf(out)); {
	case v.Kind() == reflect.String:
		return utp.TextResult(c, utp.StatusOK, v.String())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return utp.TextResult(c, utp.StatusOK, string(v.Bytes()))
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("'%s' ran, but its result cannot be written as JSON: %v", c.Name, err))
	}
	return utp.TextResult(c, utp.StatusOK, strings.TrimSuffix(text.String(), "\n"))
}

// Functions returns a Gate that offers these functions and runs them. Those of tier Run
// need its Confirm, or their names in its Allow. It panics if two have the same name.
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
