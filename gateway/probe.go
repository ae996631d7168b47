package gateway

import (
	"context"
	"net/http"
)

// probes registers the paths for supervisors: liveness, readiness and metrics.
func (g *Gateway) probes() {
	for path, serve := range map[string]func(*exchange) error{"/healthz": (*exchange).alive, "/readyz": (*exchange).ready, "/metrics": (*exchange).scraped} {
		g.handle("GET "+path, chatDoor, opProbe, serve)
		g.apart.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			x := g.exchange(chatDoor, opProbe, w, r)
			x.apart = true
			x.run(serve)
		})
	}
	g.handle("GET /{$}", chatDoor, opProbe, (*exchange).greet)
	g.handle("GET "+hello, messagesDoor, opProbe, (*exchange).alive)
}

// hello is what Claude Code asks for, without a key, before its first message.
const hello = "/api/hello"

// Probes returns a handler that serves /healthz, /readyz and /metrics, and nothing else,
// without a key and under any host name. It is for a listener of its own.
func (g *Gateway) Probes() http.Handler { return g.apart }

// Drain makes /readyz fail from now on, so that no new clients are sent here. Requests
// are answered as before.
func (g *Gateway) Drain() { g.draining.Store(true) }

// greeting is the answer at the root. Clients of Ollama look for its first words.
const greeting = "Ollama is running (this is bx serve, which speaks the APIs of OpenAI, Anthropic and Gemini too)\n"

func (x *exchange) greet() error {
	x.told = true
	_, _ = x.w.Write([]byte(greeting))
	return nil
}

func (x *exchange) alive() error {
	x.answer([]byte(`{"status":"ok"}`))
	return nil
}

// ready answers whether any backend answers.
func (x *exchange) ready() error {
	if x.gate.draining.Load() {
		x.report.Status = http.StatusServiceUnavailable
		x.answer([]byte(`{"status":"draining"}`))
		return nil
	}
	said := x.readiness(x.r.Context())
	said.Away = x.gate.shared.awayNames()
	if said.Status != ready {
		x.report.Status = http.StatusServiceUnavailable
	}
	if x.remote() {
		said = said.discreet()
	}
	body, err := marshal(said)
	if err != nil {
		return err
	}
	x.answer(body)
	return nil
}

type readyJSON struct {
	Status   string            `json:"status"`
	Reason   string            `json:"reason,omitempty"`   // why there is no backend
	Backends map[string]string `json:"backends,omitempty"` // why each of them does not answer
	Away     []string          `json:"away,omitempty"`     // "state", "ledger": they do not answer, which affects some clients
}

// discreet returns r without the addresses of the backends.
func (r readyJSON) discreet() readyJSON {
	r.Reason = ""
	for name := range r.Backends {
		r.Backends[name] = "does not answer"
	}
	return r
}

const ready = "ready"

func (h *house) readiness(ctx context.Context) readyJSON {
	if len(h.Routes) == 0 {
		return readyJSON{Status: "no backend", Reason: h.Absent}
	}
	if ok, why := h.answers(ctx); !ok {
		return readyJSON{Status: "no backend answers", Backends: why}
	}
	return readyJSON{Status: ready}
}
