package keys_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
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

// A mistake is told where it was made, with what was wanted, and changes nothing.
func TestMistakesOverHTTP(t *testing.T) {
	d, ask := office(t)
	for _, body := range []string{`{"name":"dev"}`, `{"name":"empty"}`} {
		if status, text := ask("POST", "/v1/teams", body, "operator"); status != 200 {
			t.Fatal(status, text)
		}
	}
	if status, text := ask("POST", "/v1/keys", `{"name":"ci","team":"dev"}`, "operator"); status != 200 {
		t.Fatal(status, text)
	}
	acts := func() (n int) {
		if err := d.Audit(t.Context(), func(fleet.Act) error { n++; return nil }); err != nil {
			t.Error(err)
		}
		return n
	}
	before := acts()
	for _, tt := range []struct {
		method, path, body, key string
		want                    int
		says                    string
	}{
		{"GET", "/v1/keys", "", "other", 401, "--new-admin-key"}, {"GET", "/v1/keys", "", "", 401, "bearer"},
		{"GET", "/v1/key", "", "operator", 404, "/v1/keys"}, {"PUT", "/v1/keys", "{}", "operator", 405, "GET, HEAD, POST"},
		{"POST", "/v1/keys", `{"name":"a b"}`, "operator", 400, "without spaces"}, {"POST", "/v1/keys", `{"name":"a","budgets":1}`, "operator", 400, "budgets"},
		{"POST", "/v1/keys", "", "operator", 400, "one JSON object"}, {"POST", "/v1/keys", `{"name":"a"`, "operator", 400, "one JSON object"},
		{"POST", "/v1/keys", `{"name":"a"}{}`, "operator", 400, "one JSON object"}, {"POST", "/v1/keys", `[]`, "operator", 400, "one JSON object"},
		{"POST", "/v1/keys", `{"name":"` + strings.Repeat("a", 1<<20) + `"}`, "operator", 413, "1048576"},
		{"POST", "/v1/keys", `{"name":"a","budget":{"year":{"money":"1"}}}`, "operator", 400, "minute, day or month"},
		{"POST", "/v1/keys", `{"name":"a","budget":{"day":{"money":1}}}`, "operator", 400, `budget.money: want a text such as \"5\"`},
		{"POST", "/v1/teams", `{"name":"a","budget":{"day":{"tokens":"1"}}}`, "operator", 400, `budget.tokens: want a whole number`},
		{"POST", "/v1/keys", `{"name":"a","budget":{"day":{"money":"0.0000000001"}}}`, "operator", 400, "9 decimals"},
		{"POST", "/v1/keys", `{"name":"a","expires":"30d"}`, "operator", 400, "expires"}, {"POST", "/v1/keys", `{"name":"a","team":"none"}`, "operator", 404, "none"},
		{"POST", "/v1/keys", `{"name":"a","parallel":-1}`, "operator", 400, "parallel"}, {"POST", "/v1/keys", `{"name":"ci"}`, "operator", 409, "taken"},
		{"PATCH", "/v1/keys/none", `{}`, "operator", 404, "none"}, {"POST", "/v1/keys/ci/rotate", `{"grace":"-1h"}`, "operator", 400, "24h or 30d"},
		{"DELETE", "/v1/keys/ci?purge=yes", "", "operator", 400, "true or false"}, {"DELETE", "/v1/keys/ci?prune=true", "", "operator", 400, "purge"},
		{"POST", "/v1/teams", `{"name":"dev"}`, "operator", 409, "taken"}, {"POST", "/v1/teams", `{"name":"a","expires":"2027-01-01T00:00:00Z"}`, "operator", 400, "expires"},
		{"PATCH", "/v1/teams/dev", `{"disabled":true}`, "operator", 400, "disabled"}, {"DELETE", "/v1/teams/dev", "", "operator", 409, "(ci)"},
		{"PATCH", "/v1/keys/ci", `{"expires":null}`, "operator", 400, "expires: want a value, not null"}, {"PATCH", "/v1/keys/ci", `{"parallel":1,"models":["a"],"Parallel":2}`, "operator", 400, "Parallel is there twice"},
		{"PATCH", "/v1/keys/ci", `{"budget":{"day":{"money":"1"},"day":{"tokens":1}}}`, "operator", 400, "budget.day is there twice"}, {"PATCH", "/v1/keys/ci", `{"models":["a",null]}`, "operator", 400, "models: want a value"},
		{"PATCH", "/v1/keys/ci", `{"budget":{"day":null}}`, "operator", 400, "budget.day: want a value"}, {"POST", "/v1/keys", `{"name":".."}`, "operator", 400, "can be seen"}, {"POST", "/v1/keys", `{"name":"a\u202eb"}`, "operator", 400, "can be seen"},
		{"POST", "/v1/keys", `{"name":"a\u009bb"}`, "operator", 400, "can be seen"}, {"GET", "/v1/teams/none", "", "operator", 404, "none"}, {"GET", "/v1/usage?team=none", "", "operator", 404, "no team"},
		{"GET", "/v1/usage?by=year", "", "operator", 400, "backend, day"}, {"GET", "/v1/usage?by=day&by=day", "", "operator", 400, "each once"}, {"GET", "/v1/usage?format=xml", "", "operator", 400, "json or csv"},
		{"GET", "/v1/usage?key=%00%ff", "", "operator", 404, "no key"}, {"GET", "/v1/audit?key=ci", "", "operator", 400, "since"},
		{"GET", "/v1/usage?since=now", "", "operator", 400, "since"}, {"GET", "/v1/usage?key=none", "", "operator", 404, "none"},
		{"GET", "/v1/usage?ending=over", "", "operator", 400, "unsettled"}, {"GET", "/v1/usage?until=1", "", "operator", 400, "before"},
	} {
		status, text := ask(tt.method, tt.path, tt.body, tt.key)
		var is struct{ Error string }
		if err := json.Unmarshal([]byte(text), &is); status != tt.want || err != nil || !strings.Contains(text, tt.says) {
			t.Errorf("%s %s %.60s: %d %s, want %d with %s", tt.method, tt.path, tt.body, status, text, tt.want, tt.says)
		}
	}
	if after := acts(); after != before {
		t.Errorf("%d changes", after-before)
	}
	for _, body := range []string{"", `{}`, `{"grace":"30d"}`} {
		if status, text := ask("POST", "/v1/keys/ci/rotate", body, "operator"); status != 200 {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}

// A page of a browser is refused, whatever key it has.
func TestPagesDoNotAdminister(t *testing.T) {
	desk := &keys.Desk{Now: time.Now}
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/keys", nil)
	r.Header.Set("Authorization", "Bearer operator")
	r.Header.Set("Origin", "https://example.com")
	if desk.Handler(sha256.Sum256([]byte("operator"))).ServeHTTP(w, r); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Origin") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// forgetful is a State that does not answer.
type forgetful struct{ fleet.State }

func (forgetful) Forget(context.Context, string) error { return errors.New("connection refused") }

// A key whose conversations cannot be deleted stays, so that they can be later.
func TestAPurgeDoesNothingByHalves(t *testing.T) {
	d, ask := office(t)
	if status, text := ask("POST", "/v1/keys", `{"name":"ci"}`, "operator"); status != 200 {
		t.Fatal(status, text)
	}
	for _, state := range []fleet.State{nil, forgetful{}} {
		desk := &keys.Desk{Books: d, State: state, Now: time.Now, By: "me"}
		if err := desk.Delete(t.Context(), "ci", true); err == nil {
			t.Errorf("%T: a purge that cannot be", state)
		}
		if _, err := desk.Key(t.Context(), "ci"); err != nil {
			t.Errorf("%T: %v", state, err)
		}
	}
	if err := (&keys.Desk{Books: d, Now: time.Now, By: "me"}).Delete(t.Context(), "ci", false); err != nil {
		t.Error(err)
	}
}

// What a deleted key has spent is found by its name and by its id.
func TestADeletedKeyHasSpent(t *testing.T) {
	d, ask := office(t)
	desk := &keys.Desk{Books: d, State: d, NewID: replicas.ID, NewKey: replicas.ID, Now: time.Now, By: "me"}
	k, _, err := desk.Create(t.Context(), "ci", keys.Change{})
	if err != nil {
		t.Fatal(err)
	}
	r := fleet.Reservation{ID: replicas.ID(), Key: &k, Request: "r", Backend: "b", Model: "m", At: time.Now()}
	if err := d.Record(t.Context(), []fleet.Line{{Reservation: r, Settlement: fleet.Settlement{ID: r.ID, Ending: fleet.Settled, Amount: fleet.Amount{Requests: 1}, At: time.Now()}}}); err != nil {
		t.Fatal(err)
	}
	for _, deleted := range []bool{false, true} {
		for _, name := range []string{"ci", k.ID} {
			if status, text := ask("GET", "/v1/usage?key="+name, "", "operator"); status != 200 || strings.Count(text, "\n") != 1 {
				t.Errorf("deleted %v, by %s: %d %s", deleted, name, status, text)
			}
		}
		if !deleted {
			if err := desk.Delete(t.Context(), "ci", true); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Amounts that two operators change at one time all hold, with those that nobody named.
func TestAmountsThatAreChangedAtOneTime(t *testing.T) {
	d, _ := office(t)
	desk := &keys.Desk{Books: d, State: d, NewID: replicas.ID, NewKey: replicas.ID, Now: time.Now, By: "me"}
	if _, _, err := desk.Create(t.Context(), "ci", keys.Change{Amounts: map[string]string{"requests": "minute=60", "money": "minute=0"}}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for unit, text := range map[string]string{"money": "day=5,month=50", "tokens": "day=100"} {
		all.Go(func() {
			if _, err := desk.Set(context.Background(), "ci", keys.Change{Amounts: map[string]string{unit: text}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	k, err := desk.Key(t.Context(), "ci")
	if err != nil {
		t.Fatal(err)
	}
	if is := keys.Words(k.Limits); is != "60 requests/minute, 5 money/day, 100 tokens/day, 50 money/month" {
		t.Error(is)
	}
}

// What was spent is told by team, model and day, as JSON and with commas, and what is
// left of a team's budget with the team.
func TestWhatATeamHasSpent(t *testing.T) {
	d, ask := office(t)
	desk := &keys.Desk{Books: d, State: d, NewID: replicas.ID, NewKey: replicas.ID, Now: time.Now, By: "me"}
	if _, err := desk.CreateTeam(t.Context(), "dev", keys.Change{Amounts: map[string]string{"tokens": "day=100"}}); err != nil {
		t.Fatal(err)
	}
	team, at := "dev", time.Now().UTC()
	for i, model := range []string{"a", "b", "a"} {
		k, _, err := desk.Create(t.Context(), fmt.Sprint("k", i), keys.Change{Team: &team})
		if err != nil {
			t.Fatal(err)
		}
		r := fleet.Reservation{ID: replicas.ID(), Key: &k, Request: "r", Backend: "p", Model: model, At: at}
		if err := d.Record(t.Context(), []fleet.Line{{Reservation: r, Settlement: fleet.Settlement{ID: r.ID, Ending: fleet.Settled, Amount: fleet.Amount{Requests: 1, Tokens: 10, Money: 5e8}, At: at}}}); err != nil {
			t.Fatal(err)
		}
	}
	day := at.Format(time.DateOnly)
	for path, want := range map[string]string{
		"/v1/usage?by=team,model&team=dev&format=csv":     "team,model,requests,input,cache_read,cache_write,output,reasoning,tokens,money,reserved_tokens,reserved_money\ndev,a,2,0,0,0,0,0,20,1,0,0\ndev,b,1,0,0,0,0,0,10,0.5,0,0\n",
		"/v1/usage?by=day&by=model&model=A&since=" + day:  `{"amount":{"requests":2,"tokens":20,"money":"1"},"day":"` + day + `","model":"a","requests":2,"reserved":{},"usage":{"input":0,"output":0}}` + "\n",
		"/v1/usage?team=dev&format=csv&before=2026-01-01": "time,key,key_id,team,request,backend,model,ending,late,input,cache_read,cache_write,output,reasoning,tokens,money,most_tokens,most_money,price_dated\n",
	} {
		if status, text := ask("GET", path, "", "operator"); status != 200 || text != want {
			t.Errorf("%s: %d %s, want %s", path, status, text, want)
		}
	}
	if status, text := ask("GET", "/v1/teams/dev", "", "operator"); status != 200 || !strings.Contains(text, `"per":"day","start":"`+day) || !strings.Contains(text, `"limit":{"tokens":100},"settled":{"requests":3,"tokens":30`) || strings.Contains(text, `"of":"key"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := ask("GET", "/v1/audit?of=dev&before=2126-01-01", "", "operator"); status != 200 || strings.Count(text, "\n") != 1 || !strings.Contains(text, "create team") {
		t.Errorf("%d %s", status, text)
	}
	for i := range 12 {
		if _, _, err := desk.Create(t.Context(), fmt.Sprint("more", i), keys.Change{Team: &team}); err != nil {
			t.Fatal(err)
		}
	}
	if err := desk.DeleteTeam(t.Context(), "dev"); err == nil || !strings.Contains(err.Error(), "more3, more4, 5 more)") {
		t.Error(err)
	}
	for _, name := range []string{"k0", "k1", "k2"} {
		if err := desk.Delete(t.Context(), name, false); err != nil {
			t.Fatal(err)
		}
	}
	if status, text := ask("GET", "/v1/usage?key=k1&team=dev", "", "operator"); status != 200 || strings.Count(text, "\n") != 1 {
		t.Errorf("of a deleted key: %d %s", status, text)
	}
}

// Each request has a line of the log, with what came of it and without any key.
func TestRequestsAreInTheLog(t *testing.T) {
	d, _ := office(t)
	var log bytes.Buffer
	desk := &keys.Desk{Books: d, State: d, NewID: replicas.ID, NewKey: func() string { return "bx-secret" }, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}
	h := desk.Handler(sha256.Sum256([]byte("operator")))
	for _, key := range []string{"operator", "guessed"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/keys", strings.NewReader(`{"name":"ci"}`))
		r.Header.Set("Authorization", "Bearer "+key)
		if h.ServeHTTP(w, r); key == "guessed" && w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Error("nothing says how to authenticate")
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/keys/bx-ZOHHMYBF3PKLS4FJYUUVHFDIQG", nil) // in place of its name
	r.Header.Set("Authorization", "Bearer operator")
	h.ServeHTTP(w, r)
	lines := strings.Split(log.String(), "\n")
	if len(lines) != 4 || !strings.Contains(lines[2], "path=/v1/keys/bx-… status=404") || !strings.Contains(lines[0], "INFO msg=administration method=POST path=/v1/keys status=200 from=192.0.2.1") || !strings.Contains(lines[1], "WARN") || !strings.Contains(lines[1], "status=401") {
		t.Errorf("%q", lines)
	}
	for _, secret := range []string{"operator", "guessed", "bx-secret"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}
