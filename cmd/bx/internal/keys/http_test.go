package keys_test

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/keys"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

// office serves a desk over HTTP.
func office(t *testing.T) (*database.DB, func(method, path, body, key string) (int, string)) {
	t.Helper()
	d, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "l.db"), replicas.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	desk := &keys.Desk{Books: d, State: d, NewID: replicas.ID, NewKey: func() string { return "secret-" + replicas.ID() }, Now: time.Now, By: "admin"}
	s := httptest.NewServer(desk.Handler(sha256.Sum256([]byte("operator"))))
	t.Cleanup(s.Close)
	return d, func(method, path, body, key string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// A key's life: made, listed without its text, changed, rotated, deleted with what was
// kept for it; each with a line in the audit.
func TestAKeysLife(t *testing.T) {
	d, ask := office(t)
	must := func(method, path, body string, want int) string {
		t.Helper()
		status, text := ask(method, path, body, "operator")
		if status != want {
			t.Errorf("%s %s: %d %s, want %d", method, path, status, text, want)
		}
		return text
	}
	must("POST", "/v1/teams", `{"name":"dev","budget":{"month":{"money":"100"}}}`, 200)
	var made struct {
		ID, Secret string
		Budget     fleet.Budget
		Team       *fleet.Team
	}
	if err := json.Unmarshal([]byte(must("POST", "/v1/keys", `{"name":"ci","team":"dev","models":["a*"],"budget":{"day":{"money":"0.5","tokens":1000}}}`, 200)), &made); err != nil || made.Secret == "" || made.Budget[fleet.Day].Money != 5e8 || made.Team == nil {
		t.Errorf("%+v, %v", made, err)
	}
	if k, err := d.Key(t.Context(), sha256.Sum256([]byte(made.Secret))); err != nil || k.ID != made.ID {
		t.Errorf("the key opens nothing: %v, %v", k, err)
	}
	for _, path := range []string{"/v1/keys", "/v1/keys/ci", "/v1/audit"} {
		if text := must("GET", path, "", 200); strings.Contains(text, made.Secret) || !strings.Contains(text, made.ID) {
			t.Errorf("%s: %s", path, text)
		}
	}
	must("PATCH", "/v1/keys/ci", `{"budget":{"day":{"money":"2"}},"disabled":true,"team":""}`, 200)
	if text := must("GET", "/v1/keys/ci", "", 200); !strings.Contains(text, `"money":"2"`) || !strings.Contains(text, `"disabled":true`) || strings.Contains(text, `"tokens":1000`) || strings.Contains(text, "dev") {
		t.Errorf("after a change: %s", text)
	}
	rotated := must("POST", "/v1/keys/ci/rotate", `{"grace":"1h"}`, 200)
	if !strings.Contains(rotated, "secret-") || strings.Contains(rotated, made.Secret) {
		t.Errorf("rotated: %s", rotated)
	}
	if err := d.Put(t.Context(), []fleet.Item{{Owner: made.ID, Key: "k", Value: []byte("v")}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	must("DELETE", "/v1/keys/ci?purge=true", "", 200)
	if left, err := d.Get(t.Context(), made.ID, []string{"k"}, time.Now()); err != nil || left[0] != nil {
		t.Errorf("after a purge there is %s, %v", left, err)
	}
	must("DELETE", "/v1/keys/ci", "", 404)
	must("DELETE", "/v1/teams/dev", "", 200)
	if text := must("GET", "/v1/audit", "", 200); strings.Count(text, "\n") != 6 {
		t.Errorf("the audit: %s", text)
	}
}

func TestMistakesOverHTTP(t *testing.T) {
	_, ask := office(t)
	for _, tt := range []struct {
		method, path, body, key string
		want                    int
	}{
		{"GET", "/v1/keys", "", "other", 401}, {"GET", "/v1/keys", "", "", 401},
		{"POST", "/v1/keys", `{"name":"a b"}`, "operator", 400}, {"POST", "/v1/keys", `{"name":"a","budgets":1}`, "operator", 400},
		{"POST", "/v1/keys", `{"name":"a","budget":{"year":{"money":"1"}}}`, "operator", 400}, {"POST", "/v1/keys", `{"name":"a","team":"none"}`, "operator", 404},
		{"POST", "/v1/keys", `{"name":"a","parallel":-1}`, "operator", 400}, {"PATCH", "/v1/keys/none", `{}`, "operator", 404}, {"GET", "/v1/usage?since=now", "", "operator", 400},
	} {
		if status, text := ask(tt.method, tt.path, tt.body, tt.key); status != tt.want {
			t.Errorf("%s %s %s: %d %s, want %d", tt.method, tt.path, tt.body, status, text, tt.want)
		}
	}
}
