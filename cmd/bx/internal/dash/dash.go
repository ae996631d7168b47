// Package dash is the dashboard: one page, served to the operator alone, that
// shows what the local store knows and reads pasted replies with the parser.
//
// Everything stands below /ui. An operator's key, or a token that is good for
// one use, is posted there and becomes a cookie; nothing else lets anybody in.
package dash

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"sync"
	"time"
)

//go:embed page
var page embed.FS

// Config says who may look, and at what.
type Config struct {
	Hosts  []string          // names by which it is reached, beside this machine's own and addresses; "*" is none
	Key    [sha256.Size]byte // SHA-256 of the operator's key; zero: there is none, and only links let in
	Reader Reader            // reads pasted replies
	Source Source            // nil: there is no store
	Absent string            // why there is no store, and what to do about it
	Used   func()            // is told that a link was used; nil: nobody is
	Now    func() time.Time
}

// Dash serves the page. It is safe for concurrent use.
type Dash struct {
	c        Config
	routes   map[string]route
	sessions sessions
	reads    chan struct{} // readings under way
	done     chan struct{} // closed by Close
	once     sync.Once
}

// New makes a dashboard.
func New(c Config) *Dash {
	d := &Dash{c: c, reads: make(chan struct{}, maxReads), done: make(chan struct{})}
	d.routes = map[string]route{
		"/ui/":              {method: http.MethodGet, serve: d.index, open: true, page: true},
		"/ui/style.css":     {method: http.MethodGet, serve: d.file, open: true},
		"/ui/login.js":      {method: http.MethodGet, serve: d.file, open: true},
		"/ui/session":       {method: http.MethodGet, serve: d.session, open: true},
		"/ui/login":         {method: http.MethodPost, serve: d.login, open: true},
		"/ui/logout":        {method: http.MethodPost, serve: d.logout},
		"/ui/read":          {method: http.MethodPost, serve: d.read},
		"/ui/data/overview": {method: http.MethodGet, serve: d.overview},
		"/ui/data/replies":  {method: http.MethodGet, serve: d.replies},
		"/ui/data/reply":    {method: http.MethodGet, serve: d.reply},
		"/ui/live":          {method: http.MethodGet, serve: d.live},
	}
	for _, name := range []string{"app.js", "chart.js", "dom.js", "list.js", "reader.js", "views.js"} {
		d.routes["/ui/"+name] = route{method: http.MethodGet, serve: d.file}
	}
	return d
}

// Close ends the streams of live requests, so that a server can shut down.
func (d *Dash) Close() { d.once.Do(func() { close(d.done) }) }

// route is a path.
type route struct {
	method string
	serve  func(http.ResponseWriter, *http.Request) error
	open   bool // without a session
	page   bool // a browser may be led there from another site
}

// ServeHTTP answers a request.
func (d *Dash) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if err := d.serve(w, r); err != nil {
		refuse(w, err)
	}
}

func (d *Dash) serve(w http.ResponseWriter, r *http.Request) error {
	if err := d.foreign(r); err != nil {
		return err
	}
	if r.URL.Path == "/" || r.URL.Path == "/ui" {
		http.Redirect(w, r, "/ui/", http.StatusFound)
		return nil
	}
	to, known := d.routes[r.URL.Path]
	if err := sameSite(r, to.page); err != nil {
		return err
	}
	switch {
	case !to.open && !d.sessions.has(cookieOf(r), d.c.Now()):
		return denied(http.StatusUnauthorized, "sign in at /ui/ first")
	case !known:
		return denied(http.StatusNotFound, "there is no %s", r.URL.Path)
	case r.Method != to.method:
		w.Header().Set("Allow", to.method)
		return denied(http.StatusMethodNotAllowed, "%s wants %s", r.URL.Path, to.method)
	}
	return to.serve(w, r)
}

// index is the page, or the one to sign in at.
func (d *Dash) index(w http.ResponseWriter, r *http.Request) error {
	if d.sessions.has(cookieOf(r), d.c.Now()) {
		return asset(w, "index.html")
	}
	return asset(w, "login.html")
}

func (d *Dash) file(w http.ResponseWriter, r *http.Request) error {
	return asset(w, path.Base(r.URL.Path))
}

var contentTypes = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

func asset(w http.ResponseWriter, name string) error {
	b, err := page.ReadFile("page/" + name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	_, _ = w.Write(b)
	return nil
}

// refusal is an answer that is none.
type refusal struct {
	status int
	why    string
}

func (r *refusal) Error() string { return r.why }

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var r *refusal
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &r):
		status = r.status
	case errors.As(err, &long):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, context.Canceled):
		return // nobody waits
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}

func answer(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(true) // the text of models stays text, wherever it lands
	_ = enc.Encode(v)
	return nil
}

// body reads the JSON of a request. A page of another site can send none without
// being asked first.
func body(w http.ResponseWriter, r *http.Request, limit int64, to any) error {
	if r.Header.Get("Content-Type") != "application/json" {
		return denied(http.StatusUnsupportedMediaType, "want Content-Type: application/json")
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return denied(http.StatusBadRequest, "this is no JSON of a request: %v", err)
	}
	return nil
}
