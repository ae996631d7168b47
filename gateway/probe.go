package gateway

import "net/http"

// probes are what supervisors ask: whether it lives, whether it can work, and
// what it has counted.
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
}

// Probes answers /healthz, /readyz and /metrics to whoever reaches it, without a
// key and by any name, and nothing else. It is for a listener of its own.
func (g *Gateway) Probes() http.Handler { return g.apart }

// Drain has readiness denied from now on, so that no new clients are sent here.
// Requests are answered as before.
func (g *Gateway) Drain() { g.draining.Store(true) }

func (x *exchange) greet() error {
	x.told = true
	_, _ = x.w.Write([]byte("bx serve is running\n"))
	return nil
}

func (x *exchange) alive() error {
	x.answer([]byte(`{"status":"ok"}`))
	return nil
}

// ready tells whether any backend answers.
func (x *exchange) ready() error {
	if x.gate.draining.Load() {
		x.report.Status = http.StatusServiceUnavailable
		x.answer([]byte(`{"status":"draining"}`))
		return nil
	}
	if !x.answers(x.r.Context()) {
		x.report.Status = http.StatusServiceUnavailable
		x.answer([]byte(`{"status":"no backend answers"}`))
		return nil
	}
	x.answer([]byte(`{"status":"ready"}`))
	return nil
}
