package main

import (
	"context"
	"os"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// lookEvery is how often the file is looked at.
const lookEvery = time.Second

// stateOf tells one version of a file from another.
func stateOf(name string) (size int64, at time.Time) {
	info, err := os.Stat(name)
	if err != nil {
		return -1, time.Time{}
	}
	return info.Size(), info.ModTime()
}

// watch puts the file in force again when it changes. A bad one changes nothing
// but a line on standard error.
func (s *server) watch(ctx context.Context, g *gateway.Gateway) {
	size, at := stateOf(s.file)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		newSize, newAt := stateOf(s.file)
		if newSize == size && newAt.Equal(at) {
			continue
		}
		size, at = newSize, newAt
		if err := s.reload(ctx, g); err != nil {
			s.view.Warn("%s is not in force: %v", s.file, err)
		} else {
			s.view.Line(view.Normal, "%s is in force", s.file)
		}
	}
}

// reload reads the file anew. listen stays as it was.
func (s *server) reload(ctx context.Context, g *gateway.Gateway) error {
	next := &server{job: s.job, flags: s.flags, id: s.id, trace: s.trace, observe: s.observe}
	next.flags.file = s.file
	c, err := next.load(ctx)
	if err != nil {
		return err
	}
	listen, err := s.address()
	if err != nil {
		return err
	}
	next.flags.listen = listen
	if _, err := next.address(); err != nil {
		return err
	}
	return g.Reload(c)
}
