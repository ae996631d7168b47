package backend_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// stern is a server that refuses what it does not take. refuse gets the body of a
// request and gives the status and the words; 0 is no refusal.
type stern struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]json.RawMessage
}

func newStern(t *testing.T, show string, refuse func(body map[string]json.RawMessage) (int, string)) *stern {
	t.Helper()
	s := &stern{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/show" && show != "":
			io.WriteString(w, show)
			return
		case r.Method != http.MethodPost || r.URL.Path == "/api/show":
			http.NotFound(w, r)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var body map[string]json.RawMessage
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("body: %v", err)
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		s.mu.Unlock()
		if status, words := refuse(body); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, words)
			return
		}
		if r.URL.Path == "/api/chat" {
			io.WriteString(w, `{"message":{"role":"assistant","content":"Hello."},"done":true,"done_reason":"stop"}`+"\n")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// heard are the requests so far.
func (s *stern) heard() []map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// asker is a client of a server with what it was told.
type asker struct {
	*backend.Client
	lost   []wire.Loss
	warned []string
	now    time.Time
}

func asks(t *testing.T, s *stern, c backend.Config) *asker {
	t.Helper()
	a := &asker{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	c.URL, c.Model, c.Retries = s.URL, "m", -1
	c.Lost = func(l []wire.Loss) { a.lost = append(a.lost, l...) }
	c.Warn = func(w string) { a.warned = append(a.warned, w) }
	var err error
	if a.Client, err = backend.New(c); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *asker) loss(path string) string {
	for _, l := range a.lost {
		if l.Path == path {
			return l.What
		}
	}
	return ""
}

// ollamaThinks refuses "think" as Ollama does.
// Source: Ollama 0.17.4, server/routes.go, ChatHandler.
func ollamaThinks(thinks, levels bool) func(body map[string]json.RawMessage) (int, string) {
	return func(body map[string]json.RawMessage) (int, string) {
		switch think := string(body["think"]); {
		case think == "", think == "false":
		case !thinks:
			return 400, `{"error":"\"m\" does not support thinking"}`
		case think != "true" && !levels:
			return 400, fmt.Sprintf(`{"error":"think value %q is not supported for this model"}`, think[1:len(think)-1])
		}
		return 0, ""
	}
}

// What /api/show says of a model decides what "think" is, so that nothing is refused.
func TestOllamaIsAskedForTheThinkingThatItHas(t *testing.T) {
	for name, c := range map[string]struct {
		show           string
		thinks, levels bool
		think, lost    string
	}{
		"thinks":  {`{"capabilities":["completion","thinking"]}`, true, false, "true", "sent as true"},
		"plain":   {`{"capabilities":["completion"]}`, false, false, "", "dropped"},
		"harmony": {`{"capabilities":["completion","thinking"],"parser":"harmony"}`, true, true, `"high"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStern(t, c.show, ollamaThinks(c.thinks, c.levels))
			a := asks(t, s, backend.Config{Provider: backend.Ollama})
			r := question()
			r.Params.Effort = "high"
			if got := mustReply(t, a.Client, r); got.Text() != "Hello." {
				t.Errorf("%+v", got)
			}
			if heard := s.heard(); len(heard) != 1 || string(heard[0]["think"]) != c.think {
				t.Errorf("asked %d times, think %s", len(heard), heard[0]["think"])
			}
			if a.loss("params.effort") != c.lost {
				t.Errorf("losses %v, want %q", a.lost, c.lost)
			}
		})
	}
}
