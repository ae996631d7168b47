package gateway

import (
	"errors"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// line is a stream to a client. The first write opens it; until then an error can still
// be answered with its own status.
type line struct {
	x       *exchange
	framing wire.Framing
	content string // type of the stream

	mu    sync.Mutex
	timer *time.Timer // of the next heartbeat
	still bool        // no more heartbeats
	open  bool
	last  time.Time
	buf   []byte
	known http.Header // the headers that say who answers, as far as known
	err   error       // of the connection
}

// stream passes events on as they come.
func (x *exchange) stream(events iter.Seq2[utp.Event, error]) (failed error) {
	framing, content := x.door.streamed(x.request)
	out := &line{x: x, framing: framing, content: content, last: time.Now(), known: http.Header{}}
	still := sync.OnceFunc(out.beat(x.Limits.Heartbeat))
	defer still()
	var writer wire.Writer
	send := func(frames []wire.Frame) error {
		x.wrote = x.wrote || len(frames) > 0
		return out.send(frames)
	}
	x.idle, x.chosen = func() {
		x.waits.Store(true)
		_ = send(writer.Pause()) // kept in out.err
		out.flush()
	}, out.learn
	x.anew = func() {
		writer = x.door.front.Writer(x.request, x.stamp())
		x.seen, x.said, x.calls = nil, 0, nil
	}
	x.anew()
	for e, err := range events {
		if err != nil {
			failed = err
			break
		}
		x.note(e)
		if e.Kind == utp.EventFinish && e.End.Stop != utp.StopError {
			x.remember(utp.Collect(x.seen)) // a client may go on as soon as it has the end
		}
		frames := writer.Write(e)
		if failed = writer.Err(); failed != nil && (!out.opened() || x.drops(failed)) {
			break // a status, or the end of the connection, says it instead
		}
		if err := send(frames); err != nil {
			return err
		}
	}
	still()
	if failed == nil {
		_ = send(writer.Pause()) // kept in out.err
	}
	out.flush()
	if failed != nil && !out.opened() {
		return failed
	}
	if failed != nil && x.drops(failed) {
		return &abort{failed}
	}
	err := out.send(writer.Close(x.tells(failed)))
	if failed == nil {
		failed = writer.Err()
	}
	if failed == nil {
		failed = err
	}
	if out.flush(); failed == nil {
		failed = out.err
	}
	x.explain(x.w.Header(), http.TrailerPrefix)
	return failed
}

// drops reports whether a failed stream ends by closing the connection, for clients that
// retry after that but not after an error. Clients that need not retry, and all when the
// gateway itself stops, get the error.
func (x *exchange) drops(err error) bool {
	var own *denial
	return x.door.drops && x.r.Context().Err() == nil && !wire.RemedyFor(err).Never && !errors.As(err, &own)
}

func (l *line) opened() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// learn records who is asked, for a stream that a heartbeat opens.
func (l *line) learn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.x.headers(l.known)
}

// maxWait is how many bytes may wait for a flush.
const maxWait = 16 << 10

// send writes frames. The first go out at once, later ones with the next flush, after
// all that came from the backend was read, so that what came together leaves together.
func (l *line) send(frames []wire.Frame) error {
	l.mu.Lock()
	for _, f := range frames {
		l.buf = l.framing.Append(l.buf, f)
	}
	full, err := len(l.buf) > maxWait || !l.open, l.err
	l.mu.Unlock()
	if full {
		l.flush()
	}
	return err
}

// flush writes the waiting bytes. An error is kept in l.err.
func (l *line) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) == 0 {
		return
	}
	if l.x.report.First == 0 {
		l.x.report.First = max(1, record.MicrosOf(l.x.Now().Sub(l.x.began)))
	}
	l.x.trace("client", "out", "frame", l.buf)
	if !l.open {
		l.x.headers(l.known)
	}
	_ = l.write(l.buf) // kept in l.err
	l.buf = l.buf[:0]
}

func (l *line) write(b []byte) error {
	control := http.NewResponseController(l.x.w)
	if !l.open {
		l.open = true
		h := l.x.w.Header()
		h.Set("Content-Type", l.content)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no") // for nginx in between
		for name, values := range l.known {
			h[name] = values
		}
		l.x.told = true
		l.x.w.WriteHeader(http.StatusOK)
	}
	if l.err == nil {
		_, l.err = l.x.w.Write(b)
	}
	if l.err == nil {
		l.err = control.Flush()
	}
	l.last = time.Now()
	return l.err
}

// patience is how many heartbeats are left out while a backend's reply is held: if it
// turns out useless, the client can still get a status instead of a stream.
const patience = 4

// beat keeps a quiet stream alive until stop is called.
func (l *line) beat(every time.Duration) (stop func()) {
	ping := l.x.heartbeat(l.framing)
	if ping == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(every, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.still && l.err == nil {
			if quiet := time.Since(l.last); quiet >= every/2 && (l.open || !l.x.waits.Load() || quiet >= patience*every) {
				_ = l.write(ping) // kept in l.err
			}
			l.timer.Reset(every)
		}
	})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.still = true
		l.timer.Stop()
	}
}

// heartbeat returns a frame without content, nil if the API has none.
func (x *exchange) heartbeat(f wire.Framing) []byte {
	switch {
	case x.door.pinging != nil:
		return x.door.pinging(x)
	case x.door.ping == nil && f == wire.SSE:
		return []byte(": still here\n\n")
	}
	return x.door.ping
}
