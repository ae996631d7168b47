package backend

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// What a server said of a model holds for as long as its digest is the same: one
// that was pulled anew under its name is asked about again.
func TestAModelPulledAnewIsDescribedAnew(t *testing.T) {
	var mu sync.Mutex
	digest, can, looks := "one", "completion", 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch r.URL.Path {
		case "/api/tags":
			fmt.Fprintf(w, `{"models":[{"name":"m:latest","model":"m:latest","digest":%q}]}`, digest)
		case "/api/show":
			looks++
			fmt.Fprintf(w, `{"capabilities":[%q]}`, can)
		default:
			fmt.Fprint(w, `{"models":[]}`)
		}
	}))
	defer server.Close()
	c, err := New(Config{Provider: Ollama, URL: server.URL, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		digest, can string
		looks       int
		tools       bool
	}{
		{"one", "completion", 1, false},
		{"one", "tools", 1, false}, // the same files can do the same
		{"two", "tools", 2, true},
	} {
		mu.Lock()
		digest, can = step.digest, step.can
		mu.Unlock()
		models, err := c.Models(t.Context())
		if err != nil || len(models) != 1 || models[0].Tools == nil || *models[0].Tools != step.tools || models[0].Digest != step.digest || looks != step.looks {
			t.Errorf("%+v: %+v after %d looks, %v", step, models, looks, err)
		}
		if have := c.Digest(t.Context(), "m"); have != step.digest {
			t.Errorf("the digest is %q, want %q", have, step.digest)
		}
	}
}
