package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
)

// guard refuses web pages. A page cannot hide its Origin, nor its Host if it made its
// own name point to this machine.
//
// Supervisors may use any name for the probes, which are of no use to a page. The
// metrics also answer at an IP address, which cannot be a page's name.
func (h *house) guard(w http.ResponseWriter, r *http.Request, op string) error {
	if !h.knows(r.Host) && !bySocket(r) && !(op == opProbe && (open(r.URL.Path) || address(r.Host))) {
		return denied(http.StatusForbidden, "host", "the gateway does not go by the name %q: use localhost, or put it into hosts", r.Host)
	}
	return h.foreign(w, r)
}

// foreign refuses web pages that are not in Origins.
func (h *house) foreign(w http.ResponseWriter, r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if !slices.Contains(h.Origins, origin) {
		return denied(http.StatusForbidden, "origin", "the web page %q may not ask: put it into origins", origin)
	}
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", origin)
	head.Set("Access-Control-Expose-Headers", "*")
	head.Add("Vary", "Origin")
	if r.Method == http.MethodOptions {
		head.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		head.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		head.Set("Access-Control-Max-Age", "600")
	}
	return nil
}

// knows reports whether host, with or without a port, is a name of the gateway.
func (h *house) knows(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	return loopback(name) || slices.ContainsFunc(h.Hosts, func(own string) bool {
		return own == "*" || strings.EqualFold(own, name) || strings.EqualFold(own, host)
	})
}

// bySocket reports whether a request came over a Unix socket, which no web page reaches.
func bySocket(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return at != nil && at.Network() == "unix"
}

// address reports whether host, with or without a port, is an IP address.
func address(host string) bool {
	if n, _, err := net.SplitHostPort(host); err == nil {
		host = n
	}
	return net.ParseIP(strings.Trim(host, "[]")) != nil
}

// loopback reports whether a name is this machine's.
func loopback(name string) bool {
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// Client is an API key and its limits.
type Client struct {
	Name     string            // for the log and the metrics
	Key      [sha256.Size]byte // SHA-256 of the key
	Requests int               // a minute; 0: no limit
	Tokens   int               // a minute, of prompts and replies; 0: no limit
	Parallel int               // requests at once; 0: no limit
	Steady   bool              // no experiments on Learned routes
	Trusted  bool              // its replies on Learned routes count in full, not as a tenth of the evidence at most
	Metrics  bool              // the key is for /metrics alone
	Content  bool              // Config.Content gets its requests

	id    string       // the owner of what is kept for it
	rates []fleet.Rate // none: no limit
	key   *fleet.Key   // of the Ledger; nil: it is one of Clients
}

// known returns a client of the configuration with its id, which is derived from its
// key, as a name may be reused.
func (c Client) known() Client {
	c.id = "file:" + hex.EncodeToString(c.Key[:8])
	if c.Requests > 0 || c.Tokens > 0 || c.Parallel > 0 {
		c.rates = []fleet.Rate{{Owner: c.id, Requests: int64(c.Requests), Tokens: int64(c.Tokens), Parallel: c.Parallel}}
	}
	return c
}

// open reports whether a path needs no key.
func open(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/" || path == hello
}

// client identifies the client by its key, in any of the places that the APIs use.
func (g *Gateway) client(h *house, r *http.Request) (*Client, error) {
	if len(h.Clients) == 0 && h.Ledger == nil {
		return nil, nil
	}
	key := keyOf(r)
	sum := sha256.Sum256([]byte(key))
	var found *Client
	for i := range h.Clients {
		if subtle.ConstantTimeCompare(h.Clients[i].Key[:], sum[:]) == 1 {
			found = &h.Clients[i]
		}
	}
	switch {
	case found != nil && key != "":
		return found, nil
	case h.Issuer != nil && h.Ledger != nil && oidc.LooksLike(key):
		return g.shared.person(r.Context(), h, key)
	case key != "" && h.Ledger != nil:
		return g.shared.member(r.Context(), h, sum)
	case key == "":
		return nil, denied(http.StatusUnauthorized, "no_key", "the gateway wants a key: as a bearer token, in x-api-key or in x-goog-api-key")
	}
	return nil, denied(http.StatusUnauthorized, "unknown_key", "the gateway does not know this key")
}

// keyHeaders are the headers for a key, besides Authorization.
var keyHeaders = []string{"X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

func keyOf(r *http.Request) string {
	if kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "bearer") && token != "" {
		return strings.TrimSpace(token)
	}
	for _, name := range keyHeaders {
		if key := r.Header.Get(name); key != "" {
			return key
		}
	}
	return r.URL.Query().Get("key")
}

// withoutKey returns a query without the client's key, which is for the gateway alone.
func withoutKey(q url.Values) string {
	q.Del("key")
	return q.Encode()
}
