package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
)

var write = map[string]any{"path": "a.txt", "content": "hi"}

// user answers the questions of the server and keeps them.
type user struct {
	answer sdk.ElicitResult
	err    error
	asked  []string
}

func (u *user) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		u.asked = append(u.asked, r.Params.Message)
		return &u.answer, u.err
	}}
}

func yes() sdk.ElicitResult {
	return sdk.ElicitResult{Action: "accept", Content: map[string]any{"run": true}}
}

// contract: X-08 C-09
func TestWritesNeedAYes(t *testing.T) {
	for _, c := range []struct {
		name   string
		user   *user
		allow  []string
		writes int
		asked  int
		text   string
	}{
		{"yes", &user{answer: yes()}, nil, 1, 1, "written"},
		{"no", &user{answer: sdk.ElicitResult{Action: "accept", Content: map[string]any{"run": false}}}, nil, 0, 1, "the user said no"},
		{"declined", &user{answer: sdk.ElicitResult{Action: "decline"}}, nil, 0, 1, "the user said no"},
		{"cancelled", &user{answer: sdk.ElicitResult{Action: "cancel"}}, nil, 0, 1, "the user said no"},
		{"accepted without a word", &user{answer: sdk.ElicitResult{Action: "decline", Content: map[string]any{"run": true}}}, nil, 0, 1, "the user said no"},
		{"cannot ask", nil, nil, 0, 0, "the client cannot ask the user"},
		{"allowed", nil, []string{"run"}, 1, 0, "written"},
		{"allowed by name", &user{}, []string{"write_file"}, 1, 0, "written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o *sdk.ClientOptions
			if c.user != nil {
				o = c.user.options()
			}
			client, run := serve(t, agent.Gate{Tier: utp.TierRun, Allow: c.allow}, o)
			r := call(t, client, "write_file", write)
			if run.writes != c.writes || r.IsError != (c.writes == 0) || !strings.Contains(text(r), c.text) {
				t.Errorf("%d writes, isError %v, %q", run.writes, r.IsError, text(r))
			}
			if c.user == nil {
				return
			}
			if len(c.user.asked) != c.asked {
				t.Errorf("asked %d times, want %d", len(c.user.asked), c.asked)
			}
			if c.asked > 0 && (!strings.Contains(c.user.asked[0], "write_file (RUN)") || !strings.Contains(c.user.asked[0], `"a.txt"`)) {
				t.Errorf("the question does not show the call: %q", c.user.asked[0])
			}
		})
	}
}

// contract: X-08
func TestEveryCallIsAskedAnew(t *testing.T) {
	u := &user{answer: yes()}
	client, run := serve(t, agent.Gate{Tier: utp.TierRun}, u.options())
	call(t, client, "write_file", write)
	call(t, client, "write_file", write)
	if len(u.asked) != 2 || run.writes != 2 {
		t.Errorf("asked %d times for %d writes, want 2 and 2", len(u.asked), run.writes)
	}
}

// contract: X-08
func TestAQuestionThatFailsDenies(t *testing.T) {
	u := &user{err: errors.New("no screen")}
	client, run := serve(t, agent.Gate{Tier: utp.TierRun}, u.options())
	r, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: write})
	if run.writes != 0 || err == nil && !r.IsError {
		t.Errorf("%d writes, %v, %v", run.writes, r, err)
	}
}

// A yes counts once, for the call it was given to.
//
// contract: X-08 X-14
func TestAYesCannotBeForgedOrReused(t *testing.T) {
	o := (&user{answer: yes()}).options()
	o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
	client, run := serve(t, agent.Gate{Tier: utp.TierRun}, o)
	answer := yes()
	say := func(args any, state string) *sdk.CallToolResult {
		t.Helper()
		r, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: args,
			RequestState: state, InputResponses: sdk.InputResponseMap{"confirm": &answer}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := say(write, ""); run.writes != 0 || !r.NeedsInput() {
		t.Fatalf("an answer to no question ran the call: %+v", r)
	}
	asked := say(write, "made up")
	if run.writes != 0 || asked.RequestState == "" {
		t.Fatalf("a made-up token ran the call: %+v", asked)
	}
	other := map[string]any{"path": "a.txt", "content": "something else"}
	if r := say(other, asked.RequestState); run.writes != 0 || !r.NeedsInput() {
		t.Fatalf("a yes to one call ran another: %+v", r)
	}
	asked = say(write, "")
	if r := say(write, asked.RequestState); run.writes != 1 || r.IsError {
		t.Fatalf("a good yes did not run the call: %+v", r)
	}
	if say(write, asked.RequestState); run.writes != 1 {
		t.Fatal("a yes counted twice")
	}
}

func TestConfirmOutsideMCP(t *testing.T) {
	if ok, why := mcp.Confirm(t.Context(), utp.Call{Name: "write_file"}, tools[3]); ok || why == "" {
		t.Errorf("%v %q", ok, why)
	}
}
