package main

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// lastWords is how long bx may stay to send what it has measured.
const lastWords = 3 * time.Second

// sinks are told what happens, each event once: an OpenTelemetry collector, if the
// environment asks for it, and the segments on this machine. The log and the
// metrics of the gateway get the same events from the gateway.
type sinks struct {
	told    *telemetry.Telemetry
	events  *journal.Writer // nil: figures are not kept
	content *journal.Writer // nil: figures are not kept
}

// maxHeld is how many events the gateway may hold, for at most a second.
const maxHeld = 256

// sinks opens them for a program. What goes wrong with one is told at a level, and
// never ends bx.
func (j *job) sinks(ctx context.Context, program string, level view.Level, warn func(string)) (s sinks, end func()) {
	told, err := telemetry.Open(ctx, telemetry.Config{Version: build.Version(), HTTP: backend.HTTP(j.app.offline, 0), Warn: warn})
	if err != nil {
		j.view.Line(level, "warning: no telemetry is sent: %v", err)
	}
	s.told = told
	if j.set.Telemetry && dirs.Tracked() && dirs.Data() != "" {
		o := journal.Options{Dir: dirs.Events(), Program: program, Keep: journal.Keep{Days: int(j.set.Stats.Days), Bytes: int64(j.set.Stats.MB) << 20},
			Warn: func(why string) { j.view.Line(view.Normal, "warning: %s", why) }}
		if program == record.ByServe {
			o.Held = maxHeld
		}
		s.events = journal.New(o)
		o.Dir, o.Keep = dirs.Content(), journal.Keep{Days: int(j.set.Stats.ContentDays), Bytes: int64(j.set.Stats.ContentMB) << 20}
		s.content = journal.New(o)
	}
	return s, func() {
		_ = s.events.Close() // it has warned of what it lost
		_ = s.content.Close()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		if err := s.told.Close(last); err != nil {
			j.view.Line(level, "warning: %v", err)
		}
	}
}

// served takes what the gateway has answered.
func (s sinks) served(r gateway.Report) {
	s.told.Chat(context.Background(), telemetry.Chat{Reply: withAsked(r.Reply), ReplyID: r.ReplyID, Parent: r.Parent, Failure: failureOf(r)})
	if r.Operation == "chat" {
		s.events.Append(r.Reply)
	}
}

// withAsked names the model as the client did where nobody was asked.
func withAsked(r record.Reply) record.Reply {
	r.Asked = r.Model()
	return r
}

// kept takes what was written, where that is kept.
func (s sinks) kept(c record.Content) { s.content.Append(c) }

// turn passes on the events of a turn of the agent, and tells of its requests.
func (s sinks) turn(ctx context.Context, j *job, of *session, r *utp.Request, events iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	about := telemetry.About{Model: record.Reply{Speaks: j.model.provider, Trial: j.picks[j.model.name].Trial, Digest: j.digests[j.model.name]}}
	if at, err := url.Parse(j.model.url); err == nil {
		about.Model.Backend = at.Host
	}
	if s.events != nil && j.model.client != nil {
		about.Keep = func(r record.Reply) {
			r.Session = of.id() // a new one begins with its first entry
			s.events.Append(r)
		}
		if j.set.Stats.Content {
			about.Write = s.kept
		}
		about.Form = func() (form, why string) {
			tools := j.forms(ctx, j.model).Tools
			return tools.Name(), tools.Why
		}
	}
	return s.told.Turn(ctx, about, r, events)
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
