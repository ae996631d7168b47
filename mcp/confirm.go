package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

// Confirm asks the user, through the client whose call ctx belongs to, whether
// the call may run. It is the Confirm of an agent.Gate that serves MCP. The
// text is the reason of a no.
//
// In MCP a question is the answer to the first try of a call, and the client
// tries again with the user's word. So the first time Confirm says no and
// leaves the question with the server, which sends it in place of the result.
// The word counts once, and for this very call alone.
func Confirm(ctx context.Context, c utp.Call, t utp.Tool) (ok bool, why string) {
	a, _ := ctx.Value(askKey{}).(*asking)
	switch {
	case a == nil:
		return false, "there is nobody to ask: the call did not come over MCP"
	case !a.able:
		return false, "the client cannot ask the user (it has no elicitation); only the one who starts the server can allow it"
	case !a.answered:
		a.question = question(c, t)
		return false, "the user is being asked"
	case !a.yes:
		return false, "the user said no"
	}
	return true, ""
}

type askKey struct{}

// asking is the state of the question about one call.
type asking struct {
	all      *questions
	call     string // what the question is about
	able     bool   // the client can ask the user
	answered bool
	yes      bool
	question string // to send; "" is none
}

// questions holds the questions that were sent and not answered yet, by their
// token.
type questions struct {
	mu    sync.Mutex
	calls map[string]string // token → the call it is about
	order []string          // tokens, oldest first
}

func newQuestions() *questions { return &questions{calls: map[string]string{}} }

// maxOpen questions are remembered; an older one must be asked again.
const maxOpen = 100

// inputName is the name of the question in the client's answer.
const inputName = "confirm"

// begin reads what the client sent along with a call: the answer to an earlier
// question, if it is one to this call.
func (q *questions) begin(client *sdk.ClientCapabilities, answers sdk.InputResponseMap, state string, c utp.Call) *asking {
	a := &asking{all: q, call: identity(c), able: canAsk(client)}
	answer, _ := answers[inputName].(*sdk.ElicitResult)
	if answer != nil && q.take(state) == a.call {
		a.answered, a.yes = true, answer.Action == "accept" && answer.Content["run"] == true
	}
	return a
}

// canAsk reports whether the client shows forms. One that names no mode does.
func canAsk(c *sdk.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// pending is the question to the user and the token of its answer; nil is none.
func (a *asking) pending() (sdk.InputRequestMap, string) {
	if a.question == "" {
		return nil, ""
	}
	return sdk.InputRequestMap{inputName: &sdk.ElicitParams{
		Mode: "form", Message: a.question, RequestedSchema: json.RawMessage(askSchema),
	}}, a.all.put(a.call)
}

const askSchema = `{"type":"object","properties":{"run":{"type":"boolean","title":"Run it","description":"true runs the call, false refuses it"}},"required":["run"]}`

func (q *questions) put(call string) (token string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	token = rand.Text()
	q.calls[token], q.order = call, append(q.order, token)
	for len(q.order) > maxOpen {
		delete(q.calls, q.order[0])
		q.order = q.order[1:]
	}
	return token
}

// take gives the call a token was made for, once; "" when there is none.
func (q *questions) take(token string) (call string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	call = q.calls[token]
	delete(q.calls, token)
	return call
}

// identity is equal for equal calls.
func identity(c utp.Call) string {
	var args bytes.Buffer
	if json.Compact(&args, c.Args) != nil {
		return c.Name + "\n" + string(c.Args)
	}
	return c.Name + "\n" + args.String()
}

// question words what the user reads.
func question(c utp.Call, t utp.Tool) string {
	var args bytes.Buffer
	if json.Indent(&args, c.Args, "", "  ") != nil {
		args.Write(c.Args)
	}
	return fmt.Sprintf("Run %s (%s)?\n%s", t.Name, t.Tier, args.String())
}
