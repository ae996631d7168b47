package agent_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Equal calls, written without ids, in one round, over rounds and over
// questions: each has an id of its own.
//
// contract: I-02
func TestEqualCallsHaveDifferentIDs(t *testing.T) {
	const same = "textcall read_file {\"path\":\"a\"}\n"
	m := readScript(same + same + "---\n" + same + "---\ntext Done.\n---\n" + same + "---\ntext Done.\n")
	conf := config("", m, &bench{})
	conf.Session = &notebook{}
	seen := map[string]bool{}
	for _, question := range []string{"First?", "Second?"} {
		a, err := agent.Ask(t.Context(), conf, ask(question))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range a.Calls {
			if d.Call.ID == "" || seen[d.Call.ID] || d.Result.CallID != d.Call.ID {
				t.Errorf("%s: the id %q of a call, %q of its result", question, d.Call.ID, d.Result.CallID)
			}
			seen[d.Call.ID] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d ids, want 4: %v", len(seen), seen)
	}
}

// A tool that cannot be described is not offered; the others are, and the set
// says what is wrong.
//
// contract: M-14
func TestAToolWithoutANameLeavesTheOthers(t *testing.T) {
	set := schema.Compile([]utp.Tool{tools[0], {Description: "Nameless."}, {Name: "odd", Schema: json.RawMessage(`{"type":`)}, tools[1]})
	m := readScript("text Done.\n")
	if _, err := agent.Ask(t.Context(), agent.Config{Model: m, Gate: &agent.Gate{Tools: set, Tier: utp.TierWalk}}, ask("?")); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range m.requests[0].Tools {
		names = append(names, tool.Name)
	}
	if d := cmp.Diff([]string{"search_code", "odd", "read_file"}, names); d != "" {
		t.Error(d)
	}
	var why []string
	for _, issue := range set.Broken() {
		why = append(why, issue.Error())
	}
	if len(why) != 2 || why[0] != "tools[1]: the tool has no name; it is left out" || !strings.HasPrefix(why[1], "odd: its schema cannot be used") {
		t.Errorf("%q", why)
	}
}

// What a schema compiles to serves the whole conversation: the first call pays
// for it, the next ones do not.
//
// contract: N-11 M-10
func TestASchemaIsCompiledOnce(t *testing.T) {
	var properties strings.Builder
	for i := range 500 {
		fmt.Fprintf(&properties, `,"p%d":{"type":"array","items":{"anyOf":[{"type":"integer"},{"enum":["a","b"]}]}}`, i)
	}
	big := utp.Tool{Name: "big", Schema: json.RawMessage(`{"type":"object","properties":{` + properties.String()[1:] + `}}`)}
	gate := &agent.Gate{Tools: schema.Compile([]utp.Tool{big}), Runner: &bench{}}
	call := utp.Call{Name: "big", Args: json.RawMessage(`{"p7":[1,"a"]}`)}
	var bytes [3]uint64
	for i := range bytes {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := gate.Run(t.Context(), call)
		runtime.ReadMemStats(&after)
		if bytes[i] = after.TotalAlloc - before.TotalAlloc; r.Status != utp.StatusOK {
			t.Fatalf("%+v", r)
		}
	}
	if bytes[1] > bytes[0]/10 || bytes[2] > bytes[0]/10 {
		t.Errorf("the calls took %v bytes, want less than a tenth from the second on", bytes)
	}
}
