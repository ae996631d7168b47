// Package serving reads the file of "bx serve": backends, routes, clients and limits, in
// TOML. It is strict: an unknown key is an error that points at the place. The file does
// not hold the backends' keys, but says where they are.
package serving

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/price"
)

// File is the whole file. Without a file the zero File is in force.
type File struct {
	Listen     string             `toml:"listen"`      // "" is 127.0.0.1:4141; "unix:PATH" is a socket
	SocketMode string             `toml:"socket_mode"` // who may reach sockets: "0660"; "" is 0600
	TLS        TLS                `toml:"tls"`
	Probes     Probes             `toml:"probes"`
	UI         UI                 `toml:"ui"`
	Hosts      []string           `toml:"hosts"`   // names under which clients reach it, besides this machine's own
	Origins    []string           `toml:"origins"` // web pages that may ask
	Explain    bool               `toml:"explain"` // headers say what was repaired and lost
	Content    bool               `toml:"content"` // requests and replies are kept, redacted
	Limits     Limits             `toml:"limits"`
	Backends   map[string]Backend `toml:"backends"`
	Routes     []Route            `toml:"routes"`
	Clients    []Client           `toml:"clients"`
	Ledger     Ledger             `toml:"ledger"`
	State      State              `toml:"state"`
	Admin      Admin              `toml:"admin"`
	OIDC       OIDC               `toml:"oidc"`
	Prices     price.List         `toml:"prices"` // override those of bx.toml
	Dialects   config.Dialects    `toml:"dialects"`

	Own config.Own `toml:"-"` // the dialects of the files that Dialects names
}

// TLS names the files of a certificate. Without them bx serve speaks plain HTTP.
type TLS struct {
	Cert string `toml:"cert"` // with the intermediate certificates
	Key  string `toml:"key"`
}

// Probes is the listener that serves /healthz, /readyz and /metrics to everybody.
type Probes struct {
	Listen string `toml:"listen"` // "": the clients' listener
}

// Ledger is where keys, budgets and spending are kept.
type Ledger struct {
	URL    string `toml:"url"`     // "sqlite:PATH" or "postgres://USER@HOST/NAME"; "": nowhere
	URLEnv string `toml:"url_env"` // or the variable that holds it

	beside string `toml:"-"` // the folder of the file that names it
}

// Where returns the address, "" if there is none. The path of an SQLite file is relative
// to the file that names it, so that bx serve and bx keys agree in every folder.
func (l Ledger) Where(env func(string) string) (string, error) {
	at, err := where(l.URL, l.URLEnv, env, ledgerAddress)
	if path, isFile := strings.CutPrefix(at, "sqlite:"); isFile && !filepath.IsAbs(path) {
		at = "sqlite:" + filepath.Join(l.beside, path)
	}
	return at, err
}

func where(url, name string, env func(string) string, check func(string) error) (string, error) {
	if name == "" {
		return url, nil
	}
	if url = env(name); url == "" {
		return "", fmt.Errorf("url_env: the variable %s is not set", name)
	}
	if err := check(url); err != nil {
		return "", fmt.Errorf("url_env: the variable %s: %w", name, err)
	}
	return url, nil
}

func ledgerAddress(url string) error {
	return begins(url, `"sqlite:PATH" or "postgres://USER@HOST/NAME"`, "sqlite:", "postgres://", "postgresql://")
}

func stateAddress(url string) error {
	if url == "memory" || url == "ledger" {
		return nil
	}
	return begins(url, `"memory", "ledger" or "redis://HOST:PORT/NUMBER"`, "redis://", "rediss://")
}

// begins returns an error for an address without one of the prefixes. The error does not
// repeat the address, which may hold a password.
func begins(url, want string, with ...string) error {
	if slices.ContainsFunc(with, func(kind string) bool { return strings.HasPrefix(url, kind) }) {
		return nil
	}
	return errors.New("want " + want)
}

// State is where replicas keep shared data that may be lost.
type State struct {
	URL      string `toml:"url"`      // "memory", "ledger" or "redis://HOST:PORT/NUMBER"; "": with a ledger "ledger", else "memory"
	URLEnv   string `toml:"url_env"`  // or the variable that holds it
	Rates    string `toml:"rates"`    // while it does not answer: open, refuse; "" is open
	Previous string `toml:"previous"` // previous_response_id meanwhile: wait (503), forget (404); "" is wait
}

// Where returns the address, in the form of URL.
func (s State) Where(env func(string) string) (string, error) {
	return where(s.URL, s.URLEnv, env, stateAddress)
}

func (f *File) shared() error {
	l, s := f.Ledger, f.State
	switch {
	case l.URL != "" && l.URLEnv != "":
		return fmt.Errorf("[ledger]: %w", within("ledger", 1, errors.New("url: want url or url_env, not both")))
	case s.URL != "" && s.URLEnv != "":
		return fmt.Errorf("[state]: %w", within("state", 1, errors.New("url: want url or url_env, not both")))
	case l.URL != "" && ledgerAddress(l.URL) != nil:
		return fmt.Errorf("[ledger]: %w", within("ledger", 1, fmt.Errorf("url: %w", ledgerAddress(l.URL))))
	case s.URL != "" && stateAddress(s.URL) != nil:
		return fmt.Errorf("[state]: %w", within("state", 1, fmt.Errorf("url: %w", stateAddress(s.URL))))
	case s.URL == "ledger" && l == Ledger{}:
		return fmt.Errorf("[state]: %w", within("state", 1, errors.New("url: there is no [ledger]")))
	case !slices.Contains([]string{"", "open", "refuse"}, s.Rates):
		return fmt.Errorf("[state]: %w", within("state", 1, fmt.Errorf("rates = %q: want open, refuse", s.Rates)))
	case !slices.Contains([]string{"", "wait", "forget"}, s.Previous):
		return fmt.Errorf("[state]: %w", within("state", 1, fmt.Errorf("previous = %q: want wait, forget", s.Previous)))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Prices)) {
		if err := f.Prices[name].Check(); err != nil {
			return fmt.Errorf("[prices.%q]: %w", name, within("prices."+name, 1, err))
		}
	}
	if err := f.OIDC.check(f); err != nil {
		return fmt.Errorf("[oidc]: %w", within("oidc", 1, err))
	}
	return f.Admin.check(f)
}

// Admin is the administration of keys and budgets over HTTP, on a listener of its own.
type Admin struct {
	Listen string `toml:"listen"`     // "": there is none
	Key    string `toml:"key_sha256"` // of the ledger's operator, used for nothing else
}

// Hash is the SHA-256 of the operator's key.
func (a Admin) Hash() ([sha256.Size]byte, error) { return hashOf(a.Key, "bx serve --new-admin-key") }

func (a Admin) check(f *File) error {
	bad := func(err error) error { return fmt.Errorf("[admin]: %w", within("admin", 1, err)) }
	switch {
	case a == Admin{}:
		return nil
	case a.Listen == "":
		return bad(errors.New(`listen is missing: want an address of its own, such as "127.0.0.1:4144"`))
	case f.Ledger == Ledger{}:
		return bad(errors.New("listen: there is no [ledger] to administer"))
	}
	if _, err := a.Hash(); err != nil {
		return bad(err)
	}
	if strings.EqualFold(a.Key, f.UI.Key) {
		return bad(errors.New("key_sha256 is the key of the dashboard: want a key of its own (bx serve --new-admin-key)"))
	}
	for _, c := range f.Clients {
		if strings.EqualFold(c.Key, a.Key) {
			return bad(fmt.Errorf("key_sha256 is the key of the client %s: want a key of its own (bx serve --new-admin-key)", c.Name))
		}
	}
	return nil
}

// UI is the dashboard, on a listener of its own.
type UI struct {
	Listen string `toml:"listen"`     // "": there is none
	Key    string `toml:"key_sha256"` // of the operator, used for nothing else
}

// Hash is the SHA-256 of the operator's key.
func (u UI) Hash() ([sha256.Size]byte, error) { return hashOf(u.Key, "bx serve --new-operator-key") }

func (u UI) check(clients []Client) error {
	switch {
	case u == UI{}:
		return nil
	case u.Listen == "":
		return errors.New(`listen is missing: want an address of its own, such as "127.0.0.1:4142"`)
	}
	if _, err := u.Hash(); err != nil {
		return err
	}
	for _, c := range clients {
		if strings.EqualFold(c.Key, u.Key) {
			return fmt.Errorf("key_sha256 is the key of the client %s: want a key of its own (bx serve --new-operator-key)", c.Name)
		}
	}
	return nil
}

// Mode is SocketMode as a number.
func (f *File) Mode() fs.FileMode {
	mode, err := strconv.ParseUint(cmp.Or(f.SocketMode, "0600"), 8, 9)
	if err != nil {
		return 0o600 // Parse refuses such a file
	}
	return fs.FileMode(mode)
}

// Limits bound what a request may take. Zero is the gateway's own default.
type Limits struct {
	BodyMB      int      `toml:"body_mb"`
	Requests    int      `toml:"requests"` // at once
	Heartbeat   Duration `toml:"heartbeat"`
	Client      Duration `toml:"client"`       // a client that sends or takes nothing for this long is dropped
	SchemaKB    int      `toml:"schema_kb"`    // of a tool
	SchemaKeys  int      `toml:"schema_keys"`  // in the schema of a tool
	SchemaDepth int      `toml:"schema_depth"` // of it
	KeptMB      int      `toml:"kept_mb"`      // for previous_response_id and signatures
	Output      int      `toml:"output"`       // tokens of a reply to a key with a budget that names no limit
	Retries     int      `toml:"retries"`      // second tries a minute; below 0 none
	Drain       Duration `toml:"drain"`        // how long requests may run on after Ctrl-C
}

// Backend is a server.
type Backend struct {
	Provider string   `toml:"provider"` // the API it speaks
	URL      string   `toml:"url"`
	KeyEnv   string   `toml:"key_env"`  // the variable that holds the key
	KeyFile  string   `toml:"key_file"` // or the file
	KeysEnv  []string `toml:"keys_env"` // the variables of several keys, in place of one
	NumCtx   int      `toml:"num_ctx"`  // Ollama: the context window to load models with; 0: by the prompt's size
	First    Duration `toml:"first"`    // to the first byte, including the time to load a model
	Idle     Duration `toml:"idle"`     // between two pieces of a reply
	Retries  int      `toml:"retries"`  // before the client has seen anything; below 0 none
	Breaker  Breaker  `toml:"breaker"`
}

// Breaker says when a model of a backend is paused while there is another to ask.
type Breaker struct {
	Failures int      `toml:"failures"` // in a row; below 0 never
	Pause    Duration `toml:"pause"`    // for how long
}

// Route sends models to backends.
type Route struct {
	Match   []string `toml:"match"`   // names or globs; none is "*"
	To      []string `toml:"to"`      // "BACKEND" or "BACKEND/MODEL"
	Weights []int    `toml:"weights"` // of To
	Choose  string   `toml:"choose"`  // among To: weight, least-busy, latency; "" is weight
	Else    []string `toml:"else"`    // asked when To fails
	Hidden  bool     `toml:"hidden"`  // not in the list of models
	Content bool     `toml:"content"` // requests and replies are kept, redacted
	Again   *bool    `toml:"again"`   // ask once more for a broken call; default true
	Policy
}

// Policy says how tools are offered and calls are read.
type Policy struct {
	Format    string `toml:"tool_format"`  // a word of bx.toml's tool_format, or a dialect; in place of Tools and Grammar
	Tools     string `toml:"tools"`        // auto, native, prompted, none
	Grammar   string `toml:"grammar"`      // for tools in the prompt
	Repair    string `toml:"repair"`       // safe, off, aggressive
	Shown     string `toml:"shown"`        // text, run: calls that a reply only shows
	Repeated  string `toml:"repeated"`     // text, run: calls that a tool or a user wrote
	Unknown   string `toml:"unknown_tool"` // text, call
	DropEmpty bool   `toml:"drop_empty"`   // leave out optional arguments that are empty texts
}

// Client is an API key and its limits.
type Client struct {
	Name     string `toml:"name"`
	Key      string `toml:"key_sha256"`
	Requests int    `toml:"requests"` // a minute
	Tokens   int    `toml:"tokens"`   // a minute
	Parallel int    `toml:"parallel"` // requests at once
	Metrics  bool   `toml:"metrics"`  // for /metrics alone
	Steady   bool   `toml:"steady"`   // with learned forms: no experiments
	Trusted  bool   `toml:"trusted"`  // with learned forms: its replies count in full
	Content  bool   `toml:"content"`  // its requests and replies are kept, redacted
}

// Duration is a time.Duration written as "90s" or "10m".
type Duration time.Duration

// UnmarshalText reads a time as time.ParseDuration does.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil || v < 0 {
		return errors.New(`want a time such as "90s" or "10m"`)
	}
	*d = Duration(v)
	return nil
}

// Load reads a file. Its errors are of type *config.Error. The file may also use the
// dialects in known; try tests the dialects that it brings itself.
func Load(name string, known config.Own, try config.Try) (*File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		cause := err
		var path *fs.PathError
		if errors.As(err, &path) {
			cause = path.Err
		}
		return nil, &config.Error{File: name, Message: "cannot be read: " + cause.Error(), Err: err}
	}
	return Parse(name, text, known, try)
}

// Parse reads the text of a file, as Load does.
func Parse(name string, text []byte, known config.Own, try config.Try) (*File, error) {
	f := new(File)
	dec := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := dec.Decode(f); err != nil {
		return nil, located(name, err)
	}
	if f.Ledger != (Ledger{}) {
		f.Ledger.beside = filepath.Dir(name)
	}
	var err error
	if f.Own, err = config.LoadOwn(name, f.Dialects, try); err != nil {
		return nil, placed(name, text, fmt.Errorf("[dialects]: %w", within("dialects", 1, fmt.Errorf("files: %w", err))))
	}
	if err := f.check(append(slices.Clone(f.Own), known...)); err != nil {
		return nil, placed(name, text, err)
	}
	return f, nil
}

// misplaced is an error in a table of the file.
type misplaced struct {
	table string // "" is the top
	nth   int    // which table of that name, from 1; 0 for the top
	err   error
}

func (m *misplaced) Error() string { return m.err.Error() }
func (m *misplaced) Unwrap() error { return m.err }

// within returns err with the table that it is in.
func within(table string, nth int, err error) error {
	if err == nil {
		return nil
	}
	return &misplaced{table, nth, err}
}

// firstWord matches the key that an error is about.
var firstWord = regexp.MustCompile(`^\w+`)

// placed returns err with the place of the key that it is about, or else of its table.
func placed(name string, text []byte, err error) *config.Error {
	out := &config.Error{File: name, Message: err.Error(), Err: err}
	var m *misplaced
	if !errors.As(err, &m) {
		return out
	}
	key := firstWord.FindString(m.err.Error())
	out.Line, out.Column, out.Excerpt = config.Find(text, m.table, m.nth, key)
	if out.Excerpt = utp.Redact(out.Excerpt); strings.HasPrefix(key, "key") { // the line may hold a key
		out.Excerpt = ""
	}
	return out
}

// located converts errors of go-toml to *config.Error.
func located(name string, err error) error {
	out := &config.Error{File: name, Message: err.Error(), Err: err}
	var strict *toml.StrictMissingError
	var bad *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		bad = &strict.Errors[0]
		out.Message = fmt.Sprintf("unknown key %q", strings.Join(bad.Key(), "."))
	case errors.As(err, &bad):
		out.Message = inWords(bad)
	default:
		return out
	}
	out.Line, out.Column = bad.Position()
	out.Excerpt = utp.Redact(bad.String())
	return out
}

// wrongType matches go-toml's error for a value of the wrong type.
var wrongType = regexp.MustCompile(`cannot decode TOML (\w+) into (?:struct field \S+|a Go value) of type (\S+)`)

// wanted names the types of the file's keys for people.
var wanted = map[string]string{
	"string": "a text in quotes", "int": "a whole number", "bool": "true or false", "*bool": "true or false",
	"[]string": `a list of texts, such as ["a", "b"]`, "[]int": "a list of whole numbers", "serving.Duration": `a time such as "90s" or "10m"`,
}

// inWords returns what is wrong with a value, without the names of Go's types.
func inWords(bad *toml.DecodeError) string {
	text, key := strings.TrimPrefix(bad.Error(), "toml: "), strings.Join(bad.Key(), ".")
	m := wrongType.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	want := cmp.Or(wanted[m[2]], "a table")
	if key == "" {
		return fmt.Sprintf("want %s, not %s %s", want, article(m[1]), m[1])
	}
	return fmt.Sprintf("%s: want %s, not %s %s", key, want, article(m[1]), m[1])
}

func article(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") {
		return "an"
	}
	return "a"
}

func (f *File) check(known config.Own) error {
	if _, err := strconv.ParseUint(cmp.Or(f.SocketMode, "0600"), 8, 9); err != nil {
		return within("", 0, fmt.Errorf("socket_mode = %q: want three or four octal digits, such as \"0660\"", f.SocketMode))
	}
	if (f.TLS.Cert == "") != (f.TLS.Key == "") {
		return fmt.Errorf("[tls]: %w", within("tls", 1, errors.New("want both cert and key")))
	}
	if err := f.Limits.check(); err != nil {
		return fmt.Errorf("[limits]: %w", within("limits", 1, err))
	}
	for _, name := range f.Names() {
		if err := f.Backends[name].check(); err != nil {
			return fmt.Errorf("[backends.%s]: %w", name, within("backends."+name, 1, err))
		}
		if strings.Contains(name, "/") {
			return fmt.Errorf("[backends.%q]: %w", name, within("backends."+name, 1, errors.New("want a name without a slash")))
		}
	}
	if err := f.UI.check(f.Clients); err != nil {
		return fmt.Errorf("[ui]: %w", within("ui", 1, err))
	}
	if err := f.shared(); err != nil {
		return err
	}
	for i, r := range f.Routes {
		if err := f.route(r, known); err != nil {
			return fmt.Errorf("[[routes]] %d: %w", i+1, within("routes", i+1, err))
		}
	}
	return f.clients()
}

func (l Limits) check() error {
	if err := times(map[string]Duration{"heartbeat": l.Heartbeat, "client": l.Client, "drain": l.Drain}); err != nil {
		return err
	}
	return positive(map[string]int{"body_mb": l.BodyMB, "output": l.Output, "requests": l.Requests, "kept_mb": l.KeptMB,
		"schema_kb": l.SchemaKB, "schema_keys": l.SchemaKeys, "schema_depth": l.SchemaDepth})
}

// times returns an error for numbers without a unit, which go-toml reads as nanoseconds.
func times(of map[string]Duration) error {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if d := time.Duration(of[key]); d < 0 || d > 0 && d < time.Microsecond {
			return fmt.Errorf(`%s = %d: want a time such as "90s" or "10m"`, key, d)
		}
	}
	return nil
}

// positive returns an error for numbers below 0.
func positive(numbers map[string]int) error {
	for _, key := range slices.Sorted(maps.Keys(numbers)) {
		if numbers[key] < 0 {
			return fmt.Errorf("%s = %d: want 0 or more", key, numbers[key])
		}
	}
	return nil
}

// Names returns the names of the backends, in order.
func (f *File) Names() []string {
	var names []string
	for name := range f.Backends {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (b Backend) check() error {
	switch {
	case b.Provider == "":
		return errors.New("provider is missing")
	case b.URL == "":
		return errors.New(`url is missing: want "http://HOST:PORT" or "https://HOST/v1"`)
	case b.KeyEnv != "" && b.KeyFile != "":
		return errors.New("want key_env or key_file, not both")
	case len(b.KeysEnv) > 0 && (b.KeyEnv != "" || b.KeyFile != ""):
		return errors.New("keys_env stands in place of key_env and key_file: want one of them")
	}
	for i, name := range b.KeysEnv {
		if name == "" || slices.Contains(b.KeysEnv[:i], name) {
			return fmt.Errorf("keys_env: %q: want each variable once", name)
		}
	}
	if err := times(map[string]Duration{"first": b.First, "idle": b.Idle}); err != nil {
		return err
	}
	return positive(map[string]int{"num_ctx": b.NumCtx})
}

func (f *File) route(r Route, known config.Own) error {
	if len(r.To) == 0 {
		return errors.New(`to is missing: want ["BACKEND/MODEL"]`)
	}
	for _, w := range r.Weights {
		if w < 0 {
			return fmt.Errorf("weights holds %d: want 0 or more", w)
		}
	}
	if len(r.Weights) > 0 && len(r.Weights) != len(r.To) {
		return fmt.Errorf("weights has %d numbers for %d targets", len(r.Weights), len(r.To))
	}
	switch {
	case r.Choose != "" && !slices.Contains([]string{"weight", "least-busy", "latency"}, r.Choose):
		return fmt.Errorf("choose = %q: want weight, least-busy, latency", r.Choose)
	case r.Choose != "" && len(r.To) == 1:
		return fmt.Errorf("choose = %q: there is one target in to, and nothing to choose from (else is asked in its order)", r.Choose)
	}
	for _, t := range slices.Concat(r.To, r.Else) {
		name, _, _ := strings.Cut(t, "/")
		if _, known := f.Backends[name]; !known {
			return fmt.Errorf("%q: there is no [backends.%s]: want one of %s", t, name, strings.Join(f.Names(), ", "))
		}
	}
	return r.Policy.check(known)
}

func (p Policy) check(known config.Own) error {
	for _, k := range []struct {
		key, value string
		want       []string
	}{
		{"tools", p.Tools, []string{"auto", "native", "prompted", "none"}},
		{"repair", p.Repair, []string{"safe", "off", "aggressive"}},
		{"shown", p.Shown, []string{"text", "run"}},
		{"repeated", p.Repeated, []string{"text", "run"}},
		{"unknown_tool", p.Unknown, []string{"text", "call"}},
	} {
		if k.value != "" && !slices.Contains(k.want, k.value) {
			return fmt.Errorf("%s = %q: want %s", k.key, k.value, strings.Join(k.want, ", "))
		}
	}
	if p.Format != "" && (p.Tools != "" || p.Grammar != "") {
		return errors.New("tool_format says what tools and grammar say: want one of them")
	}
	if p.Format != "" && !slices.Contains(format.ToolWords(), p.Format) && !known.Has(p.Format) {
		return fmt.Errorf("tool_format = %q: want %s, or a dialect: bx grammar list names them", p.Format, strings.Join(format.ToolWords(), ", "))
	}
	if p.Grammar != "" && !known.Has(p.Grammar) {
		return fmt.Errorf("grammar = %q: no dialect is called so: bx grammar list names them, and [dialects] files adds your own", p.Grammar)
	}
	return nil
}

func (f *File) clients() error {
	seen := map[string]bool{}
	for i, c := range f.Clients {
		if c.Name == "" || seen[c.Name] {
			return fmt.Errorf("[[clients]] %d: %w", i+1, within("clients", i+1, fmt.Errorf("want a name of its own, not %q", c.Name)))
		}
		seen[c.Name] = true
		_, err := c.Hash()
		if err == nil {
			err = positive(map[string]int{"requests": c.Requests, "tokens": c.Tokens, "parallel": c.Parallel})
		}
		if err != nil {
			return fmt.Errorf("[[clients]] %s: %w", c.Name, within("clients", i+1, err))
		}
	}
	return nil
}
