package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/clientfile"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// installing is a run of bx mcp install or uninstall.
type installing struct {
	app    *app
	scope  string
	name   string
	dryRun bool
	remove bool
}

func (a *app) mcpInstallCommand() *cobra.Command {
	in := &installing{app: a}
	cmd := &cobra.Command{
		Use: "install CLIENT…", Short: "Write bx as a server into the configuration of MCP clients",
		Long: `Write bx as a server into the configuration of MCP clients: ` + strings.Join(clientfile.Names(), ", ") + `.
What else the file holds stays as it is. --tier, --allow and --root go into what is
written; without --root the server works where the client does.`,
		Example: "  bx mcp install claude\n  bx mcp install vscode --scope project --dry-run\n  bx mcp install claude-desktop --root ~/src/project --tier run",
	}
	in.complete(cmd)
	return cmd
}

func (a *app) mcpUninstallCommand() *cobra.Command {
	in := &installing{app: a, remove: true}
	cmd := &cobra.Command{
		Use: "uninstall CLIENT…", Short: "Take bx out of the configuration of MCP clients",
		Long: `Take bx out of the configuration of MCP clients: ` + strings.Join(clientfile.Names(), ", ") + `.
A file that nobody has changed since is what it was before bx mcp install.`,
	}
	in.complete(cmd)
	return cmd
}

func (in *installing) complete(cmd *cobra.Command) {
	cmd.ValidArgs, cmd.Args = clientfile.Names(), in.checkArgs
	cmd.RunE = func(_ *cobra.Command, names []string) error { return in.run(names) }
	f := cmd.Flags()
	f.StringVar(&in.scope, "scope", "user", "write the configuration of this `SCOPE`: user, or project for that of the project here")
	f.StringVar(&in.name, "name", "bx", "the `NAME` of the server in the client")
	f.BoolVar(&in.dryRun, "dry-run", false, "print what would change; change nothing")
}

func (in *installing) checkArgs(cmd *cobra.Command, names []string) error {
	if len(names) == 0 {
		return fail(exitUsage, "%s needs a client: one of %s", cmd.CommandPath(), strings.Join(clientfile.Names(), ", "))
	}
	for _, name := range names {
		if _, ok := clientfile.Find(name); !ok {
			return fail(exitUsage, "there is no client %q: want one of %s", name, strings.Join(clientfile.Names(), ", "))
		}
	}
	switch {
	case in.scope != "user" && in.scope != "project":
		return fail(exitUsage, "--scope %s: want user or project", in.scope)
	case in.name == "" || strings.ContainsFunc(in.name, func(r rune) bool { return r > '~' || !strings.ContainsRune("-_", r) && !isAlphanumeric(r) }):
		return fail(exitUsage, "--name %q: want letters, digits, - and _", in.name)
	}
	return nil
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// installed is what was done for a client, as --json shows it.
type installed struct {
	Client  string             `json:"client"`
	File    string             `json:"file"`
	Done    string             `json:"done"` // added, changed, removed, unchanged
	DryRun  bool               `json:"dry_run,omitempty"`
	Server  *clientfile.Server `json:"server,omitempty"`
	title   string
	changes clientfile.Change
}

func (in *installing) run(names []string) error {
	var all []installed
	for _, name := range names {
		c, _ := clientfile.Find(name) // checkArgs has found it
		one, err := in.one(c)
		if err != nil {
			return err
		}
		if !in.app.json {
			in.tell(one)
		}
		all = append(all, one)
	}
	if in.app.json {
		return view.JSON(in.app.out, all)
	}
	return nil
}

func (in *installing) one(c clientfile.Client) (installed, error) {
	did := installed{Client: c.Name, DryRun: in.dryRun, title: c.Title}
	file, err := in.file(c)
	if err != nil {
		return did, err
	}
	did.File = file
	change := func(text []byte) ([]byte, error) { return c.Remove(text, in.name) }
	if !in.remove {
		s, err := in.server(c)
		if err != nil {
			return did, err
		}
		did.Server = &s
		change = func(text []byte) ([]byte, error) { return c.Add(text, s) }
	}
	var had []string
	did.changes, err = clientfile.Edit(file, in.dryRun, func(text []byte) ([]byte, error) {
		if had, err = c.Find(text, in.name); err != nil {
			return nil, err
		}
		if had != nil && !ours(had) {
			return nil, fmt.Errorf("its server %q is another program (%s): choose a name with --name, or remove it by hand", in.name, strings.Join(had, " "))
		}
		return change(text)
	})
	switch {
	case err != nil:
		return did, fail(exitConfig, "%w", err)
	case !did.changes.Changed():
		did.Done = "unchanged"
	case in.remove:
		did.Done = "removed"
	case had != nil:
		did.Done = "changed"
	default:
		did.Done = "added"
	}
	return did, nil
}

// ours reports whether a client starts bx mcp serve.
func ours(words []string) bool {
	i := slices.Index(words, "mcp")
	return i >= 0 && i+1 < len(words) && words[i+1] == "serve"
}

func (in *installing) tell(did installed) {
	w := in.app.out
	switch {
	case did.Done == "unchanged" && in.remove:
		fmt.Fprintf(w, "%s: there is no %s in %s\n", did.title, in.name, did.File)
	case did.Done == "unchanged":
		fmt.Fprintf(w, "%s: %s is in %s as it should be\n", did.title, in.name, did.File)
	case in.dryRun:
		fmt.Fprintf(w, "%s: %s would be %s in %s:\n%s", did.title, in.name, did.Done, did.File, clientfile.Diff(did.changes.Before, did.changes.After))
	case did.changes.After == nil:
		fmt.Fprintf(w, "%s: %s removed, and %s with it, which held nothing else\n", did.title, in.name, did.File)
	default:
		fmt.Fprintf(w, "%s: %s %s in %s; it counts when %s starts next\n", did.title, in.name, did.Done, did.File, did.title)
	}
}

// file is the configuration to change.
func (in *installing) file(c clientfile.Client) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fail(exitUsage, "there is no home directory: %w", err)
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fail(exitUsage, "there is no directory for configuration: %w", err)
	}
	p := clientfile.Places{Home: home, Config: config, Env: in.app.env}
	if in.scope == "user" {
		return c.UserFile(p), nil
	}
	if p.Project, err = in.app.rootDir(); err != nil {
		return "", err
	}
	file := c.ProjectFile(p)
	if file == "" {
		return "", fail(exitUsage, "%s has no configuration of a project: leave --scope project out", c.Title)
	}
	return file, linked(p.Project, file)
}

// linked refuses a project's file that is a link or lies behind one: it may lead
// anywhere.
func linked(project, file string) error {
	for at := file; at != project && at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fail(exitConfig, "%s is a link: write the file that it leads to yourself", at)
		}
	}
	return nil
}

// server is what the client is to start.
func (in *installing) server(c clientfile.Client) (clientfile.Server, error) {
	s := clientfile.Server{Name: in.name, Args: []string{"mcp", "serve"}}
	var err error
	if s.Command, err = in.command(); err != nil {
		return s, err
	}
	root, err := in.root(c)
	if err != nil {
		return s, err
	}
	if root != "" {
		s.Args = append(s.Args, "--root", root)
	}
	if in.app.tier != "" {
		if _, err := utp.ParseTier(in.app.tier); err != nil {
			return s, fail(exitUsage, "--%w", err)
		}
		s.Args = append(s.Args, "--tier", in.app.tier)
	}
	if len(in.app.allow) > 0 {
		if err := in.app.checkAllow(); err != nil {
			return s, err
		}
		s.Args = append(s.Args, "--allow", strings.Join(in.app.allow, ","))
	}
	return s, nil
}

// checkAllow refuses a name in --allow that no tool has.
func (a *app) checkAllow() error {
	set, err := tool.New(tool.Config{Root: os.TempDir(), Shell: &tool.Shell{}})
	if err != nil {
		return err
	}
	defer set.Close()
	return a.allowed(set.Tools(), func(string) bool { return false })
}

// root is where the server works; "" is where the client starts it.
func (in *installing) root(c clientfile.Client) (string, error) {
	switch {
	case in.app.root != "" && in.scope == "project":
		return "", fail(exitUsage, "--root is for --scope user: the configuration of a project is for that project")
	case in.app.root != "":
		return in.app.rootDir()
	case c.Nowhere:
		root, err := in.app.rootDir()
		if errors.Is(err, errNoRepository) {
			return "", fail(exitUsage, "%s starts servers anywhere: name the repository with --root", c.Title)
		}
		return root, err
	}
	return c.Folder, nil
}

// command is bx as others can start it: by its name where the configuration may
// go to other machines, else by its path, as clients may not have it on theirs.
func (in *installing) command() (string, error) {
	if in.scope == "project" {
		return "bx", nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the path of bx is not known: %w", err)
	}
	if found, err := exec.LookPath("bx"); err == nil && filepath.IsAbs(found) && sameFile(found, self) {
		return found, nil // it stays when what it leads to is replaced
	}
	return self, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}
