package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/unifiedtoolprotocol/utp/gateway"
)

// drain is how long requests may run on after Ctrl-C, and lastFrames how long
// those that are ended then may take to say so.
const (
	drain      = 30 * time.Second
	lastFrames = 3 * time.Second
	lookAgain  = 20 * time.Millisecond
)

// hall is what bx serve listens with, and how it ends.
type hall struct {
	gateway   *gateway.Gateway
	stop      context.CancelCauseFunc // of all requests
	grace     func() time.Duration
	notify    func(ctx context.Context, state string)
	say       func(format string, a ...any)
	servers   []*http.Server
	listeners []net.Listener
}

func (h *hall) add(s *http.Server, l net.Listener) {
	h.servers, h.listeners = append(h.servers, s), append(h.listeners, l)
}

// url is the address of the last listener, for people.
func (h *hall) url(p place) string {
	address := h.listeners[len(h.listeners)-1].Addr().String()
	switch {
	case p.isSocket():
		return p.address
	case p.tls != nil:
		return "https://" + address
	}
	return "http://" + address
}

// serve serves until the context ends. Then readiness is denied, and everything
// else goes on until no request for a reply runs or the grace is over; what still
// runs ends in its API's error.
func (h *hall) serve(ctx context.Context) error {
	failed := make(chan error, len(h.servers))
	for i, s := range h.servers {
		go func() {
			if s.TLSConfig != nil {
				failed <- s.ServeTLS(h.listeners[i], "", "")
				return
			}
			failed <- s.Serve(h.listeners[i])
		}()
	}
	h.notify(ctx, "READY=1")
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx = context.WithoutCancel(ctx)
	h.gateway.Drain()
	h.notify(ctx, "STOPPING=1")
	h.wait()
	h.stop(gateway.ErrStopping)
	last, cancel := context.WithTimeout(ctx, lastFrames)
	defer cancel()
	for _, s := range h.servers {
		if err := s.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return nil
}

// wait waits until nothing runs, or the grace is over.
func (h *hall) wait() {
	n := h.gateway.Running()
	if n == 0 {
		return
	}
	grace := h.grace()
	h.say("waiting up to %s for %d requests; Ctrl-C again ends at once", grace, n)
	end, tick := time.NewTimer(grace), time.NewTicker(lookAgain)
	defer end.Stop()
	defer tick.Stop()
	for h.gateway.Running() > 0 {
		select {
		case <-end.C:
			return
		case <-tick.C:
		}
	}
}

// close ends what is left.
func (h *hall) close() {
	for i, s := range h.servers {
		_ = s.Close() // nothing is lost that was not lost before
		_ = h.listeners[i].Close()
	}
}
