package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
)

// silent is a tool that says nothing for a while.
type silent struct{ takes time.Duration }

func (s silent) Run(ctx context.Context, c utp.Call) utp.Result {
	select {
	case <-time.After(s.takes):
		return utp.TextResult(c, utp.StatusOK, "done")
	case <-ctx.Done():
		return utp.TextResult(c, utp.StatusFailed, "stopped")
	}
}

// A client that asks for progress hears every five seconds that a long call still
// runs, and nothing after its end; one that does not ask hears nothing.
//
// contract: C-09
func TestLongCallsGiveSignsOfLife(t *testing.T) {
	for _, c := range []struct {
		token any
		want  string
	}{
		{"mine", "5 running for 5 s, 10 running for 10 s"},
		{nil, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv, err := mcp.New(config(silent{13 * time.Second}, agent.Gate{Tier: utp.TierWalk}))
			if err != nil {
				t.Fatal(err)
			}
			here, there := sdk.NewInMemoryTransports()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- srv.Run(ctx, there) }()
			var mu sync.Mutex
			var told []string
			client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					if r.Params.ProgressToken != c.token || r.Params.Total != 0 {
						t.Errorf("%+v", r.Params)
					}
					told = append(told, fmt.Sprintf("%v %s", r.Params.Progress, r.Params.Message))
				}}).Connect(ctx, here, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := &sdk.CallToolParams{Name: "stats"}
			if c.token != nil {
				p.SetProgressToken(c.token)
			}
			start := time.Now()
			if r, err := client.CallTool(ctx, p); err != nil || text(r) != "done" || time.Since(start) != 13*time.Second {
				t.Errorf("%+v, %v after %v", r, err, time.Since(start))
			}
			time.Sleep(time.Minute)
			mu.Lock()
			if have := strings.Join(told, ", "); have != c.want {
				t.Errorf("told %q, want %q", have, c.want)
			}
			mu.Unlock()
			client.Close()
			cancel()
			<-ended
		})
	}
}
