package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/sandbox"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say which server and model bx would use, and what they can do", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.status(cmd.Context()) },
	}
}

// status of the place, the configuration and the server.
type status struct {
	Root     string          `json:"root"`        // "": the folder is in no repository
	UserFile string          `json:"user_config"` // where the user's own file goes
	Files    []string        `json:"config_files"`
	Profile  string          `json:"profile,omitempty"`
	Sessions string          `json:"sessions,omitempty"`
	Search   *seen           `json:"search,omitempty"` // null: no repository
	Sandbox  string          `json:"sandbox"`          // "": commands run in one; else why not
	Chosen   string          `json:"chosen,omitempty"`
	Backend  *backend.Status `json:"backend"` // null: search alone
	Error    string          `json:"error,omitempty"`
}

func (a *app) status(ctx context.Context) error {
	j, err := a.beginAnywhere()
	if err != nil {
		return err
	}
	return j.showStatus(ctx)
}

func (j *job) showStatus(ctx context.Context) (err error) {
	a := j.app
	s := status{Root: j.root, UserFile: filepath.Join(dirs.User(), "bx.toml"), Files: append([]string{}, j.cfg.Files...), Profile: j.set.Profile}
	if dir, err := a.dataDir(j.set.Session.Storage); err == nil {
		s.Sessions = filepath.Join(dir, "sessions.db")
	}
	s.Sandbox = noSandbox(ctx)
	if j.root != "" {
		if s.Search, err = look(ctx, j.root); err != nil {
			return err
		}
	}
	failure := j.ask(ctx, &s)
	if a.json {
		if err := view.JSON(a.out, s); err != nil {
			return err
		}
		return failure
	}
	a.printStatus(s)
	return failure
}

// noSandbox says why commands of the model have no sandbox here.
func noSandbox(ctx context.Context) string {
	self, err := os.Executable()
	if err == nil {
		err = sandbox.Check(ctx, self)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// ask fills in what the server says.
func (j *job) ask(ctx context.Context, s *status) error {
	c, err := j.choose(ctx)
	if err == nil {
		s.Chosen = c.why
	}
	if err == nil && c.client != nil {
		var b backend.Status
		if b, err = c.client.Status(ctx); err == nil {
			s.Backend = &b
			return nil
		}
		err = &coded{exitBackend, err}
	}
	if err != nil {
		s.Error = err.Error()
	}
	return err
}

// noRoot is said in the place of a root.
const noRoot = "none: this folder is in no repository"

func (a *app) printStatus(s status) {
	out := a.lines()
	say := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-9s"+format+"\n", append([]any{name}, args...)...)
	}
	say("root", "%s", cmp.Or(s.Root, noRoot))
	for _, f := range s.Files {
		say("config", "%s", f)
	}
	if len(s.Files) == 0 {
		say("config", "none; yours would be %s", s.UserFile)
	}
	if s.Profile != "" {
		say("profile", "%s", s.Profile)
	}
	say("sessions", "%s", s.Sessions)
	if s.Search != nil {
		say("search", "%s", s.Search)
	}
	if s.Sandbox == "" {
		say("sandbox", "commands run in one")
	} else {
		say("sandbox", "none, so that every command asks: %s", s.Sandbox)
	}
	if s.Chosen != "" {
		say("chosen", "%s", s.Chosen)
	}
	if b := s.Backend; b != nil {
		a.printBackend(*b, say)
	}
}

func (a *app) printBackend(b backend.Status, say func(name, format string, args ...any)) {
	say("server", "%s %s", b.Server, b.Version)
	if b.Model != "" {
		say("model", "%s", modelWords(b))
	}
	for _, m := range b.Models {
		loaded := ""
		if m.Loaded {
			loaded = "  loaded"
		}
		say("", "- %s%s", m.ID, loaded)
	}
}

func modelWords(b backend.Status) string {
	words := b.Model
	if !b.Found {
		words += ", not on this server"
	}
	tools := "as text"
	if b.Native {
		tools = "natively"
	}
	words += fmt.Sprintf("; tools are sent %s: %s", tools, b.Why)
	if b.Window > 0 {
		words += fmt.Sprintf("; window %d tokens", b.Window)
	}
	return words
}
