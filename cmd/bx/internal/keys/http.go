package keys

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// maxBody bounds a request for administration.
const maxBody = 1 << 20

// Handler administers over HTTP, for whoever has the key of this hash. It is for a
// listener of its own.
func (d *Desk) Handler(hash fleet.Hash) http.Handler {
	mux := http.NewServeMux()
	on := func(pattern string, do func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := do(r)
			answer(w, v, err)
		})
	}
	on("GET /v1/keys", func(r *http.Request) (any, error) { return d.Books.Keys(r.Context()) })
	on("POST /v1/keys", d.create)
	on("GET /v1/keys/{name}", d.show)
	on("PATCH /v1/keys/{name}", func(r *http.Request) (any, error) {
		var c Change
		if err := read(r, &c); err != nil {
			return nil, err
		}
		return d.Set(r.Context(), r.PathValue("name"), c)
	})
	on("POST /v1/keys/{name}/rotate", d.rotate)
	on("DELETE /v1/keys/{name}", func(r *http.Request) (any, error) {
		return struct{}{}, d.Delete(r.Context(), r.PathValue("name"), r.URL.Query().Get("purge") == "true")
	})
	on("GET /v1/teams", func(r *http.Request) (any, error) { return d.Books.Teams(r.Context()) })
	on("POST /v1/teams", func(r *http.Request) (any, error) {
		var c struct {
			Name string `json:"name"`
			Change
		}
		if err := read(r, &c); err != nil {
			return nil, err
		}
		return d.CreateTeam(r.Context(), c.Name, c.Change)
	})
	on("PATCH /v1/teams/{name}", func(r *http.Request) (any, error) {
		var c Change
		if err := read(r, &c); err != nil {
			return nil, err
		}
		return d.SetTeam(r.Context(), r.PathValue("name"), c)
	})
	on("DELETE /v1/teams/{name}", func(r *http.Request) (any, error) {
		return struct{}{}, d.DeleteTeam(r.Context(), r.PathValue("name"))
	})
	mux.HandleFunc("GET /v1/usage", d.usage)
	mux.HandleFunc("GET /v1/audit", d.audit)
	return guarded(mux, hash)
}

// guarded lets in whoever has the key, and no page of a browser.
func guarded(h http.Handler, hash fleet.Hash) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		sum := sha256.Sum256([]byte(key))
		if !strings.EqualFold(kind, "bearer") || subtle.ConstantTimeCompare(sum[:], hash[:]) != 1 || r.Header.Get("Origin") != "" {
			fail(w, http.StatusUnauthorized, "want the key of the ledger's operator, as a bearer token")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		h.ServeHTTP(w, r)
	})
}

// bad is a request that cannot be understood.
type bad struct{ error }

func (b *bad) Unwrap() error { return b.error }

func read(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return &bad{err}
	}
	return nil
}

func answer(w http.ResponseWriter, v any, err error) {
	var input *bad
	var name *NameError
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
	case errors.Is(err, fleet.ErrUnknown), errors.As(err, &name) && name.Unknown:
		fail(w, http.StatusNotFound, err.Error())
	case errors.As(err, &input), name != nil:
		fail(w, http.StatusBadRequest, err.Error())
	default:
		fail(w, http.StatusInternalServerError, err.Error())
	}
}

func fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
}

// made is a key with its text, which is told this once.
type made struct {
	fleet.Key
	Secret string `json:"secret"`
}

func (d *Desk) create(r *http.Request) (any, error) {
	var c struct {
		Name string `json:"name"`
		Change
	}
	if err := read(r, &c); err != nil {
		return nil, err
	}
	k, secret, err := d.Create(r.Context(), c.Name, c.Change)
	return made{k, secret}, err
}

func (d *Desk) rotate(r *http.Request) (any, error) {
	var c struct {
		Grace string `json:"grace"`
	}
	if err := read(r, &c); err != nil {
		return nil, err
	}
	grace, err := time.ParseDuration(c.Grace)
	if err != nil && c.Grace != "" {
		return nil, &bad{err}
	}
	secret, err := d.Rotate(r.Context(), r.PathValue("name"), grace)
	return map[string]string{"secret": secret}, err
}

// Window is what a key or its team has used of a time.
type Window struct {
	Of   string `json:"of"` // "key", "team"
	Name string `json:"name"`
	fleet.Spent
}

func (d *Desk) show(r *http.Request) (any, error) {
	k, err := d.Key(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	now, err := d.Books.Windows(r.Context(), k, d.Now())
	if err != nil {
		return nil, err
	}
	out := struct {
		*fleet.Key
		Windows []Window `json:"windows"`
	}{Key: k}
	for _, w := range now {
		out.Windows = append(out.Windows, Window{w.Subject.Kind, w.Subject.Name, w})
	}
	return out, nil
}

// usage writes a line of JSON an entry.
func (d *Desk) usage(w http.ResponseWriter, r *http.Request) {
	var q fleet.Query
	of := r.URL.Query()
	for name, to := range map[string]*time.Time{"since": &q.Since, "before": &q.Before} {
		if text := of.Get(name); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				fail(w, http.StatusBadRequest, name+": want a time such as 2026-11-23T00:00:00Z")
				return
			}
			*to = at
		}
	}
	if name := of.Get("key"); name != "" {
		q.KeyID = name
		if k, err := d.Key(r.Context(), name); err == nil { // a deleted key is known by its id alone
			q.KeyID = k.ID
		}
	}
	for _, e := range of["ending"] {
		q.Endings = append(q.Endings, fleet.Ending(e))
	}
	lines(w, func(each func(any) error) error {
		return d.Books.Entries(r.Context(), q, func(e fleet.Entry) error { return each(e) })
	})
}

func (d *Desk) audit(w http.ResponseWriter, r *http.Request) {
	lines(w, func(each func(any) error) error {
		return d.Books.Audit(r.Context(), func(a fleet.Act) error { return each(a) })
	})
}

// lines writes values as they come. One that breaks off ends the connection, so that
// nobody takes it for whole.
func lines(w http.ResponseWriter, all func(each func(any) error) error) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := json.NewEncoder(w)
	if err := all(func(v any) error { return out.Encode(v) }); err != nil {
		panic(http.ErrAbortHandler)
	}
}
