package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Approve marks the context of a call to which the user said yes. Calls that
// Sensitive has a word for run in no other.
func Approve(ctx context.Context) context.Context { return context.WithValue(ctx, approved{}, true) }

type approved struct{}

func needsYes(ctx context.Context, given, why string) error {
	if yes, _ := ctx.Value(approved{}).(bool); yes || why == "" {
		return nil
	}
	return denied(fmt.Sprintf("%s needs the user's yes: %s", given, why))
}

// Sensitive says why a call runs only after a yes of the user's to this very
// call, whatever is allowed otherwise; "" when it does not.
func (s *Set) Sensitive(c utp.Call) string {
	b, ok := byName(c.Name)
	if !ok || b.sensitive == nil {
		return ""
	}
	return b.sensitive(s, c.Args)
}

// sensitiveReads is the word for a call that reads the file at path.
func sensitiveReads(s *Set, args json.RawMessage) string {
	a, err := arguments[struct{ Path string }](args)
	if err != nil {
		return ""
	}
	at, err := s.find(a.Path)
	if err != nil {
		return ""
	}
	return readingAsks(at)
}

// sensitiveWrites is the word for a call that writes the file at path.
func sensitiveWrites(s *Set, args json.RawMessage) string {
	return s.anyWritingAsks(namedPaths(args)...)
}

func namedPaths(args json.RawMessage) []string {
	a, err := arguments[struct{ Path, From, To string }](args)
	if err != nil {
		return nil
	}
	return []string{a.Path, a.From, a.To}
}

// Paths lists the files that a call names, relative to the root, and where links
// lead to them their names without links too.
func (s *Set) Paths(c utp.Call) (out []string) {
	b, ok := byName(c.Name)
	if !ok {
		return nil
	}
	named := namedPaths
	if b.paths != nil {
		named = b.paths
	}
	for _, p := range named(c.Args) {
		at, err := s.find(p)
		if p == "" || err != nil {
			continue
		}
		if out = append(out, at.name); at.real != at.name {
			out = append(out, at.real)
		}
	}
	return out
}

func (s *Set) anyWritingAsks(paths ...string) string {
	for _, p := range paths {
		if at, err := s.find(p); err == nil && p != "" {
			if why := writingAsks(at.name); why != "" {
				return why
			}
		}
	}
	return ""
}

// readingAsks says why reading a file is asked for.
func readingAsks(at place) string {
	for _, name := range []string{at.name, at.real} {
		if keys(name) {
			return "it may hold keys or tokens"
		}
	}
	return ""
}

// keys reports a file that programs keep keys and tokens in.
func keys(name string) bool {
	name = strings.ToLower(name)
	base := path.Base(name)
	switch {
	case slices.Contains([]string{".npmrc", ".netrc", "_netrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", "credentials"}, base),
		slices.Contains([]string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"}, path.Ext(base)),
		strings.HasPrefix(base, "id_") && slices.Contains([]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}, base):
		return true
	}
	parts := strings.Split(name, "/")
	return slices.Contains(parts, ".ssh") || slices.Contains(parts, ".git") && base == "config"
}

// writingAsks says why writing a file is asked for.
func writingAsks(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, ".github/workflows/"), strings.HasPrefix(name, ".gitlab-ci"), strings.HasPrefix(name, ".circleci/"):
		return "it says what runs where the repository is built"
	case strings.HasPrefix(name, ".vscode/"), strings.HasPrefix(name, ".idea/"), strings.HasPrefix(name, ".devcontainer/"):
		return "it says what runs when the folder is opened"
	case slices.Contains([]string{"bx.toml", "llmc.toml"}, path.Base(name)):
		return "it configures bx"
	}
	return ""
}
