package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// An issuer that stays the same over a change of the file keeps the keys that are known
// of it, also where it is away at that moment.
func TestAReloadKeepsTheKeysOfTheIssuer(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	var up *httptest.Server
	up = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			fmt.Fprintf(w, `{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":%q,"y":%q}]}`, b64(point[1:33]), b64(point[33:]))
			return
		}
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, up.URL, up.URL+"/keys")
	}))
	defer up.Close()
	file := filepath.Join(t.TempDir(), "serve.toml")
	write := func(more string) {
		t.Helper()
		text := fmt.Sprintf("[ledger]\nurl = \"sqlite:l.db\"\n[backends.b]\nprovider = \"openai\"\nurl = \"http://127.0.0.1:1/v1\"\n"+
			"[oidc]\nissuer = %q\naudience = \"bx\"\nalgorithms = [\"ES256\"]\nclaim = \"groups\"\n[[oidc.teams]]\nvalue = \"eng\"\nteam = \"eng\"\n", up.URL)
		if err := os.WriteFile(file, []byte(text+more), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	quiet, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Close()
	a := &app{env: func(string) string { return "" }, out: quiet, err: quiet}
	s := &server{job: &job{app: a, view: &view.Printer{Err: io.Discard}}, id: "r", flags: serveFlags{file: file}}
	if err := s.readFile(); err != nil {
		t.Fatal(err)
	}
	if s.common, err = s.openCommon(t.Context(), s.read); err != nil {
		t.Fatal(err)
	}
	defer s.common.close()
	c, err := s.config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.issuer.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	up.CloseClientConnections()
	up.Close()
	for range 2 {
		write("[limits]\nrequests = 9\n")
		if _, err := s.reload(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader("{}"))
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+b64([]byte(`{"alg":"ES256","kid":"other"}`))+"."+b64([]byte(`{}`))+"."+b64(make([]byte, 64)))
	if g.ServeHTTP(w, r); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `no key \"other\"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
