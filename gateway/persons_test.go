package gateway_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

// login is an issuer of tokens with one key, whose groups "eng" and "ops" are the teams
// of these names, and "sales" a team that no ledger has.
type login struct {
	*oidc.Issuer
	t     *testing.T
	key   *ecdsa.PrivateKey
	away  atomic.Bool
	ahead atomic.Int64 // of its clock, in nanoseconds
}

func newLogin(t *testing.T) *login {
	t.Helper()
	l := &login{t: t}
	var up *httptest.Server
	up = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		point, _ := l.key.PublicKey.Bytes()
		b64 := base64.RawURLEncoding.EncodeToString
		switch {
		case l.away.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/keys":
			fmt.Fprintf(w, `{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":%q,"y":%q}]}`, b64(point[1:33]), b64(point[33:]))
		default:
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, up.URL, up.URL+"/keys")
		}
	}))
	t.Cleanup(up.Close)
	var err error
	if l.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if l.Issuer, err = oidc.New(oidc.Config{Issuer: up.URL, Audience: "bx", Algorithms: []string{"ES256"}, Claim: "groups",
		Teams: []oidc.Team{{Value: "eng", Team: "eng"}, {Value: "ops", Team: "ops"}, {Value: "sales", Team: "sales"}}}, nil, func() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) }); err != nil {
		t.Fatal(err)
	}
	return l
}

// token is one for an hour from a time on.
func (l *login) token(who, group string, from time.Time) string {
	l.t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": l.Config.Issuer, "aud": "bx", "sub": who, "groups": []string{group}, "exp": from.Add(time.Hour).Unix()})
	token.Header["kid"] = "k"
	text, err := token.SignedString(l.key)
	if err != nil {
		l.t.Fatal(err)
	}
	return text
}

// Persons who log in draw on their team's budget, are in its usage by themselves, and
// can be limited and shut out like keys.
func TestPersonsOfAnIssuer(t *testing.T) {
	b, l := books(t, nil, nil), newLogin(t)
	for name, budget := range map[string]fleet.Budget{"eng": nil, "ops": {fleet.Day: {Tokens: 20}}} {
		if err := b.CreateTeam(t.Context(), "test", fleet.Team{ID: "team-" + name, Name: name, Created: time.Now(), Limits: fleet.Limits{Budget: budget}}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var log bytes.Buffer
	c := &clock{at: time.Now()}
	url := start(t, costly(apis[0], utp.Usage{Input: 20, Output: 7}), backend.Config{Provider: "openai"}, b.into, func(g *gateway.Config) {
		g.Issuer, g.Now, g.Log = l.Issuer, c.now, slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil))
	})
	now := time.Now()
	ask := func(header, token string) (int, string) {
		resp, text := get(t, "POST", url+"/v1/chat/completions", limited, header, token)
		return resp.StatusCode, text
	}
	for _, tt := range []struct {
		header, token string
		status        int
		want          string
	}{
		{"Authorization", "Bearer " + l.token("ann", "eng", now), 200, "all is well"},
		{"X-Api-Key", l.token("ann", "eng", now), 200, "all is well"},
		{"Authorization", "Bearer " + l.token("bob", "eng", now), 200, "all is well"},
		{"Authorization", b.bearer(), 200, "all is well"},
		{"Authorization", "Bearer " + l.token("cat", "ops", now), 429, "the budget of this team for the day is 20 tokens"},
		{"Authorization", "Bearer " + l.token("dan", "guests", now), 403, "names no team"},
		{"Authorization", "Bearer " + l.token("eve", "sales", now), 403, "bx keys team create"},
		{"Authorization", "Bearer " + l.token("ann", "eng", now.Add(-2*time.Hour)), 401, "has expired"},
		{"Authorization", "Bearer " + l.token("ann", "eng", now) + "x", 401, "cannot be believed"},
	} {
		if status, text := ask(tt.header, tt.token); status != tt.status || !strings.Contains(text, tt.want) {
			t.Errorf("%d %s, want %d %s", status, text, tt.status, tt.want)
		}
	}
	for _, line := range []string{"reason=no_team", "reason=bad_token", "client=ann", "client=bob"} {
		if !strings.Contains(told(&mu, &log), line) {
			t.Errorf("the log lacks %s", line)
		}
	}
	persons := map[string]fleet.Key{}
	all, err := b.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		persons[k.Name] = k
	}
	if len(all) != 4 || persons["ann"].Team == nil || persons["ann"].Team.Name != "eng" || persons["ann"].ID == persons["bob"].ID || !strings.HasPrefix(persons["ann"].ID, fleet.PersonID) {
		t.Errorf("the keys: %+v", all)
	}

	// Moved to another team, limited and disabled, as a key may be.
	c.pass(time.Minute)
	if status, text := ask("Authorization", "Bearer "+l.token("ann", "ops", now)); status != 429 {
		t.Errorf("in the other team: %d %s", status, text)
	}
	bob := persons["bob"]
	disable(t, b, bob.ID, now)
	c.pass(time.Minute)
	if status, text := ask("Authorization", "Bearer "+l.token("bob", "eng", now)); status != 401 || !strings.Contains(text, "disabled") {
		t.Errorf("shut out: %d %s", status, text)
	}
	var acts []string
	if err := b.Audit(t.Context(), func(a fleet.Act) error { acts = append(acts, a.By+" "+a.What+" "+a.How); return nil }); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(acts, "\n"); !strings.Contains(text, "oidc create key ann, team eng,") || !strings.Contains(text, "oidc set key ann, team ops,") {
		t.Errorf("the audit: %s", text)
	}
}

// The word of the ledger about a person counts for 5 seconds; that of the token, who it
// is, in which team and until when, is heard with each request.
func TestHowLongAPersonIsKnown(t *testing.T) {
	b, l := books(t, nil, nil), newLogin(t)
	for name, budget := range map[string]fleet.Budget{"eng": nil, "ops": {fleet.Day: {Tokens: 20}}} {
		if err := b.CreateTeam(t.Context(), "test", fleet.Team{ID: "team-" + name, Name: name, Created: time.Now(), Limits: fleet.Limits{Budget: budget}}); err != nil {
			t.Fatal(err)
		}
	}
	c := &clock{at: time.Now()}
	url := start(t, costly(apis[0], utp.Usage{Input: 20, Output: 7}), backend.Config{Provider: "openai"}, b.into, func(g *gateway.Config) {
		g.Issuer, g.Now = l.Issuer, c.now
	})
	now := time.Now()
	asks := func(when, token string, want int) {
		t.Helper()
		if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", "Bearer "+token); resp.StatusCode != want {
			t.Errorf("%s: %s: %s, want %d", when, resp.Status, text, want)
		}
	}
	person := func(name string) (found fleet.Key) {
		t.Helper()
		all, err := b.Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range all {
			if k.Name == name {
				found = k
			}
		}
		return found
	}
	ann, bob := l.token("ann", "eng", now), l.token("bob", "eng", now)
	asks("ann comes", ann, 200)
	asks("bob comes", bob, 200)

	shut, first := person("ann"), person("bob")
	disable(t, b, shut.ID, now)
	if err := b.DeleteKey(t.Context(), "operator", first.ID, now); err != nil {
		t.Fatal(err)
	}
	c.pass(4900 * time.Millisecond)
	asks("ann was shut out 4.9 s ago", ann, 200)
	asks("bob was deleted 4.9 s ago", bob, 200)
	if person("bob").ID != "" {
		t.Error("a deleted person is made anew before the ledger is asked again")
	}
	c.pass(100 * time.Millisecond)
	asks("ann was shut out 5 s ago", ann, 401)
	asks("bob was deleted 5 s ago, and comes back", bob, 200)
	if again := person("bob"); again.ID != first.ID || again.Team == nil || again.Team.Name != "eng" {
		t.Errorf("bob came back as %+v", again)
	}

	asks("bob moves, and is in his new team at once", l.token("bob", "ops", now), 429)
	asks("ann is shut out in the other team as well", l.token("ann", "ops", now), 401)
	if moved := person("ann"); !moved.Disabled || moved.Team == nil || moved.Team.Name != "ops" {
		t.Errorf("ann has moved as %+v", moved)
	}

	ends := l.token("cat", "eng", now.Add(-time.Hour-20*time.Second)) // 20 s ago, which clocks may differ by
	asks("a token at its end", ends, 200)
	l.ahead.Store(int64(20 * time.Second))
	asks("the same a moment later, of a person who is known", ends, 401)
}

// What was spent is the person's, by an id of their own, and a key of that name is
// somebody else.
func TestAPersonIsNoKeyOfThatName(t *testing.T) {
	b, l := books(t, nil, nil), newLogin(t)
	if err := b.CreateTeam(t.Context(), "test", fleet.Team{ID: "t", Name: "eng", Created: time.Now(), Limits: fleet.Limits{Budget: fleet.Budget{fleet.Day: {Tokens: 1e6}}}}); err != nil {
		t.Fatal(err)
	}
	if err := b.CreateKey(t.Context(), "test", fleet.Key{ID: replicas.ID(), Name: "ann", Created: time.Now()}, fleet.Hash{1}); err != nil {
		t.Fatal(err)
	}
	url := start(t, costly(apis[0], utp.Usage{Input: 20, Output: 7}), backend.Config{Provider: "openai"}, b.into, func(g *gateway.Config) { g.Issuer = l.Issuer })
	if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", "Bearer "+l.token("ann", "eng", time.Now())); resp.StatusCode != 200 {
		t.Fatalf("%s: %s", resp.Status, text)
	}
	var spent []fleet.Entry
	if err := b.Entries(t.Context(), fleet.Query{}, func(e fleet.Entry) error { spent = append(spent, e); return nil }); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(l.Config.Issuer, "http://")
	if len(spent) != 1 || !strings.HasPrefix(spent[0].KeyID, fleet.PersonID) || spent[0].Key != "ann@"+host || spent[0].Team != "eng" || spent[0].Amount.Tokens != 27 {
		t.Errorf("%+v", spent)
	}

	// Names are what a terminal and a path of the administration can have, and of those
	// that are all taken the id is left.
	for _, name := range []string{"bob", "bob@" + host} {
		if err := b.CreateKey(t.Context(), "test", fleet.Key{ID: replicas.ID(), Name: name, Created: time.Now()}, fleet.Hash([]byte(fmt.Sprintf("%-32s", name)))); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range []string{"bob", "a/b\x1b[31m é|c", strings.Repeat("x", 100), ".."} {
		if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", "Bearer "+l.token(who, "eng", time.Now())); resp.StatusCode != 200 {
			t.Errorf("%q: %s: %s", who, resp.Status, text)
		}
	}
	all, err := b.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, k := range all {
		if names[k.Name] = strings.HasPrefix(k.ID, fleet.PersonID); k.Name == k.ID && names[k.Name] {
			names["the id"] = true
		}
	}
	for _, want := range []string{"the id", "__", "a_b_[31m__|c", strings.Repeat("x", 60)} {
		if !names[want] {
			t.Errorf("nobody is called %q: %v", want, names)
		}
	}
}

// An issuer that is away before its keys are known is told as what it is.
func TestAnIssuerThatIsAway(t *testing.T) {
	b, l := books(t, nil, nil), newLogin(t)
	l.away.Store(true)
	url := start(t, costly(apis[0], utp.Usage{Input: 20, Output: 7}), backend.Config{Provider: "openai"}, b.into, func(g *gateway.Config) { g.Issuer = l.Issuer })
	resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", "Bearer "+l.token("ann", "eng", time.Now()))
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "issuer") {
		t.Errorf("%s, %v: %s", resp.Status, resp.Header, text)
	}
	if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
		t.Errorf("a key: %s: %s", resp.Status, text)
	}
}

// told is what was written to a log so far.
func told(mu *sync.Mutex, log *bytes.Buffer) string {
	mu.Lock()
	defer mu.Unlock()
	return log.String()
}
