package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

// DryRun is the outcome of --dry-run with --json.
type DryRun struct {
	Calls    []utp.Call    `json:"tool_calls"`
	Issues   []agent.Issue `json:"issues"`
	Problems []utp.Problem `json:"problems"`
	Text     string        `json:"text"`
	Model    string        `json:"model"`
}

// NewPreview makes the object of a reply whose calls were not run.
func NewPreview(r utp.Reply, issues []agent.Issue) DryRun {
	return DryRun{append([]utp.Call{}, r.Calls()...), append([]agent.Issue{}, issues...),
		append([]utp.Problem{}, r.Problems...), r.Text(), r.Model}
}

// Preview prints the calls of a reply that were not run, and what would be
// said against them.
func (p *Printer) Preview(w io.Writer, r utp.Reply, issues []agent.Issue) {
	calls := r.Calls()
	for i, c := range calls {
		from := "  [" + c.Source + "]"
		if p.Unmarked {
			from = ""
		}
		fmt.Fprintf(w, "%d. %s %s%s\n", i+1, Clean(c.Name), Clean(string(c.Args)), from)
		for _, is := range issues {
			if is.CallID == c.ID && is.Tool == c.Name {
				fmt.Fprintf(w, "   %s: %s\n", is.Severity, strings.ReplaceAll(Clean(is.Message), "\n", "\n     "))
			}
		}
	}
	for _, is := range issues {
		if is.CallID == "" && !named(calls, is) {
			fmt.Fprintf(w, "%s: %s\n", is.Severity, Clean(is.Message))
		}
	}
	for _, bad := range r.Problems {
		if bad.Raw != "" {
			fmt.Fprintf(w, "       it wrote: %s\n", Clean(short(bad.Raw, 200)))
		}
	}
	if len(calls) == 0 {
		fmt.Fprintf(w, "no tool calls; the model said: %s\n", Clean(first(r.Text(), "nothing")))
	}
	fmt.Fprintln(w, "Nothing was run.")
}

func named(calls []utp.Call, is agent.Issue) bool {
	for _, c := range calls {
		if c.ID == is.CallID && c.Name == is.Tool {
			return true
		}
	}
	return false
}
