package gateway

import (
	"net/http"
	"time"
)

// patient is a ResponseWriter with a limit on how long a client may take nothing.
type patient struct {
	http.ResponseWriter
	limit time.Duration
}

// newPatient also limits how long the body of a request may take to arrive, until
// (*exchange).body has read it.
func newPatient(w http.ResponseWriter, r *http.Request, limit time.Duration) *patient {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // where the server can
	}
	return &patient{w, limit}
}

// piece is how many bytes a client has to take within the limit.
const piece = 64 << 10

func (p *patient) Write(b []byte) (n int, err error) {
	control := http.NewResponseController(p.ResponseWriter)
	for {
		_ = control.SetWriteDeadline(time.Now().Add(p.limit)) // where the server can
		m, err := p.ResponseWriter.Write(b[n:min(n+piece, len(b))])
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
