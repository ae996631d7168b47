package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
)

// Member is an agent that others call as a tool. Its Config may hold a Team in
// turn.
type Member struct {
	Name        string // of its tool
	Description string // what it is good at, for who calls it
	Config      Config // its model, tools and limits; without a Session, as each task stands alone
	Request     utp.Request
}

// Tool is the member as a tool that takes a task.
func (m *Member) Tool() utp.Tool {
	text := strings.TrimSpace(m.Description)
	if text != "" {
		text += "\n"
	}
	return utp.Tool{Name: m.Name, Description: text + memberLine, Tier: utp.TierCrawl,
		Schema: json.RawMessage(`{"type":"object","properties":{"task":{"type":"string","description":"all that it needs to know"}},"required":["task"]}`)}
}

// Team runs the calls of its members' tools, and gives all others to Next.
// Members that can change something, or have to ask the user, work alone;
// others side by side where the turn's Parallel allows it. A member leads a team
// of its own if that is its Gate's Runner.
type Team struct {
	Members []*Member
	Next    Runner                       // nil: there are no other tools
	See     func(member string, e Event) // each event of a member's turns, one at a time; nil: nobody

	// Watch passes on the events of each turn of a member; nil: nobody watches.
	Watch func(member string, r *utp.Request, turn iter.Seq2[Event, error]) iter.Seq2[Event, error]

	alone sync.RWMutex // held in full by a member that works alone
	mu    sync.Mutex   // of See and usage
	usage utp.Usage
}

// Usage sums what the members have used so far, and the teams that they lead.
// It is no part of the Answer of who called them.
func (t *Team) Usage() utp.Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.usage
}

// count adds what a member has used, to the teams around this one too.
func (t *Team) count(ctx context.Context, u utp.Usage) {
	t.mu.Lock()
	t.usage = t.usage.Add(u)
	t.mu.Unlock()
	if outer, ok := ctx.Value(around{}).(func(utp.Usage)); ok {
		outer(u)
	}
}

// around finds, in the context of a member at work, who counts what it uses.
type around struct{}

// Tools lists the members as tools.
func (t *Team) Tools() (out []utp.Tool) {
	for _, m := range t.Members {
		out = append(out, m.Tool())
	}
	return out
}

// Run lets a member answer its task, or passes the call on. A member that
// fails gives a failed Result.
func (t *Team) Run(ctx context.Context, c utp.Call) utp.Result {
	for _, m := range t.Members {
		if m.Name == c.Name {
			return t.work(ctx, m, c)
		}
	}
	if t.Next == nil {
		return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("Tool '%s' cannot run here: no runner is set", c.Name))
	}
	return t.Next.Run(ctx, c)
}

func (t *Team) work(ctx context.Context, m *Member, c utp.Call) utp.Result {
	var args struct{ Task string }
	if err := json.Unmarshal(c.Args, &args); err != nil || strings.TrimSpace(args.Task) == "" {
		return utp.TextResult(c, utp.StatusFailed, "The task is missing: say what "+m.Name+" has to do.")
	}
	if m.worksAlone() {
		t.alone.Lock()
		defer t.alone.Unlock()
	} else {
		t.alone.RLock()
		defer t.alone.RUnlock()
	}
	r := m.Request
	r.Messages = append(append([]utp.Message{}, r.Messages...), utp.NewText(utp.RoleUser, args.Task))
	inside := context.WithValue(ctx, around{}, func(u utp.Usage) { t.count(ctx, u) })
	turn := Turn(inside, m.Config, &r)
	if t.Watch != nil {
		turn = t.Watch(m.Name, &r, turn)
	}
	var answer Answer
	var err error
	for e, failed := range turn {
		if err = failed; e.Answer != nil {
			answer = *e.Answer
		}
		if failed == nil {
			t.see(m.Name, e)
		}
	}
	t.count(ctx, answer.Usage)
	if err != nil {
		return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("%s could not answer: %v", m.Name, err))
	}
	return utp.TextResult(c, utp.StatusOK, answer.Text)
}

// worksAlone reports whether a member may run a tool that asks first, or leads
// a team with such a member.
func (m *Member) worksAlone() bool {
	g := m.Config.Gate
	if g == nil {
		return false
	}
	if led, ok := g.Runner.(*Team); ok && slices.ContainsFunc(led.Members, (*Member).worksAlone) {
		return true
	}
	return slices.ContainsFunc(g.Offered(), asks)
}

func (t *Team) see(member string, e Event) {
	if t.See == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.See(member, e)
}
