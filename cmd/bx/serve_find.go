package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/gateway"
)

// findEvery is how often requests make bx serve look for a server on this machine
// while there is none.
const findEvery = 2 * time.Second

// finding is a gateway that began without a server. A request that comes while
// there is none makes it look again.
type finding struct {
	*server
	g *gateway.Gateway

	mu     sync.Mutex
	looked time.Time
}

// before looks, where there is need, before a request is answered by h.
func (f *finding) before(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.g.Waiting() && r.URL.Path != "/healthz" && r.URL.Path != "/metrics" {
			f.look(context.WithoutCancel(r.Context()))
		}
		h.ServeHTTP(w, r)
	})
}

// look is for one request at a time; those that wait meanwhile have its outcome.
func (f *finding) look(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.g.Waiting() || !f.looked.IsZero() && time.Since(f.looked) < findEvery {
		return
	}
	if _, err := f.reload(ctx, f.g); err != nil {
		f.view.Warn("%v", err)
	}
	f.looked = time.Now()
}
