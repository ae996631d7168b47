package main

import (
	"context"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
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
