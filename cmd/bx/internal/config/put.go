package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/settings"
)

// TOML writes a profile as [profiles.NAME] and [profiles.NAME.tools], with the
// keys that it sets. A key for the server is left out: it belongs in the
// environment.
func (p Profile) TOML(name string) string {
	var b strings.Builder
	table := func(head string, keys ...[2]string) {
		lines := ""
		for _, k := range keys {
			if k[1] != "" {
				lines += k[0] + " = " + k[1] + "\n"
			}
		}
		if lines != "" {
			fmt.Fprintf(&b, "[profiles.%s%s]\n%s", tomlKey(name), head, lines)
		}
	}
	t := p.Tools
	table("", [2]string{"provider", text(p.Provider)}, [2]string{"url", text(p.URL)}, [2]string{"model", text(p.Model)}, [2]string{"api_key_env", text(p.APIKeyEnv)})
	table(".tools", [2]string{"tool_format", text(t.ToolFormat)}, [2]string{"definition_format", text(t.DefinitionFormat)},
		[2]string{"call_parser", text(t.CallParser)}, [2]string{"result_format", text(t.ResultFormat)},
		[2]string{"adapter", text(t.Adapter)}, [2]string{"one_call", yesNo(t.OneCall)}, [2]string{"insist", yesNo(t.Insist)}, [2]string{"drop_empty", yesNo(t.DropEmpty)},
		[2]string{"suggest", yesNo(t.Suggest)})
	return b.String()
}

// text is a string as a TOML value, "" of an empty one.
func text[S ~string](s S) string {
	if s == "" {
		return ""
	}
	return tomlString(string(s))
}

// tomlString is a text as a basic string of TOML, whose escapes are those of JSON.
func tomlString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// yesNo is a value that may be unset.
func yesNo(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// tomlKey quotes a key that needs it.
func tomlKey(s string) string {
	plain := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// PutProfile writes a profile into a file of the user, in place of the tables
// of its name that it writes, and leaves the rest of the file as it is. The
// file is made if there is none; it is replaced whole or not at all. The profile
// may name the known dialects.
func PutProfile(path, name string, p Profile, known Own) error {
	return put(path, "the profile", p.TOML(name), known, []string{"profiles", name}, []string{"profiles", name, "tools"})
}

// PutAlias writes an alias of a tool as PutProfile does a profile.
func PutAlias(path, name, to string, known Own) error {
	table := fmt.Sprintf("[aliases.%s]\nto = %s\n", tomlKey(name), tomlString(to))
	return put(path, "the alias", table, known, []string{"aliases", name})
}

// put adds a text to a file, in place of those of its own tables that are named.
func put(path, what, table string, known Own, heads ...[]string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, head := range heads {
		if slices.ContainsFunc(keysOf([]byte(table)), func(k key) bool { return k.table && slices.Equal(k.path, head) }) {
			old = without(old, head)
		}
	}
	if old = bytes.TrimRight(old, "\n"); len(old) > 0 {
		old = append(old, "\n\n"...)
	}
	made := append(old, table...)
	c := Defaults()
	c.Own = known
	if err := c.apply(document{short(path), path, made, nil}, nil); err != nil {
		return fmt.Errorf("%s cannot be added to %s: %w", what, short(path), err)
	}
	return settings.Replace(path, made)
}

// without cuts a table out of a document, from its header to the next one and
// the comments above that.
func without(doc []byte, path []string) []byte {
	var p unstable.Parser
	p.Reset(doc)
	from := -1
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		k := newKey(nil, e)
		at := lineStart(doc, k.offset)
		switch {
		case from >= 0:
			return append(slices.Clone(doc[:from]), doc[aboveComments(doc, at):]...)
		case slices.Equal(k.path, path):
			from = at
		}
	}
	if from >= 0 {
		return slices.Clone(doc[:from])
	}
	return doc
}

func lineStart(doc []byte, at int) int { return bytes.LastIndexByte(doc[:at], '\n') + 1 }

// aboveComments is the start of the comment lines that end at a line's start.
func aboveComments(doc []byte, at int) int {
	for at > 0 {
		above := lineStart(doc, at-1)
		if !bytes.HasPrefix(bytes.TrimSpace(doc[above:at]), []byte("#")) {
			break
		}
		at = above
	}
	return at
}
