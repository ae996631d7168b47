package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/unifiedtoolprotocol/utp/gateway"
)

// The collector runs when the memory in use has grown by a fifth, so that a
// thousand streams take little, and counts slackSize as in use from the start, so
// that it does not run for every few requests where there are few.
const (
	growth     = 20 // percent
	slackSize  = 96 << 20
	slackPiece = 4 << 20 // the runtime writes all of a piece that begins where its memory was in use before
)

// slack sets the collector up. What it counts nobody writes to, so that it takes
// nothing of the machine's memory. Who sets GOGC or GOMEMLIMIT gets what the
// setting says.
func (s *server) slack() (release func()) {
	if s.app.env("GOGC") != "" || s.app.env("GOMEMLIMIT") != "" {
		return func() {}
	}
	var untouched [slackSize / slackPiece][]byte
	for i := range untouched {
		untouched[i] = make([]byte, slackPiece)
		unwritten(untouched[i])
	}
	debug.SetGCPercent(growth)
	return func() { runtime.KeepAlive(untouched) }
}

// restEvery is how often memory is returned to the system while nothing runs.
const restEvery = 20 * time.Second

// restings is how often in a row: what pools hold goes the second time, what idle
// connections hold after a minute and a half.
const restings = 6

func rest(ctx context.Context, g *gateway.Gateway) {
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	for times := restings; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch {
		case g.Running() > 0:
			times = restings
		case times > 0:
			times--
			debug.FreeOSMemory()
		}
	}
}
