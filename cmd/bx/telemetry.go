package main

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// lastWords is how long bx may stay to send what it has measured.
const lastWords = 3 * time.Second

// telemetry begins to tell a collector what bx does, if the environment asks for
// it. What goes wrong with it is told at a level, and never ends bx.
func (j *job) telemetry(ctx context.Context, level view.Level, warn func(string)) (t *telemetry.Telemetry, end func()) {
	t, err := telemetry.Open(ctx, telemetry.Config{Version: versionText(), HTTP: backend.HTTP(j.app.offline, 0), Warn: warn})
	if err != nil {
		j.view.Line(level, "warning: no telemetry is sent: %v", err)
	}
	return t, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		if err := t.Close(last); err != nil {
			j.view.Line(level, "warning: %v", err)
		}
	}
}

// observed tells of what the gateway has answered.
func observed(t *telemetry.Telemetry) func(gateway.Report) {
	if t == nil {
		return nil
	}
	return func(r gateway.Report) { t.Chat(context.Background(), chatOf(r)) }
}

func chatOf(r gateway.Report) telemetry.Chat {
	return telemetry.Chat{
		API: r.Speaks, Asked: cmp.Or(r.Asked, r.Model), Answered: r.Answered, ReplyID: r.ReplyID, Stream: r.Stream,
		Began: r.Began, First: r.First, Took: r.Took, Usage: r.Usage, Stop: r.Stop,
		Native: r.Calls - r.FromText, Dialects: r.Dialects, Fixes: r.Fixes, Problems: r.Problems, Failure: failureOf(r),
		Served: &telemetry.Served{ID: r.ID, Parent: r.Parent, API: r.API, Client: r.Client, Model: r.Model, Target: r.Target,
			Again: r.Again, Tools: r.Tools, Losses: len(r.Losses), Tries: r.Tries, Status: r.Status},
	}
}

// failureOf is the class of a request's error: "gone" for a client that left, a
// status, or "broken" for a stream that ended in an error.
func failureOf(r gateway.Report) string {
	switch {
	case r.Status == gateway.StatusGone:
		return "gone"
	case r.Status >= http.StatusBadRequest:
		return strconv.Itoa(r.Status)
	case r.Err != nil, r.Stop == utp.StopError:
		return "broken"
	}
	return ""
}
