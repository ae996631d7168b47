package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// Requests that run when the end comes are answered, for as long as the grace
// lasts; then they are ended, and so is bx serve.
func TestServeDrains(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grace time.Duration
		whole bool // the reply comes to its end
	}{{"in time", time.Minute, true}, {"too late", 10 * time.Millisecond, false}} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			inside, goOn, done := make(chan bool), make(chan bool), make(chan error, 1)
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "first ")
				_ = http.NewResponseController(w).Flush()
				inside <- true
				select {
				case <-goOn:
					_, _ = io.WriteString(w, "last")
				case <-r.Context().Done():
				}
			})}
			ctx, end := context.WithCancel(context.Background())
			defer end()
			go func() { done <- serveUntil(ctx, server, l, tt.grace) }()
			go func() { <-inside; end() }()
			resp, err := http.Get("http://" + l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if tt.whole {
				<-ctx.Done()
				close(goOn)
			}
			text, err := io.ReadAll(resp.Body)
			if whole := err == nil && string(text) == "first last"; whole != tt.whole {
				t.Errorf("%q, %v", text, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
				t.Error("it still listens")
			}
		})
	}
}
