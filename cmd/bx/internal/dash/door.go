package dash

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// policy is the Content-Security-Policy of everything that is served.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// protect sets the headers that hold for every answer.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func denied(status int, format string, a ...any) error {
	return &refusal{status, fmt.Sprintf(format, a...)}
}

// foreign refuses what another page, or a name that leads here, may have sent.
func (d *Dash) foreign(r *http.Request) error {
	if !d.knows(r.Host) {
		return denied(http.StatusForbidden, "the dashboard does not go by the name %q: use localhost or an address, or put the name into hosts (\"*\" does not count here)", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !own(origin, r.Host) {
		return denied(http.StatusForbidden, "the page %q may not ask here", origin)
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); slices.Contains(frames, dest) {
		return denied(http.StatusForbidden, "the dashboard is shown in no %s", dest)
	}
	if q := r.URL.Query(); q.Has("key") || q.Has("token") {
		return denied(http.StatusBadRequest, "a key or token in an address ends up in logs: post it at /ui/")
	}
	return nil
}

// frames are the values of Sec-Fetch-Dest of what is shown within a page.
var frames = []string{"iframe", "frame", "embed", "object", "fencedframe"}

// knows reports whether host, with or without a port, is a name of the
// dashboard. No name of a page's can be an address.
func (d *Dash) knows(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	if name == "*" {
		return false
	}
	return strings.EqualFold(name, "localhost") || net.ParseIP(strings.Trim(name, "[]")) != nil || slices.ContainsFunc(d.c.Hosts, func(own string) bool {
		return strings.EqualFold(own, name) || strings.EqualFold(own, host)
	})
}

// own reports whether an Origin is that of the host that is asked.
func own(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}

// sameSite refuses what a browser says comes from another site. A link to the
// page itself may: the cookie does not go along then.
func sameSite(r *http.Request, page bool) error {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "" || site == "same-origin" || site == "none" {
		return nil
	}
	if page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return nil
	}
	return denied(http.StatusForbidden, "a page of another site may not ask here")
}

// cookie is the name of the session's. No path of an API reads it.
const (
	cookie      = "bx_ui"
	stays       = 12 * time.Hour
	maxSessions = 64
	tokenStays  = time.Hour // of a link that nobody used
)

func cookieOf(r *http.Request) string {
	c, err := r.Cookie(cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// sessions are who has signed in, and the tokens that still let somebody in.
type sessions struct {
	mu     sync.Mutex
	open   map[[sha256.Size]byte]time.Time // until when, by the hash of the cookie
	tokens map[[sha256.Size]byte]time.Time // until when
}

func (s *sessions) has(value string, now time.Time) bool {
	if value == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.open[sha256.Sum256([]byte(value))])
}

// begin opens a session. Of too many, the one that ends first is closed.
func (s *sessions) begin(now time.Time) (value string) {
	value = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]time.Time{}
	}
	for len(s.open) >= maxSessions {
		var oldest [sha256.Size]byte
		var ends time.Time
		for id, until := range s.open {
			if ends.IsZero() || until.Before(ends) {
				oldest, ends = id, until
			}
		}
		delete(s.open, oldest)
	}
	s.open[sha256.Sum256([]byte(value))] = now.Add(stays)
	return value
}

func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256([]byte(value)))
}

// mint makes a token for one use.
func (s *sessions) mint(now time.Time) string {
	token := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = map[[sha256.Size]byte]time.Time{}
	}
	s.tokens[sha256.Sum256([]byte(token))] = now.Add(tokenStays)
	return token
}

// spend uses a token up.
func (s *sessions) spend(token string, now time.Time) bool {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.tokens[sum]
	delete(s.tokens, sum)
	return ok && now.Before(until)
}

// Link is an address below base ("http://127.0.0.1:4143") that lets one browser
// in, once. The token stands behind the #, which browsers do not send.
func (d *Dash) Link(base string) string {
	return base + "/ui/#" + d.sessions.mint(d.c.Now())
}

const maxLogin = 4 << 10 // bytes

// login makes a session of the operator's key or of a token.
func (d *Dash) login(w http.ResponseWriter, r *http.Request) error {
	var ask struct{ Key, Token string }
	if err := body(w, r, maxLogin, &ask); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(ask.Key))
	known := ask.Key != "" && d.c.Key != [sha256.Size]byte{} && subtle.ConstantTimeCompare(sum[:], d.c.Key[:]) == 1
	linked := !known && ask.Token != "" && d.sessions.spend(ask.Token, d.c.Now())
	if !known && !linked {
		return denied(http.StatusUnauthorized, "%s", d.unknown(ask.Token != ""))
	}
	if linked && d.c.Used != nil {
		d.c.Used()
	}
	set(w, r, d.sessions.begin(d.c.Now()), stays)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (d *Dash) unknown(token bool) string {
	switch {
	case token:
		return "this link was used before, or is too old: take a new one from the terminal"
	case d.c.Key == [sha256.Size]byte{}:
		return "there is no operator's key here: open the link that bx dash printed"
	}
	return "this is not the operator's key; the key of a client does not count here"
}

func (d *Dash) logout(w http.ResponseWriter, r *http.Request) error {
	d.sessions.end(cookieOf(r))
	set(w, r, "", -time.Second)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// session tells the page to sign in at whether that is needed.
func (d *Dash) session(w http.ResponseWriter, r *http.Request) error {
	return answer(w, map[string]bool{"open": d.sessions.has(cookieOf(r), d.c.Now()), "key": d.c.Key != [sha256.Size]byte{}})
}

func set(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	secure := r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https:") // a proxy may end TLS
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: value, Path: "/ui", MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode})
}
