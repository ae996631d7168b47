package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

type trip struct {
	To     string   `json:"to" jsonschema:"the city, or an airport"`
	Nights int      `json:"nights,omitempty"`
	Guests []string `json:"guests,omitempty"`
	Budget *float64 `json:"budget,omitempty"`
}

type booking struct {
	Price int    `json:"price"`
	For   string `json:"for"`
}

type place string

func book(_ context.Context, t trip) (booking, error) {
	if t.To == "" {
		return booking{}, errors.New("there is no place without a name")
	}
	return booking{100 * t.Nights, strings.Join(t.Guests, ", ")}, nil
}

// The schema is that of the struct: names, words, what is required, no null.
func TestFuncHasTheSchemaOfItsArguments(t *testing.T) {
	f := agent.Func("book", "Books a trip.", book)
	const want = `{"type":"object","properties":{"to":{"type":"string","description":"the city, or an airport"},"nights":{"type":"integer"},` +
		`"guests":{"type":"array","items":{"type":"string"}},"budget":{"type":"number"}},"required":["to"],"additionalProperties":false}`
	if string(f.Schema) != want {
		t.Errorf("got  %s\nwant %s", f.Schema, want)
	}
	if f.Tier != agent.Walk || f.Name != "book" || f.Description != "Books a trip." {
		t.Errorf("%+v", f.Tool)
	}
}

// A function gets arguments that fit, and answers in JSON, in its own words, or
// with why it failed.
func TestFuncRuns(t *testing.T) {
	g := agent.Functions(agent.Func("book", "Books a trip.", book),
		agent.Func("home", "", func(context.Context, struct{}) (place, error) { return "Oslo <3", nil }),
		agent.Func("endless", "", func(context.Context, struct{}) (chan int, error) { return nil, nil }))
	for _, c := range []struct {
		call, args string
		status     utp.Status
		want       string
	}{
		{"book", `{"to":"Oslo","nights":"2","guests":["Ann","Bob"]}`, utp.StatusOK, `{"price":200,"for":"Ann, Bob"}`},
		{"book", `{"to":""}`, utp.StatusFailed, "there is no place without a name"},
		{"book", `{}`, utp.StatusFailed, "do not fit its schema"},
		{"home", `{}`, utp.StatusOK, "Oslo <3"},
		{"endless", `{}`, utp.StatusFailed, "cannot be written as JSON"},
		{"away", `{}`, utp.StatusFailed, "does not exist"},
	} {
		r := g.Run(t.Context(), utp.Call{ID: "1", Name: c.call, Args: []byte(c.args)})
		if r.Status != c.status || !strings.Contains(r.Text(), c.want) {
			t.Errorf("%s %s: %s %q", c.call, c.args, r.Status, r.Text())
		}
	}
}

// A function of tier Run waits for a yes.
func TestFuncOfTierRunAsks(t *testing.T) {
	f := agent.Func("book", "Books a trip.", book)
	f.Tier = agent.Run
	g := agent.Functions(f)
	c := utp.Call{ID: "1", Name: "book", Args: []byte(`{"to":"Oslo"}`)}
	if r := g.Run(t.Context(), c); r.Status != utp.StatusDenied {
		t.Errorf("ran unasked: %s", r.Text())
	}
	asked := 0
	g.Confirm = func(context.Context, utp.Call, utp.Tool) (bool, string) { asked++; return true, "" }
	if r := g.Run(t.Context(), c); r.Status != utp.StatusOK || asked != 1 {
		t.Errorf("%s: asked %d times", r.Text(), asked)
	}
}

func TestFuncThatCannotBe(t *testing.T) {
	for name, make := range map[string]func(){
		"no object": func() { agent.Func("f", "", func(context.Context, int) (int, error) { return 0, nil }) },
		"a channel": func() {
			agent.Func("f", "", func(context.Context, struct{ C chan int }) (int, error) { return 0, nil })
		},
		"keys that are no texts": func() {
			agent.Func("f", "", func(context.Context, map[bool]int) (int, error) { return 0, nil })
		},
		"an interface with methods": func() {
			agent.Func("f", "", func(context.Context, struct{ E error }) (int, error) { return 0, nil })
		},
		"an embedded pointer that cannot be set": func() {
			agent.Func("f", "", func(context.Context, struct{ *trip }) (int, error) { return 0, nil })
		},
		"keywords for a description": func() {
			agent.Func("f", "", func(context.Context, struct {
				C string `jsonschema:"enum=red"`
			}) (int, error) {
				return 0, nil
			})
		},
		"a value that is none of the type": func() {
			agent.Func("f", "", func(context.Context, struct {
				N int `enum:"one"`
			}) (int, error) {
				return 0, nil
			})
		},
		"no name":     func() { agent.Func("", "", func(context.Context, struct{}) (int, error) { return 0, nil }) },
		"no function": func() { agent.Func[struct{}, int]("f", "", nil) },
		"two of a name": func() {
			f := agent.Func("f", "", func(context.Context, struct{}) (int, error) { return 0, nil })
			agent.Functions(f, f)
		},
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.HasPrefix(p, "agent: ") {
					t.Errorf("%s: %v", name, p)
				}
			}()
			make()
			t.Errorf("%s: made", name)
		}()
	}
}
