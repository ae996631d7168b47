package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// sender sends the data of one signal.
type sender struct {
	*place
	client *http.Client
	warn   func(string)

	leaving atomic.Bool // a server that is not there is not waited for

	mu   sync.Mutex
	last error // why the last sending failed; nil: it did not
}

func (t *Telemetry) sender(c Config, p *place) *sender {
	s := &sender{place: p, client: c.HTTP, warn: c.Warn}
	t.ways = append(t.ways, s)
	return s
}

// send sends data as JSON. What cannot be sent is dropped, and told.
func (s *sender) send(ctx context.Context, data any) {
	body, err := s.pack(data)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, s.within)
		defer cancel()
		_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, s.once(ctx, body) }, backoff.WithMaxElapsedTime(s.within))
	}
	s.tell(err)
}

func (s *sender) pack(data any) ([]byte, error) {
	var b bytes.Buffer
	if !s.gzip {
		err := json.NewEncoder(&b).Encode(data)
		return b.Bytes(), err
	}
	z := gzip.NewWriter(&b)
	err := errors.Join(json.NewEncoder(z).Encode(data), z.Close())
	return b.Bytes(), err
}

// once sends the body one time. The statuses to try again are those of OTLP.
func (s *sender) once(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	for name, value := range s.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	if s.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := s.client.Do(r)
	switch {
	case err != nil && s.leaving.Load():
		return backoff.Permanent(err)
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return judge(resp, answer)
}

func judge(resp *http.Response, answer []byte) error {
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return refused(answer)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			return backoff.RetryAfter(seconds)
		}
		return errors.New(resp.Status)
	}
	return backoff.Permanent(fmt.Errorf("it answered %s", resp.Status))
}

// refused is what a collector that took the rest did not take.
func refused(answer []byte) error {
	var j struct {
		PartialSuccess struct {
			RejectedSpans, RejectedDataPoints json.Number
			ErrorMessage                      string
		}
	}
	if json.Unmarshal(answer, &j) != nil {
		return nil // some answer nothing, or in Protobuf
	}
	if n := j.PartialSuccess.RejectedSpans + j.PartialSuccess.RejectedDataPoints; n != "" && n != "0" {
		return backoff.Permanent(fmt.Errorf("it refused %s: %s", n, j.PartialSuccess.ErrorMessage))
	}
	return nil
}

// tell warns of a failure, unless the last sending failed for the same reason.
// The address is told without its path and query, in which a key may be.
func (s *sender) tell(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.last = nil
		return
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	err = fmt.Errorf("telemetry could not be sent to %s: %w", hostOf(s.url), err)
	if s.last == nil || err.Error() != s.last.Error() {
		s.warn(err.Error())
	}
	s.last = err
}

// broken is why the last sending failed.
func (s *sender) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its collector"
	}
	return u.Host
}

// nanos is a time as OTLP writes it.
func nanos(t time.Time) whole { return whole(t.UnixNano()) }
