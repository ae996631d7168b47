package view_test

import (
	"encoding/json"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// An answer that looked at nothing does not look like any other, and what was
// done, changed and denied stands in a line.
func TestTheLastLineSaysWhatHappened(t *testing.T) {
	did := func(name, args string, status utp.Status) agent.Done {
		c := utp.Call{Name: name, Args: json.RawMessage(args)}
		return agent.Done{Call: c, Result: utp.TextResult(c, status, "")}
	}
	for want, calls := range map[string][]agent.Done{
		"note: this answer comes from the model alone: it looked at nothing here": nil,
		"2 searches, 2 files read": {did("grep", `{}`, utp.StatusOK), did("search_code", `{}`, utp.StatusOK),
			did("read_file", `{"path":"a"}`, utp.StatusOK), did("read_file", `{"path":"a"}`, utp.StatusOK), did("inspect_code", `{"path":"b"}`, utp.StatusOK)},
		"5 files changed: a, b, c, d, e; 1 call denied": {did("write_file", `{"path":"a"}`, utp.StatusOK), did("edit_block", `{"path":"a"}`, utp.StatusOK),
			did("move_file", `{"from":"b","to":"c"}`, utp.StatusOK), did("write_file", `{"path":"x"}`, utp.StatusDenied),
			did("apply_patch", `{"patch":"*** Begin Patch\n*** Update File: d\n@@\n-a\n+b\n*** Add File: e\n+x\n*** End Patch"}`, utp.StatusOK)},
		"1 other call; 2 calls denied, no file changed; 1 call failed": {did("list_dir", `{"path":"."}`, utp.StatusOK),
			did("write_file", `{"path":"x"}`, utp.StatusDenied), did("write_file", `{"path":"y"}`, utp.StatusDenied), did("read_file", `{"path":"z"}`, utp.StatusFailed)},
	} {
		if got := view.Summary(agent.Answer{Text: "It is so.", Calls: calls}, true); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
