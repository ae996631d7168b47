package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// lookEvery is how often the file is looked at.
const lookEvery = time.Second

// fileState tells one version of a file from another.
type fileState struct {
	size int64 // -1: there is none
	at   int64
}

func stateOf(name string) fileState {
	info, err := os.Stat(name)
	if err != nil {
		return fileState{size: -1}
	}
	return fileState{info.Size(), info.ModTime().UnixNano()}
}

// watch puts the file in force again when it changes. A bad one changes nothing
// but a line on standard error.
func (s *server) watch(ctx context.Context, g *gateway.Gateway) {
	state := stateOf(s.file)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := stateOf(s.file)
		if now == state {
			continue
		}
		state = now
		not, err := s.reload(ctx, g)
		switch {
		case err != nil:
			s.view.Warn("%s is not in force: %v", s.file, err)
		case len(not) > 0:
			s.view.Warn("%s is in force, but for %s: restart bx serve for that", s.file, strings.Join(not, ", "))
		default:
			s.view.Line(view.Normal, "%s is in force", s.file)
		}
	}
}

// reload reads the file anew, and lists the keys that stay as they were.
func (s *server) reload(ctx context.Context, g *gateway.Gateway) (not []string, err error) {
	next := &server{job: s.job, flags: s.flags, id: s.id, trace: s.trace, observe: s.observe, content: s.content, common: s.common, issuer: s.issuer}
	next.flags.file = s.file
	c, err := next.load(ctx)
	if err != nil {
		return nil, err
	}
	if not = notInForce(s.read, next.read); len(not) > 0 { // what it listens at is checked as it is
		held := *next.read
		held.Listen, held.SocketMode, held.TLS, held.Probes, held.UI, held.Admin = s.read.Listen, s.read.SocketMode, s.read.TLS, s.read.Probes, s.read.UI, s.read.Admin
		next.read = &held
	}
	if _, err := next.places(); err != nil {
		return nil, err
	}
	s.now.Store(next.read)
	s.issuer = next.issuer
	return not, g.Reload(c)
}

// grace is how long requests may run on when the end comes.
func (s *server) grace() time.Duration {
	f := s.read
	if now := s.now.Load(); now != nil {
		f = now
	}
	if f.Limits.Drain > 0 {
		return time.Duration(f.Limits.Drain)
	}
	return drain
}
