package clientfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Find gives what a client's file starts under a server's name: the command and
// its arguments; nil is no such server. No file is nil text.
func (c Client) Find(text []byte, name string) (words []string, err error) {
	all, err := c.decode(text)
	if err != nil {
		return nil, err
	}
	entry, there := at(all, c.form.under, name)
	if !there {
		return nil, nil
	}
	fields, _ := entry.(map[string]any)
	for _, key := range []string{"command", "args"} {
		switch v := fields[key].(type) {
		case string:
			words = append(words, v)
		case []any:
			for _, w := range v {
				words = append(words, fmt.Sprint(w))
			}
		}
	}
	return append([]string{}, words...), nil
}

// Add writes a server into a client's file; nil text is no file. A server of
// that name is changed where it differs.
func (c Client) Add(text []byte, s Server) ([]byte, error) {
	if _, err := c.decode(text); err != nil {
		return nil, err
	}
	out, err := c.add(text, s)
	if err != nil {
		return nil, err
	}
	return out, c.unharmed(text, out, s.Name)
}

func (c Client) add(text []byte, s Server) ([]byte, error) {
	fields := c.form.entry(s)
	if c.form.toml {
		return addTable(text, c.form.under, s.Name, fields)
	}
	if text == nil {
		return []byte(newFile(c.form.under, s.Name, fields)), nil
	}
	if strings.TrimSpace(string(text)) == "" {
		return []byte(strings.TrimSuffix(newFile(c.form.under, s.Name, fields), "\n") + blankFile + string(text)), nil
	}
	out, err := addMember(string(text), c.form.under, s.Name, fields)
	return []byte(out), err
}

// blankFile stands between an object and the blanks that the file held before it.
const blankFile = " "

// Remove takes a server out of a client's file. What it gives is nil where the
// file was made for the server.
func (c Client) Remove(text []byte, name string) (out []byte, err error) {
	switch {
	case strings.TrimSpace(string(text)) == "":
		return text, nil
	case c.form.toml:
		out, err = removeTable(text, c.form.under, name)
	default:
		out, err = removeMember(string(text), c.form.under, name)
	}
	if err != nil {
		return nil, err
	}
	return out, c.unharmed(text, out, name)
}

// addMember puts a server into the object under a key.
func addMember(text, under, name string, fields []field) (string, error) {
	f, err := open(text)
	if err != nil {
		return "", err
	}
	if !f.root.object(text) {
		return "", errors.New("want an object, { … }")
	}
	unit, end, dense := f.unit(), eol(text), f.dense()
	entry := func(indent string) string {
		if dense {
			return renderDense(fields)
		}
		return render(fields, unit, end, indent)
	}
	i := f.root.member(under)
	if i < 0 {
		return f.put(f.root, under, func(indent string) string {
			if dense {
				return "{" + quote(name) + ":" + entry("") + "}"
			}
			return "{" + end + indent + unit + quote(name) + ": " + entry(indent+unit) + end + indent + "}"
		}), nil
	}
	servers := f.root.members[i].value
	if !servers.object(text) {
		return "", fmt.Errorf("%q: want an object, { … }", under)
	}
	j := servers.member(name)
	if j < 0 {
		return f.put(servers, name, entry), nil
	}
	if !servers.members[j].value.object(text) {
		return "", fmt.Errorf("%q in %q: want an object, { … }", name, under)
	}
	for _, one := range fields {
		if text, err = setField(text, under, name, one, unit, end); err != nil {
			return "", err
		}
	}
	return text, nil
}

// setField gives a key of a server's entry another value.
func setField(text, under, name string, one field, unit, end string) (string, error) {
	f, err := open(text)
	if err != nil {
		return "", err
	}
	servers := f.root.members[f.root.member(under)].value
	entry := servers.members[servers.member(name)].value
	i := entry.member(one.key)
	if i < 0 {
		return f.put(entry, one.key, func(indent string) string { return list(one.value, unit, end, indent) }), nil
	}
	m := entry.members[i]
	if equal(text[m.value.start:m.value.end], one.value) {
		return text, nil
	}
	return text[:m.value.start] + list(one.value, unit, end, f.indentOf(m.key)) + text[m.value.end:], nil
}

// equal reports whether a JSON text is a value.
func equal(text string, v any) bool {
	var has, want any
	return json.Unmarshal([]byte(pure(text)), &has) == nil && json.Unmarshal([]byte(quote(v)), &want) == nil && reflect.DeepEqual(has, want)
}

// removeMember takes a server out of the object under a key, and the object too
// where it was made for the server. nil is a file that was made for it.
func removeMember(text, under, name string) ([]byte, error) {
	f, err := open(text)
	if err != nil {
		return nil, err
	}
	i := f.root.member(under)
	if i < 0 {
		return []byte(text), nil
	}
	servers := f.root.members[i].value
	j := servers.member(name)
	switch {
	case j < 0:
		return []byte(text), nil
	case !f.made(servers):
		return []byte(f.drop(servers, j)), nil
	}
	if tail := text[f.root.end:]; f.root.start == 0 && f.made(f.root) {
		if tail == "\n" {
			return nil, nil
		}
		if blank, ok := strings.CutPrefix(tail, blankFile); ok {
			return []byte(blank), nil
		}
	}
	return []byte(f.drop(f.root, i)), nil
}

// unharmed reports whether a change has changed anything but one server.
func (c Client) unharmed(before, after []byte, name string) error {
	was, err := c.decode(before)
	if err != nil {
		return err
	}
	is, err := c.decode(after)
	if err == nil && !reflect.DeepEqual(without(was, c.form.under, name), without(is, c.form.under, name)) {
		err = errors.New("other settings would change")
	}
	if err != nil {
		return fmt.Errorf("it is written in a way that cannot be changed safely (%w): change %s.%s by hand", err, c.form.under, name)
	}
	return nil
}

// decode reads a file of the client.
func (c Client) decode(text []byte) (map[string]any, error) {
	if c.form.toml {
		return decodeTOML(text)
	}
	if strings.TrimSpace(string(text)) == "" {
		return nil, nil
	}
	if _, err := read(string(text)); err != nil {
		return nil, err
	}
	var all map[string]any
	d := json.NewDecoder(strings.NewReader(pure(string(text))))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("want an object, { … }: %w", err)
	}
	return all, nil
}

// at is the entry of a server.
func at(all map[string]any, under, name string) (any, bool) {
	servers, _ := all[under].(map[string]any)
	entry, ok := servers[name]
	return entry, ok
}

// without is everything but a server, and but the object of all servers where
// it is empty then.
func without(all map[string]any, under, name string) map[string]any {
	out := map[string]any{}
	for key, v := range all {
		servers, ok := v.(map[string]any)
		if key != under || !ok {
			out[key] = v
			continue
		}
		others := map[string]any{}
		for n, server := range servers {
			if n != name {
				others[n] = server
			}
		}
		if len(others) > 0 {
			out[key] = others
		}
	}
	return out
}

// Diff shows a change line by line: what goes with "-", what comes with "+".
func Diff(before, after []byte) string {
	a, b := lines(before), lines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	for _, l := range a[head : len(a)-tail] {
		out.WriteString("-" + l + "\n")
	}
	for _, l := range b[head : len(b)-tail] {
		out.WriteString("+" + l + "\n")
	}
	return out.String()
}

func lines(text []byte) []string {
	return slices.Collect(func(yield func(string) bool) {
		for l := range strings.Lines(string(text)) {
			if !yield(strings.TrimRight(l, "\r\n")) {
				return
			}
		}
	})
}
