package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/unifiedtoolprotocol/utp/gateway"
)

// slackSize is how much more may be allocated between two runs of the collector
// than its rules would let a program that keeps as little alive as a gateway.
const slackSize = 16 << 20

// slack keeps the collector from running for every few requests: it counts
// memory that nobody writes to, so that it takes nothing of the machine's. Who
// sets GOGC or GOMEMLIMIT gets what the setting says.
func (s *server) slack() (release func()) {
	if s.app.env("GOGC") != "" || s.app.env("GOMEMLIMIT") != "" {
		return func() {}
	}
	untouched := make([]byte, slackSize)
	return func() { runtime.KeepAlive(untouched) }
}

// restEvery is how often memory is returned to the system while nothing runs.
// When it is collected is left to GOGC and GOMEMLIMIT.
const restEvery = 20 * time.Second

func rest(ctx context.Context, g *gateway.Gateway) {
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	for times := 2; ; { // what pools hold goes the second time
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch {
		case g.Running() > 0:
			times = 2
		case times > 0:
			times--
			debug.FreeOSMemory()
		}
	}
}
