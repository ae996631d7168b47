package keys

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20

// Handler returns the administration over HTTP, for requests with the key of this hash.
// It is for a listener of its own.
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
		of, purge := r.URL.Query(), false
		if err := only(of, "purge"); err != nil {
			return nil, err
		}
		if text := of.Get("purge"); text != "" {
			var err error
			if purge, err = strconv.ParseBool(text); err != nil {
				return nil, &InputError{fmt.Errorf("purge=%s: want true or false", text)}
			}
		}
		return struct{}{}, d.Delete(r.Context(), r.PathValue("name"), purge)
	})
	on("GET /v1/teams", func(r *http.Request) (any, error) { return d.Books.Teams(r.Context()) })
	on("POST /v1/teams", func(r *http.Request) (any, error) {
		var c struct {
			Name string `json:"name"`
			shared
		}
		if err := read(r, &c); err != nil {
			return nil, err
		}
		return d.CreateTeam(r.Context(), c.Name, c.change())
	})
	on("GET /v1/teams/{name}", d.showTeam)
	on("PATCH /v1/teams/{name}", func(r *http.Request) (any, error) {
		var c shared
		if err := read(r, &c); err != nil {
			return nil, err
		}
		return d.SetTeam(r.Context(), r.PathValue("name"), c.change())
	})
	on("DELETE /v1/teams/{name}", func(r *http.Request) (any, error) {
		return struct{}{}, d.DeleteTeam(r.Context(), r.PathValue("name"))
	})
	mux.HandleFunc("GET /v1/usage", d.usage)
	mux.HandleFunc("GET /v1/audit", d.audit)
	return d.logged(guarded(mux, hash))
}

// logged logs a line for each request, without its content.
func (d *Desk) logged(h http.Handler) http.Handler {
	if d.Log == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, level := &answered{ResponseWriter: w, status: http.StatusOK}, slog.LevelInfo
		defer func() {
			if own.status >= http.StatusBadRequest {
				level = slog.LevelWarn
			}
			d.Log.Log(r.Context(), level, "administration", "method", r.Method, "path", utp.Redact(r.URL.Path), "status", own.status, "from", r.RemoteAddr)
		}()
		h.ServeHTTP(own, r)
	})
}

// answered is a ResponseWriter that records the status.
type answered struct {
	http.ResponseWriter
	status int
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// shared is what can be set for a team.
type shared struct {
	Models   *[]string    `json:"models"`
	Parallel *int         `json:"parallel"`
	Budget   fleet.Budget `json:"budget"`
}

func (s shared) change() Change {
	return Change{Models: s.Models, Parallel: s.Parallel, Budget: s.Budget}
}

// only returns an error for an unknown parameter, which would otherwise be ignored.
func only(of url.Values, names ...string) error {
	for name := range of {
		if !slices.Contains(names, name) {
			return &InputError{fmt.Errorf("there is no parameter %q: want %s", name, strings.Join(names, ", "))}
		}
	}
	return nil
}

// guarded admits requests with the key, and none from a page in a browser.
func guarded(h *http.ServeMux, hash fleet.Hash) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		sum := sha256.Sum256([]byte(key))
		if !strings.EqualFold(kind, "bearer") || subtle.ConstantTimeCompare(sum[:], hash[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, "want the key of [admin], which bx serve --new-admin-key made, as a bearer token")
			return
		}
		if r.Header.Get("Origin") != "" {
			fail(w, http.StatusForbidden, "pages of a browser may not ask: send no Origin")
			return
		}
		if other, pattern := h.Handler(r); pattern == "" {
			var no nothing
			other.ServeHTTP(&no, r)
			if allow := no.Header().Get("Allow"); allow != "" {
				w.Header().Set("Allow", allow)
				fail(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s takes %s", r.URL.Path, allow))
				return
			}
			fail(w, http.StatusNotFound, "there is nothing at "+r.URL.Path+": want a path below /v1/keys, /v1/teams, /v1/usage or /v1/audit")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		h.ServeHTTP(w, r)
	})
}

// nothing is a ResponseWriter that keeps only the header.
type nothing struct{ header http.Header }

func (n *nothing) Header() http.Header {
	if n.header == nil {
		n.header = http.Header{}
	}
	return n.header
}

func (n *nothing) Write(b []byte) (int, error) { return len(b), nil }

func (n *nothing) WriteHeader(int) {}

// errBody is the error for a body that is no JSON object.
var errBody = errors.New("want one JSON object")

// errEmpty is the error for an empty body.
var errEmpty = &InputError{errBody}

func read(r *http.Request, v any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return errEmpty
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	err = dec.Decode(v)
	if err == nil && dec.Decode(&struct{}{}) != io.EOF {
		err = errBody
	}
	if err == nil {
		err = overlooked(json.NewDecoder(bytes.NewReader(body)), "")
	}
	if err == nil {
		return nil
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var at *time.ParseError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax), errors.As(err, &kind) && kind.Field == "":
		err = errBody
	case kind != nil:
		err = fmt.Errorf("%s: want %s, not a JSON %s", strings.TrimPrefix(strings.TrimPrefix(kind.Field, "Change."), "shared."), wanted(kind.Type), kind.Value)
	case errors.As(err, &at):
		err = fmt.Errorf("expires %q: want a time such as 2027-01-01T00:00:00Z", strings.Trim(at.Value, `"`))
	default:
		err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return &InputError{err}
}

// overlooked returns an error for what encoding/json ignores: null, and a field that
// occurs twice.
func overlooked(dec *json.Decoder, path string) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	switch t {
	case nil:
		return fmt.Errorf("%s: want a value, not null; leave a field out to keep it as it is", strings.TrimPrefix(path, "."))
	case json.Delim('{'):
		seen := map[string]bool{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			at := path + "." + fmt.Sprint(name)
			if own := strings.ToLower(at); seen[own] {
				return fmt.Errorf("%s is there twice", strings.TrimPrefix(at, "."))
			} else {
				seen[own] = true
			}
			if err := overlooked(dec, at); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for dec.More() {
			if err := overlooked(dec, path); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = dec.Token() // the end of it
	return err
}

// wanted returns the name of a field's type for people.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[price.Money]() {
		return `a text such as "5"`
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

func answer(w http.ResponseWriter, v any, err error) {
	var input *InputError
	var large *http.MaxBytesError
	var name *NameError
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
	case errors.As(err, &name) && name.Unknown:
		fail(w, http.StatusNotFound, err.Error())
	case errors.As(err, &large):
		fail(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", large.Limit))
	case name != nil && name.Clash:
		fail(w, http.StatusConflict, err.Error())
	case errors.As(err, &input), name != nil:
		fail(w, http.StatusBadRequest, err.Error())
	default:
		fail(w, http.StatusServiceUnavailable, err.Error())
	}
}

func fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
}

// made is a new key with its text, which is shown only once.
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
	if err := read(r, &c); err != nil && !errors.Is(err, errEmpty) {
		return nil, err
	}
	grace, err := Grace(c.Grace)
	if err != nil {
		return nil, err
	}
	secret, err := d.Rotate(r.Context(), r.PathValue("name"), grace)
	return map[string]string{"secret": secret}, err
}

// Window is what a key or its team has used in a budget's window.
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
	now, err := d.told(r, k)
	return struct {
		*fleet.Key
		Windows []Window `json:"windows"`
	}{k, now}, err
}

func (d *Desk) showTeam(r *http.Request) (any, error) {
	t, err := d.Team(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	now, err := d.told(r, &fleet.Key{Team: t})
	return struct {
		*fleet.Team
		Windows []Window `json:"windows"`
	}{t, now}, err
}

func (d *Desk) told(r *http.Request, of *fleet.Key) (out []Window, err error) {
	all, err := d.Windows(r.Context(), of)
	for _, w := range all {
		out = append(out, Window{w.Subject.Kind, w.Subject.Name, w})
	}
	return out, err
}

// usage writes what was spent.
func (d *Desk) usage(w http.ResponseWriter, r *http.Request) {
	of := r.URL.Query()
	q, by, err := d.asked(r, of)
	if err != nil {
		answer(w, nil, err)
		return
	}
	kind, write := "application/x-ndjson", d.JSON
	if of.Get("format") == "csv" {
		kind, write = "text/csv; charset=utf-8", d.CSV
	}
	stream(w, kind, func(to io.Writer) error { return write(r.Context(), to, q, by) })
}

// asked reads the query for the usage.
func (d *Desk) asked(r *http.Request, of url.Values) (q fleet.Query, by []fleet.By, err error) {
	if err := only(of, "key", "team", "model", "since", "before", "ending", "by", "format"); err != nil {
		return q, nil, err
	}
	if format := of.Get("format"); format != "" && format != "json" && format != "csv" {
		return q, nil, &InputError{fmt.Errorf("format %q: want json or csv", format)}
	}
	if by, err = Bys(strings.Join(of["by"], ",")); err != nil {
		return q, nil, err
	}
	if q, _, err = d.Spender(r.Context(), of.Get("key"), of.Get("team")); err != nil {
		return q, nil, err
	}
	q.Model = of.Get("model")
	if q.Since, q.Before, err = between(of); err != nil {
		return q, nil, err
	}
	for _, e := range of["ending"] {
		if all := []fleet.Ending{fleet.Open, fleet.Settled, fleet.Estimated, fleet.Refused, fleet.Unsettled}; !slices.Contains(all, fleet.Ending(e)) {
			return q, nil, &InputError{fmt.Errorf("ending %q: want one of %s", e, joined(all))}
		}
		q.Endings = append(q.Endings, fleet.Ending(e))
	}
	return q, by, nil
}

// between reads a range of time.
func between(of url.Values) (since, before time.Time, err error) {
	for name, to := range map[string]*time.Time{"since": &since, "before": &before} {
		text := of.Get(name)
		if text == "" {
			continue
		}
		if *to, err = time.Parse(time.RFC3339, text); err != nil {
			*to, err = time.Parse(time.DateOnly, text)
		}
		if err != nil {
			return since, before, &InputError{fmt.Errorf("%s %q: want a time such as 2026-11-23T00:00:00Z, or a date as 2026-11-23", name, text)}
		}
	}
	return since, before, nil
}

func (d *Desk) audit(w http.ResponseWriter, r *http.Request) {
	of := r.URL.Query()
	since, before, err := between(of)
	if err = errors.Join(only(of, "of", "since", "before"), err); err != nil {
		answer(w, nil, err)
		return
	}
	stream(w, "application/x-ndjson", func(to io.Writer) error {
		out := json.NewEncoder(to)
		return d.Audit(r.Context(), of.Get("of"), since, before, func(a fleet.Act) error { return out.Encode(a) })
	})
}

// begun is a Writer that records whether the answer has begun.
type begun struct {
	http.ResponseWriter
	yes bool
}

func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.ResponseWriter.Write(p)
}

// stream writes lines as they come. An error before the first becomes the answer; one
// after it closes the connection, so that nobody takes the answer for complete.
func stream(w http.ResponseWriter, kind string, write func(io.Writer) error) {
	w.Header().Set("Content-Type", kind)
	to := &begun{ResponseWriter: w}
	switch err := write(to); {
	case err != nil && !to.yes:
		answer(w, nil, err)
	case err != nil:
		panic(http.ErrAbortHandler)
	}
}
