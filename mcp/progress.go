package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// How often a client is told how far a call is: no sooner than soonest after the
// last time, and every heartbeat where the tool says nothing, so that a client's
// time-out does not end what takes long.
const (
	soonest   = 100 * time.Millisecond
	heartbeat = 5 * time.Second
)

// Progress tells the client whose call ctx belongs to how far it is: done of
// total, which is 0 where nobody knows. A client that did not ask for it, and a
// ctx of no call, is told nothing.
func Progress(ctx context.Context, done, total float64, message string) {
	if t, _ := ctx.Value(tellKey{}).(*teller); t != nil {
		t.tell(ctx, done, total, message)
	}
}

type tellKey struct{}

// teller tells one client of one call.
type teller struct {
	session *sdk.ServerSession
	token   any

	mu     sync.Mutex
	last   time.Time
	done   float64
	itself bool // the tool tells
}

// telling makes the context of a call whose client wants to be told. end ends it.
func (s *Server) telling(ctx context.Context, req *sdk.CallToolRequest) (_ context.Context, end func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx, func() {}
	}
	t := &teller{session: req.Session, token: token, done: -1}
	ctx = context.WithValue(ctx, tellKey{}, t)
	beating, end := context.WithCancel(ctx)
	go t.beat(beating)
	return ctx, end
}

// tell sends what is news. What a client is told only grows.
func (t *teller) tell(ctx context.Context, done, total float64, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.itself = true
	if now := time.Now(); done > t.done && (now.Sub(t.last) >= soonest || done == total) {
		t.send(ctx, now, done, total, message)
	}
}

// beat says that the call still runs, as long as the tool itself says nothing.
func (t *teller) beat(ctx context.Context) {
	start := time.Now()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			t.mu.Lock()
			if seconds := now.Sub(start).Round(time.Second).Seconds(); !t.itself {
				t.send(ctx, now, seconds, 0, fmt.Sprintf("running for %.0f s", seconds))
			}
			t.mu.Unlock()
		}
	}
}

func (t *teller) send(ctx context.Context, now time.Time, done, total float64, message string) {
	t.last, t.done = now, done
	// A client that does not hear of the progress hears of the result.
	_ = t.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: t.token, Progress: done, Total: total, Message: message})
}
