package client_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

// The headers of a server go to it, with the values of variables, and to no other.
func TestHeaders(t *testing.T) {
	t.Setenv("MY_KEY", "s3cret")
	var mu sync.Mutex
	var keys []string
	note := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			keys = append(keys, r.Host+" "+r.Header.Get("X-Key"))
			mu.Unlock()
			next.ServeHTTP(w, r)
		})
	}
	stranger := httptest.NewServer(note(http.NotFoundHandler()))
	t.Cleanup(stranger.Close)
	mcp := sdk.NewStreamableHTTPHandler(handler(testServer("")), nil)
	at := httptest.NewServer(note(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/away") {
			http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
			return
		}
		mcp.ServeHTTP(w, r)
	})))
	t.Cleanup(at.Close)
	s := client.Server{Name: "x", URL: at.URL, Headers: map[string]string{"X-Key": "${MY_KEY}"}}
	p, _ := learned(t, "", s)
	if r := call(t, p, "mcp__x__echo", `{"text":"a"}`); r.Text() != `{"text":"a"}` {
		t.Errorf("%+v", r)
	}
	s.URL += "/away"
	p, _ = pool(t, "", s)
	if _, err := p.Test(t.Context(), "x"); err == nil {
		t.Error("a redirect to a stranger leads to tools")
	}
	own := strings.TrimPrefix(at.URL, "http://")
	for _, k := range keys {
		if strings.HasPrefix(k, own) != strings.HasSuffix(k, " s3cret") {
			t.Errorf("sent: %q", k)
		}
	}
	if len(keys) < 3 {
		t.Errorf("%q", keys)
	}
}

// A server at a URL that goes away and comes back is used again.
func TestAServerComesBack(t *testing.T) {
	mcp := sdk.NewStreamableHTTPHandler(handler(testServer("")), nil)
	var mu sync.Mutex
	gone := false
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		down := gone
		mu.Unlock()
		if down {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		mcp.ServeHTTP(w, r)
	}))
	t.Cleanup(at.Close)
	p, w := learned(t, "", client.Server{Name: "x", URL: at.URL, Timeout: 5 * time.Second})
	set := func(b bool) { mu.Lock(); gone = b; mu.Unlock() }
	set(true)
	if r := call(t, p, "mcp__x__echo", `{}`); r.Status != utp.StatusFailed {
		t.Errorf("%+v", r)
	}
	set(false)
	w.move(time.Hour)
	if r := call(t, p, "mcp__x__echo", `{}`); r.Status != utp.StatusOK {
		t.Errorf("%+v", r)
	}
}

func TestServersThatCannotBe(t *testing.T) {
	for want, s := range map[string]client.Server{
		"want a command":      {Name: "x"},
		"want one of them":    {Name: "x", Command: "a", URL: "http://b"},
		"letters, digits":     {Name: "x y", Command: "a"},
		"belong to a url":     {Name: "x", Command: "a", Headers: map[string]string{"a": "b"}},
		"belong to a command": {Name: "x", URL: "http://b", Args: []string{"a"}},
	} {
		if _, err := client.New(client.Config{Servers: []client.Server{s}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
	p, _ := pool(t, "", client.Server{Name: "x", URL: "nonsense"}, client.Server{Name: "y", Command: "no-such-program-anywhere"})
	for name, want := range map[string]string{"x": "want http://", "y": "it cannot be started: no-such-program-anywhere: executable file not found"} {
		if _, err := p.Test(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := client.New(client.Config{Servers: []client.Server{{Name: "x", Command: "a"}, {Name: "x", Command: "b"}}, Env: os.Getenv}); err == nil {
		t.Error("two servers of one name")
	}
}
