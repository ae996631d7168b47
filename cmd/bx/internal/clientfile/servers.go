package clientfile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Entry is a server as a client's file has it. Variables of the environment read
// ${NAME} in it, however the client writes them.
type Entry struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	URL     string
	Headers map[string]string
	Off     bool
	Why     string // why no other program can use it; "": it can
}

// Servers lists the servers of a client's file, by name. Of a file with servers by
// project those of the project count too.
func (c Client) Servers(text []byte, project string) (out []Entry, err error) {
	all, err := c.decode(text)
	if err != nil {
		return nil, err
	}
	found := map[string]any{}
	if projects, ok := all["projects"].(map[string]any); ok && c.Name == "claude" {
		own, _ := projects[project].(map[string]any)
		servers, _ := own[c.form.under].(map[string]any)
		maps.Copy(found, servers)
	}
	servers, _ := all[c.form.under].(map[string]any)
	maps.Copy(found, servers)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		e := Entry{Name: name}
		if err := c.take(found[name], &e); err != nil {
			e.Why = err.Error()
		}
		out = append(out, e)
	}
	return out, nil
}

// table is the object of a server, read with the first thing that is wrong in it.
type table struct {
	of  map[string]any
	err error
}

// take reads a server's object.
func (c Client) take(v any, e *Entry) error {
	of, ok := v.(map[string]any)
	if !ok {
		return errors.New("it is no object")
	}
	t := &table{of: of}
	words := t.texts("command")
	if len(words) > 0 {
		e.Command, e.Args = words[0], append([]string(nil), words[1:]...)
	}
	e.Args = append(e.Args, t.texts("args")...)
	e.Env = t.pairs("env", "environment")
	e.Dir = t.text("cwd")
	e.URL = t.text("httpUrl", "url", "serverUrl")
	e.Headers = t.pairs("headers", "http_headers")
	t.fromEnvironment(e)
	e.Off = of["enabled"] == false || of["disabled"] == true
	switch {
	case t.err != nil:
		return t.err
	case of["type"] == "sse" || c.Name == "gemini" && t.text("url") != "" && t.text("httpUrl") == "":
		return errors.New("it speaks SSE, which streamable HTTP has replaced")
	case e.Command == "" && e.URL == "":
		return errors.New("it has neither a command nor a url")
	case e.URL == "" && ours(e.Args):
		return errors.New("it is bx itself")
	}
	return c.references(e)
}

func ours(args []string) bool { return len(args) > 1 && args[0] == "mcp" && args[1] == "serve" }

// fromEnvironment takes the headers that Codex reads from variables.
func (t *table) fromEnvironment(e *Entry) {
	put := func(name, variable string) {
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[name] = "${" + variable + "}"
	}
	for name, variable := range t.pairs("env_http_headers") {
		put(name, variable)
	}
	if variable := t.text("bearer_token_env_var"); variable != "" {
		put("Authorization", variable)
		e.Headers["Authorization"] = "Bearer " + e.Headers["Authorization"]
	}
}

// text is the first key that is there.
func (t *table) text(names ...string) string {
	for _, name := range names {
		if v, ok := t.of[name]; ok && v != nil {
			s, ok := v.(string)
			if !ok {
				t.err = fmt.Errorf("its %s is no text", name)
			}
			return s
		}
	}
	return ""
}

// texts is a list, or a text in its place.
func (t *table) texts(name string) (out []string) {
	switch v := t.of[name].(type) {
	case nil:
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				t.err = fmt.Errorf("its %s has what is no text", name)
			}
			out = append(out, s)
		}
	default:
		t.err = fmt.Errorf("its %s is no list", name)
	}
	return out
}

// pairs is an object of texts; numbers and truth values stand for their words.
func (t *table) pairs(names ...string) map[string]string {
	for _, name := range names {
		v, ok := t.of[name]
		if !ok || v == nil {
			continue
		}
		of, ok := v.(map[string]any)
		if !ok {
			t.err = fmt.Errorf("its %s is no object", name)
			return nil
		}
		out := map[string]string{}
		for key, value := range of {
			out[key] = fmt.Sprint(value)
		}
		return out
	}
	return nil
}

var (
	dollar   = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?`)
	envRef   = regexp.MustCompile(`\$?\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	otherRef = regexp.MustCompile(`\$\{[^}]*[:.][^-}][^}]*\}|\{file:[^}]*\}`)
)

// references writes the variables of a server in one way.
func (c Client) references(e *Entry) (err error) {
	say := func(s string) string {
		s = strings.NewReplacer("${workspaceFolder}", ".", "${workspaceRoot}", ".", "${userHome}", "${HOME}", "${pathSeparator}", "/", "${/}", "/").Replace(s)
		s = envRef.ReplaceAllString(s, "$${$1}")
		if c.Name == "gemini" {
			s = dollar.ReplaceAllString(s, "$${$1}")
		}
		if ref := otherRef.FindString(s); ref != "" {
			err = fmt.Errorf("it names %s, which only %s knows", ref, c.Title)
		}
		return s
	}
	for _, p := range []*string{&e.Command, &e.URL, &e.Dir} {
		*p = say(*p)
	}
	for i := range e.Args {
		e.Args[i] = say(e.Args[i])
	}
	for _, m := range []map[string]string{e.Env, e.Headers} {
		for key, value := range m {
			m[key] = say(value)
		}
	}
	return err
}
