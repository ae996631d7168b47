package tool

import (
	"strings"
	"testing"
)

// What may hold secrets or keys is no answer of a search, as it is none of grep.
func TestSearchCodeShowsNoKeys(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "id_rsa", "walrus SECRET\n")
	write(t, dir, ".env", "WALRUS=SECRET\n")
	write(t, dir, "deploy/host.pem", "walrus SECRET\n")
	write(t, dir, "a.go", "package a\n\n// walrus is the word.\nfunc walrus() {}\n")
	for _, index := range []string{t.TempDir(), ""} {
		s := open(t, Config{Root: dir, IndexDir: index})
		if got := run(s, "search_code", `{"query":"walrus"}`).Text(); strings.Contains(got, "SECRET") || !strings.Contains(got, "a.go:") {
			t.Errorf("%s", got)
		}
		if places, err := s.Places(t.Context(), "walrus", 5); err != nil || len(places) == 0 || places[0].Path != "a.go" || len(places) > 2 {
			t.Errorf("%+v, %v", places, err)
		}
	}
}
