package agent_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// parrot calls a tool and then repeats what it got.
type parrot struct{}

func (parrot) Stream(_ context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	last := r.Messages[len(r.Messages)-1]
	reply := utp.Reply{Message: utp.Message{Parts: []utp.Part{
		utp.Call{Name: "read_file", Args: []byte(`{"path":"go.mod"}`), Source: utp.SourceNative},
	}}}
	if rs := last.Results(); len(rs) > 0 {
		reply.Parts = []utp.Part{utp.Text{Text: "It says: " + rs[0].Text()}}
	}
	return func(yield func(utp.Event, error) bool) {
		for _, e := range utp.Replay(reply) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func Example() {
	tools := []utp.Tool{{Name: "read_file", Tier: agent.Walk,
		Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}}
	gate := &agent.Gate{
		Tools: schema.Compile(tools),
		Tier:  agent.Walk,
		Runner: agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
			return utp.TextResult(c, utp.StatusOK, "module example")
		}),
	}
	question := utp.Question("Which module is this?")
	for e, err := range agent.Turn(context.Background(), agent.Config{Model: parrot{}, Gate: gate}, question) {
		if err != nil {
			panic(err)
		}
		switch e.Kind {
		case agent.Started:
			fmt.Println("runs", e.Call.ID, e.Call.Name, string(e.Call.Args))
		case agent.Final:
			fmt.Println(e.Answer.Text)
		}
	}
	// Output:
	// runs call_1_1 read_file {"path":"go.mod"}
	// It says: module example
}

type file struct {
	Path string `json:"path" jsonschema:"below the root, with slashes"`
	From int    `json:"from,omitempty" jsonschema:"the first line; 1 if left out"`
}

// A Go function is a tool: the model gets the schema of its argument, and its error as
// a result.
func ExampleFunc() {
	read := agent.Func("read_file", "Reads a file.", func(_ context.Context, in file) (string, error) {
		if in.Path != "go.mod" {
			return "", fmt.Errorf("there is no file %q", in.Path)
		}
		return "module example", nil
	})
	fmt.Println(string(read.Schema))

	config := agent.Config{Model: parrot{}, Gate: agent.Functions(read)}
	answer, err := agent.Ask(context.Background(), config, utp.Question("Which module is this?"))
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Text)
	// Output:
	// {"type":"object","properties":{"path":{"type":"string","description":"below the root, with slashes"},"from":{"type":"integer","description":"the first line; 1 if left out"}},"required":["path"],"additionalProperties":false}
	// It says: module example
}

func ExampleRaise() {
	table := agent.Intents()
	for _, q := range []string{"How does the address book work?", "fix the typo in README"} {
		fmt.Println(agent.Raise(q, agent.Walk, agent.Run, table).Why)
	}
	// Output:
	// WALK: nothing in the question asks for more
	// RUN: the question says "fix"
}

// A member answers a task with a model and tools of its own; who calls it sees
// a tool.
func ExampleTeam() {
	reader := &agent.Member{Name: "reader", Description: "Reads files.", Config: agent.Config{Model: parrot{}, Gate: &agent.Gate{
		Tools: schema.Compile([]utp.Tool{{Name: "read_file", Tier: agent.Walk, Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}),
		Tier:  agent.Walk,
		Runner: agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
			return utp.TextResult(c, utp.StatusOK, "module example")
		}),
	}}}
	team := &agent.Team{Members: []*agent.Member{reader}}
	r := team.Run(context.Background(), utp.Call{ID: "1", Name: "reader", Args: []byte(`{"task":"Which module is this?"}`)})
	fmt.Println(r.Status, r.Text())
	// Output: ok It says: module example
}
