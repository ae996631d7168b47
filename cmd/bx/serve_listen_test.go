package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
)

// A socket has its mode; what a program left behind is replaced, what lives or is
// no socket is not.
func TestSockets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bx.sock")
	at := place{address: "unix:" + path, mode: 0o660}
	l, err := at.open()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := at.open(); err == nil || !strings.Contains(err.Error(), "another program listens there") {
		t.Errorf("a second one: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket stays behind")
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	again, err := at.open()
	if err != nil {
		t.Fatalf("a socket that was left behind: %v", err)
	}
	again.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := at.open(); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// certificate writes a certificate of its own making for a name.
func certificate(t *testing.T, cert, key, name string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A certificate is read again when its files change; a bad one changes nothing.
func TestCertificatesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, cert, key, "old.example")
	warned := 0
	pair := &keyPair{cert: cert, key: key, warn: func(string, ...any) { warned++ }}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{GetCertificate: pair.get}
	server.StartTLS()
	defer server.Close()
	served := func() string {
		t.Helper()
		pair.mu.Lock()
		pair.looked = time.Time{} // as if a second had passed
		pair.mu.Unlock()
		c, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, ServerName: "any.example"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].DNSNames[0]
	}
	if got := served(); got != "old.example" {
		t.Errorf("it shows %s", got)
	}
	certificate(t, cert, key, "new.example.org")
	if got := served(); got != "new.example.org" {
		t.Errorf("after a change: %s", got)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := served(); got != "new.example.org" || warned != 1 {
		t.Errorf("after a bad change: %s, %d warnings", got, warned)
	}
}

// --check-ready asks whatever the gateway listens at.
func TestAskReady(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Host + r.URL.Path)) })
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	path := filepath.Join(t.TempDir(), "s")
	l, err := place{address: "unix:" + path, mode: 0o600}.open()
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: answer}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	for address, tls := range map[string]bool{plain.Listener.Addr().String(): false, secure.Listener.Addr().String(): true, "unix:" + path: false} {
		status, text, err := askReady(context.Background(), address, tls)
		if status != 200 || text != "localhost/readyz" || err != nil {
			t.Errorf("%s: HTTP %d, %s, %v", address, status, text, err)
		}
	}
	for address, want := range map[string]string{"0.0.0.0:4141": "127.0.0.1:4141", ":4141": "127.0.0.1:4141", "[::]:4141": "[::1]:4141", "10.0.0.7:80": "10.0.0.7:80", "unix:/a": "unix:/a"} {
		if got := reachable(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// A reload says which keys stay as they were.
func TestReloadSaysWhatNeedsARestart(t *testing.T) {
	began, now := &serving.File{Listen: "127.0.0.1:1"}, &serving.File{Listen: "127.0.0.1:2", SocketMode: "0660"}
	now.TLS.Cert, now.Probes.Listen, now.Limits.Retries, now.Limits.KeptMB, now.Limits.Drain = "c", ":9", 7, 8, 9
	if got := notInForce(began, now); !slices.Equal(got, []string{"listen", "socket_mode", "tls", "probes.listen"}) {
		t.Errorf("%q", got)
	}
	if got := notInForce(began, began); len(got) > 0 {
		t.Errorf("nothing has changed, but %q", got)
	}
}
