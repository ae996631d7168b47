package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// Over asks the first backend, the next where that one fails, and gives each
// reply an id of its own.
func TestOverAsksOneAfterTheOther(t *testing.T) {
	script, err := fake.Parse("two", []byte("-- turn --\n-- text --\nOne.\n-- turn --\n-- text --\nTwo."))
	if err != nil {
		t.Fatal(err)
	}
	up := httptest.NewServer(fake.New(script))
	defer up.Close()
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	var list []gateway.Backend
	for _, url := range []string{down.URL, up.URL} {
		c, err := backend.New(backend.Config{Provider: backend.OpenAI, URL: url, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	g := gateway.Over(list[0], list[1:]...)
	ids := map[string]bool{}
	for _, want := range []string{"One.", "Two."} {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest("POST", "http://127.0.0.1/v1/messages", strings.NewReader(
			`{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`)))
		if id := w.Header().Get("X-Bx-Id"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) || id == "" || ids[id] {
			t.Errorf("%d, id %q: %s", w.Code, id, w.Body)
		}
		ids[w.Header().Get("X-Bx-Id")] = true
	}
}
