package parse_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp/parse"
)

// How much is mended is a setting. A call that is cut off is none in any.
func TestRepair(t *testing.T) {
	const (
		comma     = `<tool_call>{"name": "f", "arguments": {"x": 1,}}</tool_call>`
		ambiguous = `<tool_call>{"name": "f", "arguments": {"x": "a}} {"b": "c", "y": 1}}</tool_call>`
		cut       = `<tool_call>{"name": "f", "arguments": {"x": "a`
	)
	for _, c := range []struct {
		repair parse.Repair
		in     string
		calls  int
	}{
		{parse.Off, comma, 0}, {parse.Safe, comma, 1}, {parse.Aggressive, comma, 1},
		{parse.Off, ambiguous, 0}, {parse.Safe, ambiguous, 0}, {parse.Aggressive, ambiguous, 1},
		{parse.Off, cut, 0}, {parse.Safe, cut, 0}, {parse.Aggressive, cut, 0},
	} {
		reply := parse.Text(parse.Config{Repair: c.repair}, c.in)
		if n := len(reply.Calls()); n != c.calls {
			t.Errorf("repair %d: %d calls in %s, want %d: %v", c.repair, n, c.in, c.calls, reply.Problems)
		}
		for _, call := range reply.Calls() {
			if len(call.Fixes) == 0 {
				t.Errorf("repair %d: %s has no fix", c.repair, c.in)
			}
		}
	}
}
