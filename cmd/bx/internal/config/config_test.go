package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// TestLoad lays out the files of a case (sections user/…, repo/…, cfg/…),
// loads and resolves them with its env and flags, and compares the settings or
// the error as bx would print them.
//
// contract: N-12 N-13 N-16 N-17 X-07 Q-08 T-05 CON-12 CON-13 CON-27
func TestLoad(t *testing.T) {
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	golden.Run(t, "testdata/load/*.txtar", func(t *testing.T, c *golden.Case) {
		chdir(t, t.TempDir())
		layOut(t, c)
		places := config.Places{User: "user", Repo: "repo"}
		if c.Has("cfg/extra.toml") {
			places.File = "cfg/extra.toml"
		}
		if strings.Contains(c.Get("flags"), "trust") {
			places.File = "repo/llmc.toml"
		}
		got := outcome(places, flags(c), env(c))
		chdir(t, home)
		c.Want(t, "out", got)
	})
}

func chdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
}

func layOut(t *testing.T, c *golden.Case) {
	for _, name := range c.Names() {
		if filepath.Ext(name) != ".toml" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(c.Get(name)+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func env(c *golden.Case) func(string) string {
	vars := pairs(c.Get("env"))
	return func(name string) string { return vars[name] }
}

func flags(c *golden.Case) config.Flags {
	f := pairs(c.Get("flags"))
	return config.Flags{Profile: f["profile"], Model: f["model"], Tier: f["tier"], Format: config.Format(f["tool-format"])}
}

func pairs(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		m[k] = v
	}
	return m
}

func outcome(p config.Places, f config.Flags, env func(string) string) string {
	c, err := config.Load(p)
	if err != nil {
		return failure(err)
	}
	s, err := c.Resolve(f, env)
	if err != nil {
		return failure(err)
	}
	var b strings.Builder
	if s.Kind != s.Provider {
		fmt.Fprintf(&b, "kind %s\n", s.Kind)
	}
	fmt.Fprintf(&b, "provider %s url %s why %s\n", s.Provider, s.URL, s.Why)
	fmt.Fprintf(&b, "profile %s model %s key %s num_ctx %d timeout %v\n", s.Profile, s.Model, s.APIKey, s.NumCtx, s.Timeout)
	if s.Temperature != nil {
		fmt.Fprintf(&b, "temperature %v\n", *s.Temperature)
	}
	for _, l := range s.Formats {
		fmt.Fprintf(&b, "format %d %s for %q: %s %s %s %s%s\n", l.Level, l.From, l.For, l.Format, l.Tools, l.Calls, l.Results, xmlWords(l.XML))
	}
	fmt.Fprintf(&b, "tier %s max %s rounds %d envelope %v\n", s.Tier, s.MaxTier, s.MaxRounds, s.Envelope.Enabled)
	for _, name := range c.Ignored {
		fmt.Fprintf(&b, "ignored %s\n", filepath.ToSlash(name))
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "warning %s\n", filepath.ToSlash(w))
	}
	return b.String()
}

func xmlWords(b *bool) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf(" xml %v", *b)
}

func failure(err error) string {
	var e *config.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("not an Error: %v\n", err)
	}
	message, _, cut := strings.Cut(e.Error(), "or a grammar: ")
	if cut {
		message += "or a grammar: …" // the list grows
	}
	return filepath.ToSlash(message) + "\n" + e.Excerpt
}
