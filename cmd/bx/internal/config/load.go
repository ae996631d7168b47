package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/unifiedtoolprotocol/utp/search"
)

// Places says where files are looked for.
type Places struct {
	User string // directory of the user's own files; "" is none
	Repo string // directory of the repository's files; "" is none
	File string // of --config; it must exist
	Try  Try    // asked of each dialect of the user's own
}

// names of the files in a directory, in the order of their layers.
var names = []string{"llmc.toml", "bx.toml"}

// Load reads all files. Its errors are of type *Error, or of package os when a
// file cannot be read.
func Load(p Places) (*Config, error) {
	c := Defaults()
	for _, f := range p.files() {
		if err := c.read(f); err != nil {
			return nil, err
		}
	}
	c.distrustChoices()
	for _, check := range []func() error{c.checkProfile, c.checkHabits, c.checkTeams, c.checkServers} {
		if err := check(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// source is a file and what it may do.
type source struct {
	path     string
	trusted  bool // else it came with the repository
	optional bool
	try      Try
}

func (p Places) files() (out []source) {
	add := func(dir string, trusted bool) {
		if dir == "" {
			return
		}
		for _, name := range names {
			if path := filepath.Join(dir, name); !same(path, p.File) {
				out = append(out, source{path, trusted, true, p.Try})
			}
		}
	}
	add(p.User, true)
	if !same(p.Repo, p.User) {
		add(p.Repo, false)
	}
	if p.File != "" {
		out = append(out, source{p.File, true, false, p.Try})
	}
	return out
}

// same reports whether two paths are one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (c *Config) read(f source) error {
	text, err := f.text()
	if f.optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil && !f.trusted {
		c.warn("%s is not read: %v", short(f.path), err)
		return nil
	}
	if err != nil {
		return &Error{File: short(f.path), Message: err.Error(), Err: err}
	}
	c.Files = append(c.Files, f.path)
	d := c.withoutNamesakes(document{short(f.path), f.path, text, f.try})
	c.noteLLMC(d)
	if !f.trusted {
		c.tolerate(d)
		return nil
	}
	return c.apply(d, nil)
}

func (c *Config) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// maxFile is the size in bytes above which a file is no configuration.
const maxFile = 1 << 20

// text reads the file. One that came with the repository must be a regular file
// inside of it: what a link, a pipe or a device of its leads to is not read.
func (f source) text() ([]byte, error) {
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("it has more than 1 MB")
	}
	return text, err
}

func (f source) open() (*os.File, error) {
	if f.trusted {
		return os.Open(f.path)
	}
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, _, err := search.Open(root, filepath.Base(f.path))
	var bare *fs.PathError
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return file, err
	case errors.Is(err, search.ErrNotRegular):
		return nil, search.ErrNotRegular
	case errors.As(err, &bare):
		return nil, bare.Err
	}
	return nil, err
}

// short is the path as people write it: relative where that is shorter.
func short(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, abs); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return abs
}

// apply lays a document over c. limits hold one that came with the repository to
// what it may do; nil: it may do all.
func (c *Config) apply(d document, limits *limits) error {
	rules := c.Rules
	c.Rules = nil
	shared := filepath.Base(d.name) == "llmc.toml"
	if err := c.decode(d, shared); err != nil {
		return err
	}
	if err := c.takeDialects(d, limits); err != nil {
		return err
	}
	for _, k := range keysOf(d.text) {
		if err := misspelt(d, k, shared); err != nil {
			return err
		}
		if shared && !ours(k.path[0]) {
			c.ignore(d.name, k.path[0])
			continue
		}
		if shared && llmcs(k.path) {
			continue
		}
		if err := c.checkValue(d, k); err != nil {
			return err
		}
		if err := limits.check(c, d, k); err != nil {
			return err
		}
		c.note(d, k, limits == nil)
	}
	return c.takeRules(d, rules, limits == nil)
}

// note keeps what later steps ask about a key.
func (c *Config) note(d document, k key, trusted bool) {
	switch k.String() {
	case "agent.profile":
		c.chosen = choice{d.at(k.offset, k.len, ""), trusted}
	case "agent.provider":
		c.provided = choice{d.at(k.offset, k.len, ""), trusted}
	case "openai.url":
		c.repoURL = !trusted
	}
	if !trusted && len(k.path) > 1 && k.path[0] == "profiles" && !slices.Contains(c.theirs, k.path[1]) {
		c.theirs = append(c.theirs, k.path[1])
	}
	if !trusted && len(k.path) > 1 && k.path[0] == "mcp_servers" && !slices.Contains(c.theirServers, k.path[1]) {
		c.theirServers = append(c.theirServers, k.path[1])
	}
}

// ours reports whether a table of llmc.toml belongs to bx.
func ours(table string) bool {
	t, rest := typeAt([]string{table})
	return rest == nil && t != nil
}

func (c *Config) ignore(file, table string) {
	if s := file + ": [" + table + "]"; !slices.Contains(c.Ignored, s) {
		c.Ignored = append(c.Ignored, s)
	}
}

func (c *Config) decode(d document, shared bool) error {
	err := toml.NewDecoder(bytes.NewReader(d.text)).DisallowUnknownFields().Decode(c)
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) {
		return unknown(d, missing, shared)
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		return undecoded(d, bad)
	}
	if err != nil {
		return &Error{File: d.name, Message: err.Error(), Err: err}
	}
	return nil
}

// undecoded tells a value of the wrong type from text that is no TOML.
func undecoded(d document, bad *toml.DecodeError) error {
	e := d.on(0, 0, 1, "%s", strings.TrimPrefix(bad.Error(), "toml: "))
	e.Line, e.Column = bad.Position()
	e.Excerpt = caret(d.text, e.Line, e.Column, 1)
	for _, k := range keysOf(d.text) {
		if t, rest := typeAt(k.path); k.value.len > 0 && rest == nil && slices.Equal(k.path, bad.Key()) {
			what := e.Message
			if strings.HasPrefix(what, "cannot decode") {
				what = "want " + wanted(t)
			}
			e = d.at(k.value.offset, k.value.len, "%s: %s", k, what)
		}
	}
	e.Err = bad
	return e
}

// misspelt refuses a key in capitals, which the reader of TOML takes for the one
// that it looks like.
func misspelt(d document, k key, shared bool) error {
	t, rest := typeAt(k.path)
	if len(rest) == 0 || t.Kind() != reflect.Struct || shared && llmcs(k.path) {
		return nil
	}
	for _, name := range namesOf(t) {
		if strings.EqualFold(name, rest[0]) {
			return d.at(k.offset, k.len, "unknown key %q: want %s", rest[0], name)
		}
	}
	return nil
}

// unknown makes an error of the first key that bx should know and does not.
func unknown(d document, missing *toml.StrictMissingError, shared bool) error {
	for i := range missing.Errors {
		m := &missing.Errors[i]
		path := m.Key()
		if shared && (!ours(path[0]) || llmcs(path)) {
			continue
		}
		line, column := m.Position()
		t, rest := typeAt(path)
		table := strings.Join(path[:len(path)-len(rest)], ".")
		where := "in [" + table + "]"
		if table == "" {
			where = "at the top"
		}
		if len(rest) == 0 {
			rest = path[len(path)-1:]
		}
		e := d.on(line, column, len(rest[0]), "unknown key %q %s: want %s", rest[0], where, either(namesOf(t)))
		e.Err = missing
		return e
	}
	return nil
}
