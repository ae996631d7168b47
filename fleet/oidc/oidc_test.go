package oidc_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
)

// issuer is one of OpenID Connect, over real HTTP.
type issuer struct {
	*httptest.Server
	mu    sync.Mutex
	keys  map[string]string // of the set, as JSON, by kid
	away  bool
	says  string // in its discovery document; "": its own address
	asked int    // for its keys
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{keys: map[string]string{}}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.away:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/.well-known/openid-configuration":
		says := i.URL
		if i.says != "" {
			says = i.says
		}
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"id_token_signing_alg_values_supported":["none","HS256"]}`, says, i.URL+"/keys")
	case r.URL.Path == "/keys":
		i.asked++
		var all []string
		for _, k := range i.keys {
			all = append(all, k)
		}
		fmt.Fprintf(w, `{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"RSA","kid":"short","n":"AQAB","e":"AQAB"},%s]}`, strings.Join(all, ","))
	}
}

// set gives the issuer these keys and no others.
func (i *issuer) set(keys ...signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = map[string]string{}
	for _, k := range keys {
		i.keys[k.id] = k.jwk
	}
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

type signer struct {
	id     string
	jwk    string
	method jwt.SigningMethod
	key    crypto.Signer
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newSigner(t *testing.T, id, alg string) signer {
	t.Helper()
	s := signer{id: id, method: jwt.GetSigningMethod(alg)}
	var err error
	switch alg {
	case "RS256":
		var k *rsa.PrivateKey
		k, err = rsa.GenerateKey(rand.Reader, 2048)
		s.key = k
		s.jwk = fmt.Sprintf(`{"kty":"RSA","use":"sig","alg":"RS256","kid":%q,"n":%q,"e":%q}`, id, b64(k.N.Bytes()), b64(big.NewInt(int64(k.E)).Bytes()))
	case "ES256":
		var k *ecdsa.PrivateKey
		k, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		s.key = k
		point, _ := k.PublicKey.Bytes()
		s.jwk = fmt.Sprintf(`{"kty":"EC","crv":"P-256","kid":%q,"x":%q,"y":%q}`, id, b64(point[1:33]), b64(point[33:]))
	default:
		var public ed25519.PublicKey
		var k ed25519.PrivateKey
		public, k, err = ed25519.GenerateKey(rand.Reader)
		s.key = k
		s.jwk = fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}`, id, b64(public))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sign makes a token. change may take claims away (nil) or set others.
func (s signer) sign(t *testing.T, iss string, now time.Time, change map[string]any) string {
	t.Helper()
	claims := jwt.MapClaims{"iss": iss, "aud": "bx", "sub": "ann", "exp": now.Add(time.Hour).Unix(), "groups": []string{"all", "eng"}}
	for k, v := range change {
		if claims[k] = v; v == nil {
			delete(claims, k)
		}
	}
	token := jwt.NewWithClaims(s.method, claims)
	token.Header["kid"] = s.id
	text, err := token.SignedString(s.key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// watch stands still until it is told to go on.
type watch struct {
	mu sync.Mutex
	at time.Time
}

func (w *watch) now() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.at }

func (w *watch) pass(d time.Duration) { w.mu.Lock(); defer w.mu.Unlock(); w.at = w.at.Add(d) }

func open(t *testing.T, i *issuer, w *watch, algorithms ...string) *oidc.Issuer {
	t.Helper()
	o, err := oidc.New(oidc.Config{Issuer: i.URL, Audience: "bx", Algorithms: algorithms, Claim: "groups",
		Teams: []oidc.Team{{Value: "ops", Team: "operators"}, {Value: "eng", Team: "developers"}}}, nil, w.now)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTokensOfEachAlgorithm(t *testing.T) {
	for _, alg := range oidc.Algorithms {
		i, w, s := newIssuer(t), &watch{at: time.Unix(1e9, 0)}, newSigner(t, "k", alg)
		i.set(s)
		p, err := open(t, i, w, alg).Verify(t.Context(), s.sign(t, i.URL, w.now(), nil))
		if err != nil || p.Subject != "ann" || p.Team != "developers" {
			t.Errorf("%s: %+v, %v", alg, p, err)
		}
		for _, other := range oidc.Algorithms {
			if _, err := open(t, i, w, other).Verify(t.Context(), s.sign(t, i.URL, w.now(), nil)); other != alg && err == nil {
				t.Errorf("a token by %s counts where only %s does", alg, other)
			}
		}
	}
}

func TestTokensThatDoNotCount(t *testing.T) {
	i, w, s := newIssuer(t), &watch{at: time.Unix(1e9, 0)}, newSigner(t, "k", "RS256")
	i.set(s)
	o := open(t, i, w)
	now := w.now()
	good := s.sign(t, i.URL, now, nil)
	if _, err := o.Verify(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	none := b64([]byte(`{"alg":"none","kid":"k"}`)) + "." + parts[1] + "."
	secret := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": i.URL, "aud": "bx", "sub": "ann", "exp": now.Add(time.Hour).Unix(), "groups": "eng"})
	secret.Header["kid"] = "k"
	hmac, err := secret.SignedString([]byte(s.jwk))
	if err != nil {
		t.Fatal(err)
	}
	critical := jwt.NewWithClaims(s.method, jwt.MapClaims{"iss": i.URL, "aud": "bx", "sub": "ann", "exp": now.Add(time.Hour).Unix(), "groups": "eng"})
	critical.Header["kid"], critical.Header["crit"] = "k", []string{"b64"}
	crit, err := critical.SignedString(s.key)
	if err != nil {
		t.Fatal(err)
	}
	with := func(name string, v any) string { return s.sign(t, i.URL, now, map[string]any{name: v}) }
	forged := newSigner(t, "k", "RS256")
	for _, tt := range []struct{ name, token, want string }{
		{"no signature", none, "cannot be believed"},
		{"signed with the public key as a secret", hmac, "cannot be believed"},
		{"of another key by that name", forged.sign(t, i.URL, now, nil), "cannot be believed"},
		{"another payload", parts[0] + "." + b64([]byte(`{"iss":"x"}`)) + "." + parts[2], "cannot be believed"},
		{"of another issuer", s.sign(t, i.URL+"/", now, nil), "of another issuer"},
		{"for another audience", with("aud", "bx2"), `not for the audience "bx"`},
		{"for no audience", with("aud", nil), "aud claim is required"},
		{"expired", with("exp", now.Add(-31*time.Second).Unix()), "has expired"},
		{"without an end", with("exp", nil), "cannot be believed"},
		{"not valid yet", with("nbf", now.Add(31*time.Second).Unix()), "not valid yet"},
		{"issued in the future", with("iat", now.Add(31*time.Second).Unix()), "issued in the future"},
		{"of nobody", with("sub", nil), "whose it is"},
		{"of a key that is not there", newSigner(t, "gone", "RS256").sign(t, i.URL, now, nil), `no key "gone"`},
		{"of a key that is too short", newSigner(t, "short", "RS256").sign(t, i.URL, now, nil), `no key "short"`},
		{"with a demand", crit, "crit"},
		{"too long", with("pad", strings.Repeat("x", 20000)), "longer than"},
		{"of no team", with("groups", []string{"sales"}), "names no team"},
		{"without the claim", with("groups", nil), "names no team"},
	} {
		var refused *oidc.Refusal
		_, err := o.Verify(t.Context(), tt.token)
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) || refused.Team != strings.Contains(tt.want, "team") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for name, token := range map[string]string{"a clock that is late": with("exp", now.Add(-20*time.Second).Unix()), "one that is early": with("nbf", now.Add(20*time.Second).Unix()), "issued by one that is early": with("iat", now.Add(20*time.Second).Unix()),
		"of several audiences": with("aud", []string{"other", "bx"}), "a claim of one text": with("groups", "eng")} {
		if _, err := o.Verify(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := o.Verify(t.Context(), with("groups", []string{"eng", "ops"})); err != nil || p.Team != "operators" {
		t.Errorf("of two teams: %+v, %v, want the first of the configuration", p, err)
	}
}

// A claim may stand deeper, or have dots in its name.
func TestClaimsByPath(t *testing.T) {
	i, w, s := newIssuer(t), &watch{at: time.Unix(1e9, 0)}, newSigner(t, "k", "ES256")
	i.set(s)
	for _, tt := range []struct {
		claim string
		has   map[string]any
	}{
		{"realm_access.roles", map[string]any{"realm_access": map[string]any{"roles": []string{"x", "eng"}}}},
		{"https://example.com/team", map[string]any{"https://example.com/team": "eng"}},
	} {
		o, err := oidc.New(oidc.Config{Issuer: i.URL, Audience: "bx", Algorithms: []string{"ES256"}, Claim: tt.claim, Teams: []oidc.Team{{Value: "eng", Team: "developers"}}}, nil, w.now)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := o.Verify(t.Context(), s.sign(t, i.URL, w.now(), tt.has)); err != nil || p.Team != "developers" {
			t.Errorf("%s: %+v, %v", tt.claim, p, err)
		}
		if _, err := o.Verify(t.Context(), s.sign(t, i.URL, w.now(), map[string]any{"realm_access": "eng"})); err == nil {
			t.Errorf("%s: a claim of another form counts", tt.claim)
		}
	}
}

// A person is called by a claim of one's choice, and is whom sub names.
func TestWhatAPersonIsCalled(t *testing.T) {
	i, w, s := newIssuer(t), &watch{at: time.Unix(1e9, 0)}, newSigner(t, "k", "ES256")
	i.set(s)
	o, err := oidc.New(oidc.Config{Issuer: i.URL, Audience: "bx", Algorithms: []string{"ES256"}, Claim: "groups", Name: "about.email", Teams: []oidc.Team{{Value: "eng", Team: "developers"}}}, nil, w.now)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[fleet.Hash]bool{}
	for _, tt := range []struct {
		sub   string
		about any
		want  string
	}{
		{"0c7d", map[string]any{"email": "ann@example.com"}, "ann@example.com"}, {"0c7d", map[string]any{"email": "ann@example.org"}, "ann@example.org"},
		{"0c7d", nil, "0c7d"}, {"0c7d", map[string]any{"email": ""}, "0c7d"}, {"51f0", map[string]any{"email": "ann@example.com"}, "ann@example.com"},
	} {
		p, err := o.Verify(t.Context(), s.sign(t, i.URL, w.now(), map[string]any{"sub": tt.sub, "about": tt.about}))
		if err != nil || p.Name != tt.want || p.Subject != tt.sub {
			t.Errorf("%+v: %+v, %v", tt, p, err)
		}
		hashes[p.Hash()] = true
	}
	if len(hashes) != 2 {
		t.Errorf("they are %d persons", len(hashes))
	}
}

// A new key is found, an old one goes, and names of keys that nobody has make no
// questions without end.
func TestKeysRotate(t *testing.T) {
	i, w := newIssuer(t), &watch{at: time.Unix(1e9, 0)}
	one, two := newSigner(t, "one", "ES256"), newSigner(t, "two", "ES256")
	i.set(one)
	o := open(t, i, w, "ES256")
	verify := func(s signer) error {
		_, err := o.Verify(t.Context(), s.sign(t, i.URL, w.now(), nil))
		return err
	}
	if err := verify(one); err != nil {
		t.Fatal(err)
	}
	w.pass(2 * time.Minute)
	i.set(one, two)
	if err := verify(two); err != nil || i.count() != 2 {
		t.Errorf("the new key: %v, %d questions", err, i.count())
	}
	var all sync.WaitGroup
	flood := newSigner(t, "", "ES256")
	w.pass(9 * time.Second)
	for n := range 50 {
		flood.id = fmt.Sprint("nobody's ", n)
		token := flood.sign(t, i.URL, w.now(), nil)
		all.Go(func() {
			if _, err := o.Verify(t.Context(), token); err == nil {
				t.Error("a token of nobody's key counts")
			}
		})
	}
	all.Wait()
	if i.count() != 2 {
		t.Errorf("%d questions for keys that nobody has, within 10 seconds of the last", i.count()-2)
	}
	w.pass(time.Second)
	if err := verify(flood); err == nil || i.count() != 3 {
		t.Errorf("a second later: %v, %d questions", err, i.count())
	}
	i.set(two)
	w.pass(16 * time.Minute)
	for range 200 { // asked beside the requests
		if verify(one) != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := verify(one); err == nil {
		t.Error("a key that the issuer has taken back counts for ever")
	}
	if err := verify(two); err != nil {
		t.Error(err)
	}
}

// While the issuer is away its known keys count; without any nobody is refused for
// good, and it is asked again 5 seconds later.
func TestTheIssuerIsAway(t *testing.T) {
	i, w, s := newIssuer(t), &watch{at: time.Unix(1e9, 0)}, newSigner(t, "k", "ES256")
	i.set(s)
	known, other := open(t, i, w, "ES256"), open(t, i, w, "ES256")
	token := func() string { return s.sign(t, i.URL, w.now(), nil) }
	if _, err := known.Verify(t.Context(), token()); err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	i.away = true
	i.mu.Unlock()
	w.pass(5 * time.Hour)
	for range 3 {
		if err := known.Fetch(t.Context()); err == nil {
			t.Error("an issuer that is away gives its keys")
		}
		if _, err := known.Verify(t.Context(), token()); err != nil {
			t.Errorf("a known key: %v", err)
		}
	}
	if _, err := other.Verify(t.Context(), token()); !errors.Is(err, oidc.ErrAway) || !strings.Contains(err.Error(), "502") {
		t.Errorf("no key is known: %v", err)
	}
	i.mu.Lock()
	i.away = false
	i.mu.Unlock()
	if _, err := other.Verify(t.Context(), token()); !errors.Is(err, oidc.ErrAway) {
		t.Errorf("it is asked again at once: %v", err)
	}
	w.pass(5 * time.Second)
	if _, err := other.Verify(t.Context(), token()); err != nil {
		t.Errorf("5 seconds later: %v", err)
	}
}

// A discovery document of another issuer, and keys over plain HTTP, are not believed.
func TestDiscoveryIsChecked(t *testing.T) {
	i, w := newIssuer(t), &watch{at: time.Unix(1e9, 0)}
	i.set(newSigner(t, "k", "ES256"))
	i.says = "https://login.example.com"
	if err := open(t, i, w, "ES256").Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), `is of the issuer "https://login.example.com"`) {
		t.Errorf("%v", err)
	}
	away := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/", http.StatusFound))
	t.Cleanup(away.Close)
	i.Server.URL = away.URL
	if err := open(t, i, w, "ES256").Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "without https") {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "login.example.com", "http://login.example.com", "https://x/?a", "ftp://127.0.0.1"} {
		if _, err := oidc.New(oidc.Config{Issuer: bad, Audience: "bx", Claim: "c", Teams: []oidc.Team{{Value: "a", Team: "b"}}}, nil, nil); err == nil {
			t.Errorf("the issuer %q is taken", bad)
		}
	}
}
