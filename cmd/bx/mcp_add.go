package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/clientfile"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

// adding is how bx mcp add was started.
type adding struct {
	app          *app
	from         string
	env, headers []string
	oauth, yes   bool
}

func (a *app) mcpAddCommand() *cobra.Command {
	add := &adding{app: a}
	cmd := &cobra.Command{
		Use: "add NAME URL | add NAME -- COMMAND [ARG]… | add --from CLIENT [NAME]…", Short: "Add an MCP server to your bx.toml",
		Long: `Add an MCP server to your bx.toml: a command that is started, or the URL of a server
that speaks streamable HTTP. Then it is asked for its tools. Its tools are of tier
RUN, so each call asks; --tier lowers that. Keys belong in the environment: write
${NAME} for the value of a variable, in quotes.

--from takes over the servers of another agent, of yours and of the project's files:
` + strings.Join(clientfile.Names(), ", ") + `. Each is shown and asked about.`,
		Example: `  bx mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  bx mcp add issues https://example.org/mcp --header 'Authorization: Bearer ${TOKEN}'
  bx mcp add --from claude`,
		RunE: func(cmd *cobra.Command, words []string) error { return add.run(cmd, words) },
	}
	f := cmd.Flags()
	f.StringVar(&add.from, "from", "", "take over the servers of another agent, of this `CLIENT`")
	f.StringArrayVar(&add.env, "env", nil, "a variable for the command: `NAME=VALUE`")
	f.StringArrayVar(&add.headers, "header", nil, "a header for the URL: `'NAME: VALUE'`")
	f.BoolVar(&add.oauth, "oauth", false, "log in to the URL")
	f.BoolVar(&add.yes, "yes", false, "with --from: take over all of your own file unasked, and none of the project's")
	return cmd
}

func (add *adding) run(cmd *cobra.Command, words []string) error {
	j, err := add.app.beginAnywhere()
	if err != nil {
		return err
	}
	if add.from != "" {
		return add.takeOver(cmd.Context(), j, words)
	}
	if len(words) < 2 {
		return fail(exitUsage, "bx mcp add wants a name and a URL, or a name, -- and a command")
	}
	s, err := add.server(words[0], words[1:], cmd.ArgsLenAtDash() == 1)
	if err != nil {
		return err
	}
	return add.put(cmd.Context(), j, s)
}

var isURL = regexp.MustCompile(`^https?://`)

// server is what the command line describes.
func (add *adding) server(name string, words []string, command bool) (client.Server, error) {
	s := client.Server{Name: name}
	var err error
	if !command && len(words) == 1 && isURL.MatchString(words[0]) {
		s.URL = words[0]
	} else {
		s.Command, s.Args = words[0], words[1:]
	}
	if s.Env, err = pairs("--env", add.env, "="); err != nil {
		return s, err
	}
	if s.Headers, err = pairs("--header", add.headers, ":"); err != nil {
		return s, err
	}
	if add.oauth {
		s.OAuth = &client.OAuth{}
	}
	if add.app.tier != "" {
		tier, err := utp.ParseTier(add.app.tier)
		if err != nil {
			return s, fail(exitUsage, "--%w", err)
		}
		s.Tier = &tier
	}
	if err := s.Check(); err != nil {
		return s, fail(exitUsage, "%s: %w", name, err)
	}
	return s, nil
}

// pairs reads values of a flag that name something and its value.
func pairs(flag string, list []string, sep string) (map[string]string, error) {
	var out map[string]string
	for _, one := range list {
		name, value, ok := strings.Cut(one, sep)
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			return nil, fail(exitUsage, "%s %q: want NAME%sVALUE", flag, one, sep)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out, nil
}

// put writes a server into the user's file and asks it for its tools.
func (add *adding) put(ctx context.Context, j *job, s client.Server) error {
	if slices.ContainsFunc(j.set.Servers, func(known config.Server) bool { return known.Name == s.Name && !known.Theirs }) {
		return fail(exitUsage, "there is an MCP server %s: take it out first with bx mcp rm %s, or choose another name", s.Name, s.Name)
	}
	if err := config.PutServer(userFile(), s.Name, config.FromServer(s), j.set.Dialects); err != nil {
		return err
	}
	j.view.Line(view.Normal, "%s is added to %s", s.Name, userFile())
	one, err := j.testServer(ctx, config.Server{Server: s}, false)
	if err != nil {
		return err
	}
	if one.Error != "" {
		j.view.Warn("%s stays in your configuration, but it does not work now: %s", s.Name, view.Clean(one.Error))
	}
	if j.app.json {
		return view.JSON(j.app.out, one)
	}
	if one.Error == "" {
		j.showTest(one)
	}
	return nil
}

// takeOver adds the servers of another agent.
func (add *adding) takeOver(ctx context.Context, j *job, names []string) error {
	c, ok := clientfile.Find(add.from)
	if !ok {
		return fail(exitUsage, "--from %s: want one of %s", add.from, strings.Join(clientfile.Names(), ", "))
	}
	if len(add.env)+len(add.headers) > 0 || add.oauth {
		return fail(exitUsage, "--env, --header and --oauth are for a single server, not for --from")
	}
	found, err := add.found(c, j.root, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(found, func(e entry) bool { return e.Name == name }) {
			return fail(exitUsage, "%s has no MCP server %q", c.Title, name)
		}
	}
	if len(found) == 0 {
		j.view.Line(view.Normal, "%s has no MCP servers here", c.Title)
	}
	for _, e := range found {
		if err := add.takeOne(ctx, j, e); err != nil {
			return err
		}
	}
	return nil
}

// entry is a server of an agent's file.
type entry struct {
	clientfile.Entry
	theirs bool // the file is the project's
}

// found lists the servers of an agent's files: the user's, then the project's.
func (add *adding) found(c clientfile.Client, project string, names []string) (out []entry, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("there is no home directory: %w", err)
	}
	conf, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("there is no directory for configuration: %w", err)
	}
	places := clientfile.Places{Home: home, Config: conf, Project: project, Env: add.app.env}
	for i, file := range []string{c.UserFile(places), c.ProjectFile(places)} {
		text, err := os.ReadFile(file)
		if file == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list, err := c.Servers(text, project)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, e := range list {
			if (len(names) == 0 || slices.Contains(names, e.Name)) && !slices.ContainsFunc(out, func(o entry) bool { return o.Name == e.Name }) {
				out = append(out, entry{e, i > 0})
			}
		}
	}
	return out, nil
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// takeOne adds a server of another agent, after a yes.
func (add *adding) takeOne(ctx context.Context, j *job, e entry) error {
	name := notInName.ReplaceAllString(e.Name, "-")
	s := client.Server{Name: name[:min(len(name), 32)], Command: e.Command, Args: e.Args, Env: e.Env, Dir: e.Dir, URL: e.URL, Headers: e.Headers}
	known := slices.ContainsFunc(j.set.Servers, func(k config.Server) bool { return k.Name == s.Name && !k.Theirs })
	skip := func(why string) error {
		j.view.Line(view.Normal, "%s is left out: %s", view.Clean(e.Name), view.Clean(why))
		return nil
	}
	switch {
	case e.Why != "":
		return skip(e.Why)
	case e.Off:
		return skip("it is switched off there")
	case known:
		return skip("there is one of this name already")
	case add.yes && e.theirs:
		return skip("the project's file names it, and --yes is for your own: say the same without --yes")
	}
	if err := s.Check(); err != nil {
		return skip(err.Error())
	}
	if !add.yes {
		key, ok := j.app.choose(ctx, view.Clean(fmt.Sprintf("\nMCP server %s:\n  %s\n", s.Name, strings.ReplaceAll(s.Whole(), "\n", "\n  ")))+"Take it over, and start it?", "y/n")
		if !ok {
			return fail(exitUsage, "there is nobody to ask: name the servers and say --yes")
		}
		if key != 'y' {
			return skip("you said no")
		}
	}
	return add.put(ctx, j, s)
}
