package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// serveAddress is where the gateway listens unless it is told otherwise.
const serveAddress = "127.0.0.1:4141"

// drain is how long requests may run on after Ctrl-C.
const drain = 30 * time.Second

func (a *app) serveCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "serve", Short: "Pose as OpenAI, Anthropic, Gemini and Ollama in front of a model server", Args: noWords,
		Long: `Serve the APIs of OpenAI (chat completions and Responses), Anthropic and Gemini
in front of a model server, and turn the tool calls that the model writes as text
into calls of the client's API. Without any configuration it stands in front of
the server that it finds on this machine.`,
		Example: "  bx serve\n  ANTHROPIC_BASE_URL=http://127.0.0.1:4141 claude",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", serveAddress, "serve at this `ADDRESS`")
	return cmd
}

func (a *app) serve(ctx context.Context, listen string) error {
	if host, _, err := net.SplitHostPort(listen); err != nil || !backend.Loopback(host) {
		return fail(exitUsage, "--listen %s: want an address of this machine, such as %s: whoever reaches the gateway can use the models behind it", listen, serveAddress)
	}
	j, err := a.begin()
	if err != nil {
		return err
	}
	c, err := j.connect(ctx)
	if err != nil {
		return err
	}
	if c.client == nil {
		return fail(exitBackend, "there is no model to serve: start Ollama, LM Studio, llama.cpp or vLLM on this machine, or name a server with OLLAMA_HOST, OPENAI_BASE_URL or a profile")
	}
	g, err := gateway.New(gateway.Config{Routes: j.routes(ctx, c), NewID: newReplyID, Version: versionText(), Log: j.requestLog()})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("bx serve cannot listen: %w", err)
	}
	j.view.Line(view.Normal, "serving at http://%s (Ctrl-C ends)", l.Addr())
	return serveUntil(ctx, &http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}, l)
}

// routes lead the server's own models to themselves, and every other name to
// the model that was chosen: clients ask for the models of their own vendor.
func (j *job) routes(ctx context.Context, c *connection) []gateway.Route {
	var routes []gateway.Route
	models, err := c.client.Models(ctx)
	if err != nil {
		j.view.Warn("%s does not list its models (%v): every request goes to %s", c.client.Server(), err, c.name)
	}
	for _, m := range models {
		if m.Chat {
			routes = append(routes, gateway.Route{Match: m.ID, Backend: c.client})
		}
	}
	return append(routes, gateway.Route{Match: "*", Backend: c.client, Model: c.name})
}

// requestLog writes a line a request to standard error.
func (j *job) requestLog() *slog.Logger {
	level := slog.LevelInfo
	if j.view.Level == view.Quiet {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(j.app.err, &slog.HandlerOptions{Level: level}))
}

func newReplyID() string { return "bx-" + rand.Text() }

// serveUntil serves until the context ends, then lets requests that run finish.
func serveUntil(ctx context.Context, s *http.Server, l net.Listener) error {
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := s.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.Close()
}
