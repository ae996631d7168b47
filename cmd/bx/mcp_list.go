package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

func (a *app) mcpListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Args: noWords, Short: "List the MCP servers whose tools the model gets",
		Long: `List the MCP servers whose tools the model gets: those of your bx.toml and of the
repository's. No server is started; bx mcp test starts them.`,
		RunE: func(*cobra.Command, []string) error {
			j, err := a.beginAnywhere()
			if err != nil {
				return err
			}
			return j.listServers()
		},
	}
}

// listedServer is a server as bx mcp list and test show it.
type listedServer struct {
	Name    string              `json:"name"`
	Where   string              `json:"where"`
	Tier    utp.Tier            `json:"tier"`
	State   string              `json:"state"`
	Listed  *time.Time          `json:"listed,omitempty"`
	About   *client.About       `json:"about,omitempty"`
	Seconds float64             `json:"seconds,omitempty"`
	Tools   []client.ToolReport `json:"tools"`
	Error   string              `json:"error,omitempty"`
}

func (j *job) listServers() error {
	out := []listedServer{}
	for _, s := range j.set.Servers {
		known, err := j.pool([]client.Server{s.Server}, nil)
		if err != nil {
			return err
		}
		r := known.pool.Reports()[0]
		known.close()
		one := shownServer(r, nil)
		one.State = j.state(s, r)
		out = append(out, one)
	}
	if j.app.json {
		return view.JSON(j.app.out, out)
	}
	if len(out) == 0 {
		j.view.Line(view.Normal, "there are no MCP servers: bx mcp add NAME -- COMMAND adds one, and bx mcp add --from takes over those of another agent")
		return nil
	}
	for _, s := range out {
		j.app.say(s.Name+" ", "%s", view.Clean(s.Where))
		j.app.say("", "tier %s; %s", s.Tier, s.State)
	}
	return nil
}

// state says whether a server is used, and what is known of it.
func (j *job) state(s config.Server, r client.Report) string {
	state := "not asked yet"
	if !r.Listed.IsZero() {
		state = fmt.Sprintf("%s, as of %s ago", view.Count(len(r.Tools), "tool"), view.Age(time.Since(r.Listed)))
	}
	if r.Changed > 0 {
		state += fmt.Sprintf("; %d changed since they ran", r.Changed)
	}
	if s.Off {
		return "off (enabled = false)"
	}
	if !s.Theirs {
		return state
	}
	switch j.said(s) {
	case client.Yes:
		return state + "; of the repository, you said yes"
	case client.No:
		return "of the repository, you said no (bx mcp test " + s.Name + " asks again)"
	}
	return "of the repository, not used without your yes (bx mcp test " + s.Name + " asks)"
}

func shownServer(r client.Report, err error) listedServer {
	one := listedServer{Name: r.Name, Where: r.Where, Tier: r.Tier, Tools: append([]client.ToolReport{}, r.Tools...)}
	if !r.Listed.IsZero() {
		one.Listed = &r.Listed
	}
	if r.About != (client.About{}) {
		one.About = &r.About
	}
	if err != nil {
		one.Error = err.Error()
	}
	return one
}

func (a *app) mcpTestCommand() *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use: "test [NAME]…", Short: "Start MCP servers and list their tools",
		Long: `Start MCP servers, all or those that are named, and list their tools: what models
call them, their tier, and why one is not offered. A server of the repository is asked
about first, one with a login is logged in to. Tools that describe themselves in
another way than when they ran are shown; --accept allows them again.`,
		Example: "  bx mcp test\n  bx mcp test github --accept",
		RunE: func(cmd *cobra.Command, names []string) error {
			j, err := a.beginAnywhere()
			if err != nil {
				return err
			}
			return j.testServers(cmd.Context(), names, accept)
		},
	}
	cmd.Flags().BoolVar(&accept, "accept", false, "allow changed tools again, as they describe themselves now")
	return cmd
}

func (j *job) testServers(ctx context.Context, names []string, accept bool) error {
	for _, name := range names {
		if !slices.ContainsFunc(j.set.Servers, func(s config.Server) bool { return s.Name == name }) {
			return j.noServer(name)
		}
	}
	out, failed := []listedServer{}, false
	for _, s := range j.set.Servers {
		if len(names) > 0 && !slices.Contains(names, s.Name) || len(names) == 0 && s.Off {
			continue
		}
		one, err := j.testServer(ctx, s, accept)
		if err != nil {
			return err
		}
		failed = failed || one.Error != ""
		out = append(out, one)
		if !j.app.json {
			j.showTest(one)
		}
	}
	if j.app.json {
		if err := view.JSON(j.app.out, out); err != nil {
			return err
		}
	}
	if failed {
		return &coded{exitError, errSaid}
	}
	return nil
}

func (j *job) noServer(name string) error {
	var names []string
	for _, s := range j.set.Servers {
		names = append(names, s.Name)
	}
	want := "none is configured"
	if len(names) > 0 {
		want = "want one of " + strings.Join(names, ", ")
	}
	return fail(exitUsage, "there is no MCP server %q: %s", name, want)
}

// loginTime is how long somebody may take to log in.
const loginTime = 5 * time.Minute

func (j *job) testServer(ctx context.Context, s config.Server, accept bool) (listedServer, error) {
	if s.Theirs && !j.agreed(ctx, s, true) {
		return listedServer{Name: s.Name, Where: s.Where(), Tier: utp.TierRun, Tools: []client.ToolReport{}, Error: "not started without your yes"}, nil
	}
	var login func(context.Context, client.Page) error
	if s.OAuth != nil {
		login, s.StartTimeout = j.logIn, loginTime
	}
	set, err := j.pool([]client.Server{s.Server}, login)
	if err != nil {
		return listedServer{}, err
	}
	defer set.close()
	start := time.Now()
	r, err := set.pool.Test(ctx, s.Name)
	one := shownServer(r, err)
	one.Seconds = time.Since(start).Seconds()
	if err == nil && accept {
		return one, set.pool.Accept(s.Name)
	}
	return one, ctx.Err()
}

// logIn shows the user the page of a login.
func (j *job) logIn(_ context.Context, p client.Page) error {
	if _, _, end, ok := j.app.person(); ok {
		end()
		j.view.Line(view.Normal, "log in to the MCP server %s on this page, in a browser on this machine:\n  %s", p.Server, view.Clean(p.URL))
		return nil
	}
	return errors.New("it wants a login, and nobody is at the terminal")
}

func (j *job) showTest(s listedServer) {
	if s.Error != "" {
		j.app.say(s.Name+" ", "%s", view.Clean(s.Where))
		j.app.say("", "failed: %s", view.Clean(s.Error))
		return
	}
	about := ""
	if s.About != nil {
		about = fmt.Sprintf(" (%s)", strings.Join(strings.Fields(s.About.Name+" "+s.About.Version+", protocol "+s.About.Protocol), " "))
	}
	j.app.say(s.Name+" ", "%s%s: %s in %.1f s", view.Clean(s.Where), view.Clean(about), view.Count(len(s.Tools), "tool"), s.Seconds)
	for _, t := range s.Tools {
		text, _, _ := strings.Cut(t.Text, "\n")
		switch {
		case t.Refused != "":
			text = "not offered: " + t.Refused
		case t.Changed:
			text = "CHANGED since it ran: " + t.Text
		}
		j.app.say("", "%s (%s): %s", t.As, t.Tier, view.Clean(text))
	}
}

func (a *app) mcpRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME…", Args: cobra.MinimumNArgs(1), Short: "Take MCP servers out of your bx.toml",
		Long: `Take MCP servers out of your bx.toml, and forget what is known of them: their tools,
what was allowed, and logins.`,
		RunE: func(_ *cobra.Command, names []string) error {
			j, err := a.beginAnywhere()
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := j.removeServer(name); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (j *job) removeServer(name string) error {
	file := userFile()
	was, err := config.RemoveServer(file, name, j.set.Dialects)
	if err != nil {
		return err
	}
	if !was {
		return fail(exitUsage, "%s has no MCP server %q", file, name)
	}
	if dir, err := j.knownDir(); err == nil {
		if err := client.Forget(dir, name); err != nil {
			j.view.Warn("what is known of %s is not forgotten: %v", name, err)
		}
	}
	j.view.Line(view.Normal, "%s is taken out of %s", name, file)
	return nil
}

// userFile is the user's own configuration.
func userFile() string { return filepath.Join(dirs.User(), "bx.toml") }
