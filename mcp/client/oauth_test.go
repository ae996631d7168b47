package client_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

// authority is an MCP server with a login, and the server of that login.
type authority struct {
	*httptest.Server
	mu        sync.Mutex
	challenge string
	asked     []url.Values // of the login's page and of tokens
	valid     string       // the token that is taken
	logins    int
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]any{"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token",
			"registration_endpoint": a.URL + "/register", "response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none"}})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		body["client_id"] = "registered"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(body)
	})
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) { a.token(w, r, reply) })
	server := sdk.NewStreamableHTTPHandler(handler(testServer("")), nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		ok := a.valid != "" && r.Header.Get("Authorization") == "Bearer "+a.valid
		a.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.URL+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		server.ServeHTTP(w, r)
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

// authorize is the page of a user who says yes.
func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.URL.Query()
	a.asked = append(a.asked, q)
	a.challenge = q.Get("code_challenge")
	a.logins++
	http.Redirect(w, r, q.Get("redirect_uri")+"?code=c0de&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request, reply func(http.ResponseWriter, any)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	a.asked = append(a.asked, r.PostForm)
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	first := r.PostForm.Get("code") == "c0de" && base64.RawURLEncoding.EncodeToString(sum[:]) == a.challenge
	again := r.PostForm.Get("grant_type") == "refresh_token" && r.PostForm.Get("refresh_token") == "r3fresh"
	switch {
	case first:
		a.valid = "first"
	case again:
		a.valid = "second"
	default:
		w.WriteHeader(http.StatusBadRequest)
		reply(w, map[string]string{"error": "invalid_grant"})
		return
	}
	reply(w, map[string]any{"access_token": a.valid, "token_type": "Bearer", "refresh_token": "r3fresh", "expires_in": 1})
}

// browse is a user's browser.
func browse(_ context.Context, p client.Page) error {
	resp, err := http.Get(p.URL)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

// A login is asked for once, by PKCE and for this resource; its token is kept for
// the user alone, renewed, and used for this URL only.
func TestOAuth(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	s := client.Server{Name: "x", URL: a.URL + "/mcp", OAuth: &client.OAuth{}}
	open := func(login func(context.Context, client.Page) error, s client.Server) *client.Pool {
		p, err := client.New(client.Config{Servers: []client.Server{s}, Dir: dir, Env: os.Getenv, Login: login})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	if _, err := open(nil, s).Test(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "it wants a login") {
		t.Fatalf("%v", err)
	}
	if _, err := open(browse, s).Test(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	for _, q := range a.asked[:2] {
		if q.Get("resource") != a.URL+"/mcp" {
			t.Errorf("no resource is named: %v", q)
		}
	}
	if a.challenge == "" || a.asked[0].Get("code_challenge_method") != "S256" {
		t.Errorf("no PKCE: %v", a.asked[0])
	}
	var kept []string
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "r3fresh") {
			kept = append(kept, f)
			if info, err := os.Stat(f); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info, err)
			}
		}
	}
	if len(kept) != 1 {
		t.Fatalf("tokens in %v", kept)
	}
	p := open(nil, s) // without anybody to log in; the token has run out
	if _, err := p.Test(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	p.Tools()
	if r := call(t, p, "mcp__x__echo", `{"text":"a"}`); r.Status != utp.StatusOK || a.logins != 1 || a.valid != "second" {
		t.Errorf("%+v after %d logins with %q", r, a.logins, a.valid)
	}
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	if _, err := open(nil, s).Test(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "it wants a login") {
		t.Errorf("%v: another URL takes the token", err)
	}
}
