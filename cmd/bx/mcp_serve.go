package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
	"github.com/unifiedtoolprotocol/utp/mcp"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// mcpServing is how bx mcp serve was started.
type mcpServing struct {
	app    *app
	listen string   // HOST:PORT or unix:PATH; "" is standard input and output
	hosts  []string // names of this machine

	mode       string
	structured bool
}

func (a *app) mcpServeCommand() *cobra.Command {
	s := &mcpServing{app: a}
	cmd := &cobra.Command{
		Use: "serve", Args: noWords, RunE: s.run,
		Short: "Serve the tools over standard input and output, or over HTTP",
		Long: `Serve the tools to MCP clients, over standard input and output or, with --listen,
over HTTP. Name the repository with --root: clients start servers anywhere.
bx mcp install writes what a client needs to know into its configuration.

Tools of tier RUN are listed only with --tier run, and run only when the client's
user says yes to a question, or with --allow run. The tool shell is listed only
with --allow shell.

Over HTTP every client sends the key that bx mcp key prints.`,
		Example: `  bx mcp serve --root ~/src/project
  bx mcp serve --root . --tier run --allow run
  bx mcp serve --root . --listen 127.0.0.1:8765`,
	}
	cmd.Flags().StringVar(&s.listen, "listen", "", "serve over HTTP at this `ADDRESS`: HOST:PORT, such as 127.0.0.1:8765, or unix:PATH")
	cmd.Flags().StringSliceVar(&s.hosts, "host", nil, "with --listen: this machine is reached under `NAME` too")
	cmd.Flags().StringVar(&s.mode, "mode", "classic", "list tools in this `MODE`: classic, every one; hybrid, a few and one through which the others are called")
	cmd.Flags().BoolVar(&s.structured, "structured", false, "results as structured content too; some clients then show a model nothing else")
	return cmd
}

func (s *mcpServing) run(cmd *cobra.Command, _ []string) error {
	if s.listen == "" && len(s.hosts) > 0 {
		return fail(exitUsage, "--host is for --listen: standard input and output have no names")
	}
	if s.mode != "classic" && s.mode != "hybrid" {
		return fail(exitUsage, "--mode %s: want classic or hybrid", s.mode)
	}
	s.app.serving = true
	return s.app.withTools(func(j *job, tools *tool.Set) error {
		list := slices.DeleteFunc(tools.Tools(), func(t utp.Tool) bool { return t.Name == tool.ShellName && !slices.Contains(s.app.allow, t.Name) })
		o := &offer{whole: j, known: schema.Compile(list), narrow: map[string]*job{}}
		defer o.close()
		server, err := mcp.New(s.config(o, list))
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(cmd.Context())
		defer stop()
		go server.Watch(ctx, lookForFiles)
		if s.listen == "" {
			return server.Stdio(ctx)
		}
		return s.overHTTP(ctx, j, server)
	})
}

// lookForFiles is how often the list of resources is looked through.
const lookForFiles = 5 * time.Second

// hybrid are the tools that --mode hybrid lists, as far as the tier has them.
var hybrid = []string{"search_code", "read_file", "list_dir", "edit_block", "write_file", tool.ShellName}

func (s *mcpServing) config(o *offer, list []utp.Tool) mcp.Config {
	c := mcp.Config{Name: "bx", Version: build.Version(), Tools: list, Tier: o.whole.set.Tier, Runner: o, Structured: s.structured, Prompts: o.prompts()}
	if s.mode == "hybrid" {
		c.Few = hybrid
	}
	if c.Tier >= utp.TierWalk {
		c.Resources = &mcp.Resources{Base: strings.TrimSuffix(mcp.FileURI(o.whole.root), "/") + "/", List: o.resources, Reader: wholeFiles{o}}
	}
	return c
}

// overHTTP serves until the context ends.
func (s *mcpServing) overHTTP(ctx context.Context, j *job, server *mcp.Server) error {
	at := place{address: s.listen, mode: 0o600}
	host, _, err := net.SplitHostPort(at.address)
	if err != nil && !at.isSocket() {
		return fail(exitUsage, "--listen %s: want HOST:PORT, such as 127.0.0.1:8765, or unix:PATH", at.address)
	}
	access := mcp.Access{Hosts: s.hosts}
	if !at.isSocket() {
		if access.Key, err = s.app.mcpKey(); err != nil {
			return err
		}
	}
	l, err := at.open()
	if err != nil {
		return err
	}
	web := &http.Server{Handler: server.Handler(access), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	switch {
	case at.isSocket():
		j.view.Line(view.Normal, "serving at %s (Ctrl-C ends)", at.address)
	default:
		j.view.Line(view.Normal, "serving at http://%s/mcp (Ctrl-C ends); clients send the key that bx mcp key prints", l.Addr())
		if !backend.Loopback(host) {
			j.view.Warn("%s can be reached from other machines, and the key crosses the network as it is: put a proxy with TLS in front", at.address)
		}
	}
	return until(ctx, server, web, l)
}

// until serves until the context ends, and gives what runs then a moment to
// answer.
func until(ctx context.Context, server *mcp.Server, web *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFrames)
	defer cancel()
	err := errors.Join(server.Close(), web.Shutdown(last))
	if errors.Is(err, context.DeadlineExceeded) {
		err = web.Close()
	}
	return err
}
