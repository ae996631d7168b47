package clientfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func decodeTOML(text []byte) (map[string]any, error) {
	var all map[string]any
	err := toml.Unmarshal(text, &all)
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, column := bad.Position()
		return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return all, err
}

// expression is a header or a key and its value, by the line it begins on.
type expression struct {
	start  int
	header bool
	path   []string // of a header the table's, of a key the key's own
}

// expressions lists what a TOML text holds.
func expressions(text []byte) (all []expression, err error) {
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		x := expression{start: -1, header: e.Kind != unstable.KeyValue}
		for keys := e.Key(); keys.Next(); {
			k := keys.Node()
			if x.start < 0 {
				x.start = strings.LastIndexByte(string(text[:k.Raw.Offset]), '\n') + 1
			}
			x.path = append(x.path, string(k.Data))
		}
		all = append(all, x)
	}
	return all, p.Error()
}

// block is a part of a text: a table, or a key and its value, without the blank
// lines and comments behind it.
type block struct{ start, end int }

// blockOf is the block that begins with the expression i and goes on until stop
// says so.
func blockOf(text []byte, all []expression, i int, stop func(expression) bool) block {
	end := len(text)
	for _, x := range all[i+1:] {
		if stop(x) {
			end = x.start
			break
		}
	}
	for {
		line := strings.LastIndexByte(strings.TrimSuffix(string(text[all[i].start:end]), "\n"), '\n') + 1 + all[i].start
		if s := strings.TrimSpace(string(text[line:end])); line == all[i].start || s != "" && s[0] != '#' {
			return block{all[i].start, end}
		}
		end = line
	}
}

func isServer(x expression, under, name string) bool {
	return x.header && len(x.path) >= 2 && x.path[0] == under && x.path[1] == name
}

// addTable writes a server's table at the end of a text, or changes the one there.
func addTable(text []byte, under, name string, fields []field) ([]byte, error) {
	all, err := expressions(text)
	if err != nil {
		return nil, err
	}
	end := eol(string(text))
	for i, x := range all {
		if isServer(x, under, name) && len(x.path) == 2 {
			return setKeys(text, all, i, fields)
		}
	}
	if have, _ := decodeTOML(text); have != nil {
		if _, there := at(have, under, name); there {
			return nil, fmt.Errorf("%s.%s is there, and not as a table of its own: change it by hand", under, name)
		}
	}
	var b strings.Builder
	b.Write(text)
	if text != nil {
		b.WriteString(end)
	}
	b.WriteString("[" + under + "." + bareKey(name) + "]" + end)
	for _, f := range fields {
		b.WriteString(f.key + " = " + tomlValue(f.value) + end)
	}
	return []byte(b.String()), nil
}

// setKeys gives the keys of the table at i other values.
func setKeys(text []byte, all []expression, i int, fields []field) ([]byte, error) {
	end := eol(string(text))
	for _, f := range fields {
		line := f.key + " = " + tomlValue(f.value) + end
		spot := block{blockOf(text, all, i, func(x expression) bool { return true }).end, 0}
		spot.end = spot.start
		for j := i + 1; j < len(all) && !all[j].header; j++ {
			if len(all[j].path) == 1 && all[j].path[0] == f.key {
				spot = blockOf(text, all, j, func(expression) bool { return true })
			}
		}
		if equalTOML(text[spot.start:spot.end], f) {
			continue
		}
		text = []byte(string(text[:spot.start]) + line + string(text[spot.end:]))
		var err error
		if all, err = expressions(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func equalTOML(text []byte, f field) bool {
	has, err := decodeTOML(text)
	if err != nil || len(has) == 0 {
		return false
	}
	want, err := decodeTOML([]byte(f.key + " = " + tomlValue(f.value)))
	return err == nil && fmt.Sprint(has) == fmt.Sprint(want)
}

// removeTable takes a server's table and those below it out of a text. nil is a
// file that was made for it.
func removeTable(text []byte, under, name string) ([]byte, error) {
	for {
		all, err := expressions(text)
		if err != nil {
			return nil, err
		}
		i := 0
		for i < len(all) && !isServer(all[i], under, name) {
			i++
		}
		if i == len(all) {
			return text, nil
		}
		b := blockOf(text, all, i, func(x expression) bool { return x.header })
		if b.start == 0 && b.end == len(text) {
			return nil, nil
		}
		text = []byte(string(text[:before(text, b)]) + string(text[b.end:]))
	}
}

// before is where a table begins with the empty line above it, or with the end
// of the line above where nothing follows and that line had no end of its own.
func before(text []byte, b block) int {
	above := string(text[:b.start])
	end := eol(string(text))
	cut := strings.TrimSuffix(above, end)
	if cut == above || cut == "" || strings.HasSuffix(cut, "\n") || b.end == len(text) {
		return len(cut)
	}
	return b.start
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func bareKey(name string) string {
	if bare.MatchString(name) {
		return name
	}
	return quote(name)
}

// tomlValue writes a text, a bool or a list of texts. JSON's escapes are TOML's.
func tomlValue(v any) string {
	texts, ok := v.([]string)
	if !ok {
		return quote(v)
	}
	parts := make([]string, len(texts))
	for i, t := range texts {
		parts[i] = quote(t)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
