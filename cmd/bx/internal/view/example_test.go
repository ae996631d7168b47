package view_test

import (
	"encoding/json"
	"os"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

func Example() {
	p := view.Printer{Out: os.Stdout, Err: os.Stdout}
	call := utp.Call{Name: "list_dir", Args: json.RawMessage(`{"path":"."}`), Source: "text:react"}
	result := utp.TextResult(call, utp.StatusOK, "a.go\nb.go\n")
	p.Event(agent.Event{Kind: agent.Parsed, Call: &call})
	p.Event(agent.Event{Kind: agent.Succeeded, Call: &call, Result: &result})
	p.Answer("There are a.go and b.go.")
	// Output:
	// list_dir {"path":"."}  [found in text: react]
	//   list_dir: ok, 2 lines
	// There are a.go and b.go.
}
