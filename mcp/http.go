package mcp

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Access says who may reach a server over HTTP.
type Access struct {
	// Key is what a client sends in Authorization: Bearer or in X-API-Key. Without
	// one everybody is served: only where nobody else can connect, as at a socket
	// of the user's own.
	Key string
	// Hosts are names under which the server is reached, beside localhost and
	// addresses in figures. Requests for others are refused, for so a web page
	// reaches a server of this machine (DNS rebinding).
	Hosts []string
	// MaxRequest is how many bytes a request may have; 0 is DefaultMaxRequest.
	MaxRequest int64
}

// DefaultMaxRequest is how long a request may be if Access does not say.
const DefaultMaxRequest = 4 << 20

// Sessions of the older protocols: how many there may be, and after how long
// without a request one is closed.
const (
	maxSessions = 256
	idleSession = 24 * time.Hour
)

// firstStateless is the first protocol whose requests stand alone. Older ones
// have sessions, in which the server can ask the client.
const firstStateless = "2026-07-28"

// Handler serves MCP over streamable HTTP at /mcp, and tells at /health, which
// needs no key, that it does.
func (s *Server) Handler(a Access) http.Handler {
	if a.MaxRequest == 0 {
		a.MaxRequest = DefaultMaxRequest
	}
	same := func(*http.Request) *sdk.Server { return s.sdk }
	// The Host is checked by ours, which knows more names than the SDK.
	h := &handler{server: s, access: a, key: sha256.Sum256([]byte(a.Key)),
		alone: sdk.NewStreamableHTTPHandler(same, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, MaxRequestBodyBytes: a.MaxRequest}),
		sessions: sdk.NewStreamableHTTPHandler(same, &sdk.StreamableHTTPOptions{SessionTimeout: idleSession,
			DisableLocalhostProtection: true, MaxRequestBodyBytes: a.MaxRequest}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", h.serve)
	mux.HandleFunc("GET /health", h.health)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "not found: MCP is at /mcp")
	})
	return h.local(mux)
}

// Close ends the sessions of all clients.
func (s *Server) Close() error {
	var errs []error
	for c := range s.sdk.Sessions() {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

type handler struct {
	server          *Server
	access          Access
	key             [sha256.Size]byte
	alone, sessions http.Handler
}

// local refuses requests that a web page may have sent.
func (h *handler) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.mayHost(r.Host) {
			refuse(w, http.StatusForbidden, fmt.Sprintf("the host %q is not one of this server", r.Host))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !h.mayOrigin(origin) {
			refuse(w, http.StatusForbidden, fmt.Sprintf("requests of web pages from %q are not served", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *handler) mayHost(host string) bool {
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true // no name that others can point at us
	}
	return h.named(name)
}

func (h *handler) mayOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	name := hostName(u.Host)
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback() || h.named(name)
}

func (h *handler) named(name string) bool {
	return name == "localhost" || slices.ContainsFunc(h.access.Hosts, func(n string) bool { return strings.EqualFold(n, name) })
}

// hostName is a host without its port, in small letters.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func (h *handler) health(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"status": "ok", "server": h.server.name, "version": h.server.version,
		"transport": "streamable-http", "tools": len(h.server.shown)})
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	if !h.mayEnter(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="mcp"`)
		refuse(w, http.StatusUnauthorized, "send the server's key in the header Authorization: Bearer KEY or X-API-Key")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.access.MaxRequest))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is longer than %d bytes", long.Limit))
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, "the request broke off")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
		h.alone.ServeHTTP(w, r)
		return
	}
	if r.Header.Get("Mcp-Session-Id") == "" && h.server.crowded() {
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("there are %d sessions already; end some, or try again later", maxSessions))
		return
	}
	h.sessions.ServeHTTP(w, r)
}

// mayEnter reports whether the key was sent. It takes as long for any other.
func (h *handler) mayEnter(r *http.Request) bool {
	if h.access.Key == "" {
		return true
	}
	sent := r.Header.Get("X-Api-Key")
	if scheme, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		sent = strings.TrimSpace(key)
	}
	sum := sha256.Sum256([]byte(sent))
	return subtle.ConstantTimeCompare(sum[:], h.key[:]) == 1
}

// crowded reports whether there are as many sessions as there may be.
func (s *Server) crowded() bool {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n >= maxSessions
}

// refuse answers with an error as MCP has them.
func refuse(w http.ResponseWriter, status int, text string) {
	answer(w, status, map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32000, "message": text}})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that left needs no answer
}
