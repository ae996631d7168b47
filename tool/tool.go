// Package tool holds the built-in tools: search_code, read_file, list_dir,
// inspect_code, edit_block and write_file. They work on the files below one
// directory and on nothing else, whatever a path or a link says.
//
// A result is text for a model: a tool envelope of a search and of what is cut,
// plain text of the other tools that read, a JSON object of those that write. A
// cut result has a handle, by which read_result reads the rest. A failure is
// {"error": text} with the status utp.StatusFailed; what a rule forbids is text with
// the status utp.StatusDenied. Who may run which tool is not decided here (see
// agent.Gate).
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/search/index"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
	"github.com/unifiedtoolprotocol/utp/undo"
)

// DefaultMaxResult is the size of a result in bytes if Config does not say.
const DefaultMaxResult = 16000

// Config says where the tools work.
type Config struct {
	Root      string                     // the directory that the tools may touch; "" is the current one
	IndexDir  string                     // where the search index is kept, outside of Root; "" does without an index
	UndoDir   string                     // where what files held before is kept, outside of Root; "": nowhere
	Results   *handle.Store              // where results that are cut are kept; nil: in memory
	Shell     *Shell                     // how commands are run; nil: there is no shell
	Plain     bool                       // search_code answers in plain JSON, without the tool envelope
	MaxResult int                        // bytes of one result; 0 is DefaultMaxResult
	Images    func(context.Context) bool // whether the model takes images; nil: read_file knows none
	Path      string                     // the directories in which programs are found, as PATH lists them
	// Te runs a command of te that reads; nil: there is no tool te.
	Te func(context.Context, Command) (string, error)
	// Progress is told while many files are indexed for a call; nil: nobody is.
	Progress func(ctx context.Context, done, of int)
}

// offers reports whether the configuration has a tool.
func (c Config) offers(name string) bool {
	switch name {
	case ShellName:
		return c.Shell != nil
	case runTe.Name:
		return c.Te != nil
	}
	return true
}

// Set is the built-in tools over one directory. It is safe for concurrent use.
type Set struct {
	config Config
	root   *os.Root
	given  string // the root as configured, absolute
	real   string // the root without links

	results *handle.Store

	writing sync.Mutex // held from reading a file to replacing it
	seen    seen

	boxOnce sync.Once
	boxErr  error // why commands have no sandbox

	store    *undo.Store   // nil: nothing is kept
	storeErr error         // why there is none
	session  func() string // whose turn it is; nil: nobody's
	together bool          // calls are one turn
	turn     *undo.Turn    // that writes; nil: nothing was written yet

	mu       sync.Mutex // guards what follows
	index    *index.Index
	indexErr error // why there is no index
}

// New opens the root. It is cheap: the search index is opened by the first search.
func New(c Config) (*Set, error) {
	c.MaxResult = cmp.Or(c.MaxResult, DefaultMaxResult)
	given, err := filepath.Abs(c.Root)
	if err != nil {
		return nil, fmt.Errorf("tool: root %q: %w", c.Root, err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("tool: root: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("tool: root: %w", err)
	}
	results := c.Results
	if results == nil {
		results = handle.Open("", time.Now)
	}
	s := &Set{config: c, root: root, given: given, real: real, results: results}
	if c.UndoDir != "" {
		s.store, s.storeErr = undo.Open(c.UndoDir, root)
	}
	return s, nil
}

// Close closes the index and the root.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.index != nil {
		err = s.index.Close()
		s.index = nil
	}
	s.indexErr = os.ErrClosed
	s.writing.Lock()
	defer s.writing.Unlock()
	return errors.Join(err, s.endTurn(), s.root.Close())
}

// builtin is a tool and what runs it.
type builtin struct {
	utp.Tool
	run  func(*Set, context.Context, json.RawMessage) (string, error)
	plan func(*Set, context.Context, json.RawMessage) (plan, error) // in the place of run, of a tool that writes files
	// sensitive says why a call runs only after a yes to it; nil: it never does.
	sensitive func(*Set, json.RawMessage) string
	paths     func(json.RawMessage) []string // that a call names; nil: its path, from and to
}

// builtins are in the order of tiers, then of names, but for search_code, which
// is the first to use.
var builtins = []builtin{
	searchCode, glob, grep, readResult,
	readGit, inspectCode, listDir, readFile, runTe,
	applyPatch, deleteFile, editBlock, moveFile, shell, writeFile,
}

// Tools lists the tools by tier, search_code first, then by name.
func (s *Set) Tools() []utp.Tool {
	var out []utp.Tool
	for _, b := range builtins {
		if !s.config.offers(b.Name) {
			continue
		}
		t := b.Tool
		t.Description, t.Schema = strings.TrimSpace(b.Description), slices.Clone(b.Schema)
		out = append(out, t)
	}
	return out
}

// Run runs a call. It never panics: every failure, also a name that is not
// known, is a Result.
func (s *Set) Run(ctx context.Context, c utp.Call) (r utp.Result) {
	defer func() {
		if p := recover(); p != nil {
			r = failed(c, fmt.Errorf("tool '%s' panicked: %v", c.Name, p))
		}
	}()
	b, ok := byName(c.Name)
	if !ok || !s.config.offers(c.Name) {
		return failed(c, fail("Tool '%s' does not exist. Available: %s", c.Name, strings.Join(s.names(), ", ")))
	}
	if b.Name == readFile.Name {
		if r, ok := s.image(ctx, c); ok {
			return r
		}
	}
	var text string
	var err error
	if b.plan != nil {
		text, err = s.write(ctx, b, c.Args)
	} else {
		text, err = b.run(s, ctx, c.Args)
	}
	if err != nil {
		return failed(c, err)
	}
	return utp.TextResult(c, utp.StatusOK, s.capped(c.Name, text))
}

func byName(name string) (builtin, bool) {
	i := slices.IndexFunc(builtins, func(b builtin) bool { return b.Name == name })
	if i < 0 {
		return builtin{}, false
	}
	return builtins[i], true
}

func (s *Set) names() (out []string) {
	for _, t := range s.Tools() {
		out = append(out, t.Name)
	}
	return out
}

// failure is an error worded for a model.
type failure string

func (f failure) Error() string { return string(f) }

func fail(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

// denied is a call that a rule forbids.
type denied string

func (d denied) Error() string { return string(d) }

func failed(c utp.Call, err error) utp.Result {
	var no denied
	if errors.As(err, &no) {
		return utp.TextResult(c, utp.StatusDenied, no.Error())
	}
	return utp.TextResult(c, utp.StatusFailed, object(struct {
		Error string `json:"error"`
	}{err.Error()}))
}

// object is a value as compact JSON, in which "<" stays "<".
func object(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a struct of strings and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// with reads the arguments of a call into an A for f.
func with[A any](f func(*Set, context.Context, A) (string, error)) func(*Set, context.Context, json.RawMessage) (string, error) {
	return func(s *Set, ctx context.Context, args json.RawMessage) (string, error) {
		a, err := arguments[A](args)
		if err != nil {
			return "", err
		}
		return f(s, ctx, a)
	}
}

// arguments reads the arguments of a call; none are an empty object.
func arguments[A any](args json.RawMessage) (a A, err error) {
	if len(args) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return a, badArguments(err)
	}
	return a, nil
}

func badArguments(err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		if t.Field == "" {
			return fail("the arguments are a JSON %s: want an object", t.Value)
		}
		return fail("argument '%s' is a %s: want %s", t.Field, t.Value, t.Type)
	}
	return fmt.Errorf("the arguments are no JSON object: %w", err)
}

func missing(argument string) error { return fail("missing argument '%s'", argument) }

// Capped is a result of another tool as those of these are: what is too long goes
// out as an excerpt, and read_result reads the rest.
func (s *Set) Capped(name, text string) string { return s.capped(name, text) }

// capped is the last guard of the size of a result: what is longer goes out as
// an excerpt with a handle. Tools that can say how to get the rest cut before.
func (s *Set) capped(name, text string) string {
	if len(text) <= s.config.MaxResult {
		return text
	}
	if !s.config.Plain {
		return te.Excerpt(te.Meta{Cmd: name, Handle: s.keep(name, text)}, text, nil, s.config.MaxResult)
	}
	kept := cutText(text, s.config.MaxResult)
	return fmt.Sprintf("%s\n[...truncated, %d of %d bytes left out...]", kept, len(text)-len(kept), len(text))
}

// cutText is at most n bytes of s, to the end of a line if one is near, else of a letter.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	kept := strings.ToValidUTF8(s[:max(n, 0)], "")
	if i := strings.LastIndexByte(kept, '\n'); i > len(kept)/2 {
		kept = kept[:i]
	}
	return kept
}
