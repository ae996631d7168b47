package gateway

import (
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// line is a stream to a client. What is written first opens it; until then an
// error can still be an answer with its own status.
type line struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	framing wire.Framing
	content string // type of the stream
	ping    []byte
	open    bool
	last    time.Time
	buf     []byte
	err     error // of the connection
}

// stream passes events on as they come.
func (x *exchange) stream(events iter.Seq2[utp.Event, error]) (failed error) {
	framing, content := x.streamed(x.request)
	out := &line{w: x.w, framing: framing, content: content, ping: x.ping, last: x.began}
	if out.ping == nil && framing == wire.SSE {
		out.ping = []byte(": still here\n\n")
	}
	still := sync.OnceFunc(out.beat(x.cfg.Heartbeat))
	defer still()
	writer := x.front.Writer(x.request, x.stamp())
	for e, err := range events {
		if err != nil {
			failed = err
			break
		}
		if failed = out.send(writer.Write(x.counted(e))); failed != nil {
			return failed
		}
	}
	still()
	if failed != nil && !out.open {
		x.refuse(x.w, failed)
		return failed
	}
	if err := out.send(writer.Close(told(failed))); failed == nil {
		failed = err
	}
	return failed
}

// send writes frames and hands them to the network.
func (l *line) send(frames []wire.Frame) error {
	if len(frames) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = l.buf[:0]
	for _, f := range frames {
		l.buf = l.framing.Append(l.buf, f)
	}
	return l.write(l.buf)
}

func (l *line) write(b []byte) error {
	if !l.open {
		l.open = true
		h := l.w.Header()
		h.Set("Content-Type", l.content)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no") // for nginx in between
		l.w.WriteHeader(http.StatusOK)
	}
	if l.err == nil {
		_, l.err = l.w.Write(b)
	}
	if l.err == nil {
		l.err = http.NewResponseController(l.w).Flush()
	}
	l.last = time.Now()
	return l.err
}

// beat keeps a quiet stream alive, in a goroutine that stop ends.
func (l *line) beat(every time.Duration) (stop func()) {
	if l.ping == nil {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				l.beatOnce(every)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func (l *line) beatOnce(every time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.last) >= every && l.err == nil {
		_ = l.write(l.ping) // kept in l.err
	}
}
