package gateway_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// A request that outlives the gateway ends in its API's error, whole and
// streamed, never in a good end.
func TestStreamsThatOutliveTheGateway(t *testing.T) {
	for _, a := range apis {
		for _, stream := range []bool{false, true} {
			goOn := make(chan bool)
			begun := make(chan bool, 1)
			up := behind(t, "up", "openai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write([]byte(chunkText))
				_ = http.NewResponseController(w).Flush()
				begun <- true
				select {
				case <-goOn:
				case <-r.Context().Done():
				}
			}))
			over := make(chan gateway.Report, 1)
			g, err := gateway.New(gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{up}}}, Observe: func(r gateway.Report) { over <- r }})
			if err != nil {
				t.Fatal(err)
			}
			base, stop := context.WithCancelCause(t.Context())
			down := httptest.NewUnstartedServer(g)
			down.Config.BaseContext = func(net.Listener) context.Context { return base }
			down.Start()
			x, err := a.back.Open(&utp.Request{Model: "m", Stream: stream, Messages: offer(true).Messages})
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				<-begun
				stop(gateway.ErrStopping)
			}()
			resp, err := http.Post(down.URL+x.Path, "application/json", bytes.NewReader(x.Body))
			if err != nil {
				t.Fatal(err)
			}
			var body bytes.Buffer
			if _, err := body.ReadFrom(resp.Body); err != nil {
				t.Errorf("%s, stream %v: %v", a.name, stream, err)
			}
			if !strings.Contains(body.String(), "the gateway was stopped") || resp.StatusCode != 503 && resp.StatusCode != 529 && !stream || goodEnds[a.name] != "" && strings.Contains(body.String(), goodEnds[a.name]) {
				t.Errorf("%s, stream %v: HTTP %d: %s", a.name, stream, resp.StatusCode, &body)
			}
			if r := <-over; r.Reason != "stopped" || r.Err == nil {
				t.Errorf("%s, stream %v: %+v", a.name, stream, r)
			}
			close(goOn)
			down.Close()
		}
	}
}
