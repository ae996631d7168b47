package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// afterInput is how long calls may run on when the client's input has ended.
const afterInput = 30 * time.Second

// piped is a transport whose input may end before the answers are out, as that
// of `printf … | bx mcp serve` does. The SDK cancels what runs at the first
// error of Read, so Read keeps the end to itself until every request that was
// read has its answer, afterInput has passed, or the server ends.
type piped struct{ sdk.Transport }

func (p piped) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &pipe{Connection: c, serving: ctx, theirs: ids{}, ours: ids{}, news: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

type ids = map[jsonrpc.ID]bool

// pipe is the connection of a piped transport. Only Read touches end and over.
type pipe struct {
	sdk.Connection
	serving context.Context // ends with the server; those of Read and Write do not

	end  error // of the input; nil: it goes on
	over <-chan time.Time

	mu     sync.Mutex
	theirs ids           // requests of the client that have no answer yet
	ours   ids           // requests to the client that have no answer yet
	news   chan struct{} // has something once they have changed
	close  sync.Once
	closed chan struct{}
}

func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	if p.end == nil {
		m, err := p.Connection.Read(p.serving)
		if err == nil {
			p.begun(p.theirs, m)
			p.done(p.ours, m)
			return m, nil
		}
		p.end, p.over = err, time.After(afterInput)
	}
	for {
		m, open := p.rest()
		if m != nil {
			return m, nil
		}
		if open == 0 {
			return nil, p.end
		}
		select {
		case <-p.news:
		case <-p.closed:
			return nil, p.end
		case <-p.serving.Done():
			return nil, p.end
		case <-p.over:
			return nil, fmt.Errorf("the input ended %.0f s ago, and %d of its requests have no answer yet: they were stopped", afterInput.Seconds(), open)
		}
	}
}

// rest is what Read gives after the end of the input: to a request of ours, which
// no client can answer any more, an error; nil is nothing. open is how many of
// the client's wait for their answer.
func (p *pipe) rest() (m jsonrpc.Message, open int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.ours {
		delete(p.ours, id)
		return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client cannot answer: its input has ended"}}, 0
	}
	return nil, len(p.theirs)
}

func (p *pipe) Write(ctx context.Context, m jsonrpc.Message) error {
	p.begun(p.ours, m)
	err := p.Connection.Write(ctx, m)
	p.done(p.theirs, m)
	return err
}

// begun enters a request that wants an answer. A subscription has none before
// the client leaves.
func (p *pipe) begun(open ids, m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" {
		p.mu.Lock()
		open[r.ID] = true
		p.mu.Unlock()
		p.wake()
	}
}

// done takes out the request that an answer is for.
func (p *pipe) done(open ids, m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Response); ok {
		p.mu.Lock()
		delete(open, r.ID)
		p.mu.Unlock()
		p.wake()
	}
}

func (p *pipe) wake() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

func (p *pipe) Close() error {
	p.close.Do(func() { close(p.closed) })
	return p.Connection.Close()
}
