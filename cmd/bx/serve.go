package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// serveAddress is where the gateway listens unless it is told otherwise.
const serveAddress = "127.0.0.1:4141"

// drain is how long requests may run on after Ctrl-C.
const drain = 30 * time.Second

// serveFlags are the options of bx serve.
type serveFlags struct {
	listen, file, trace, newKey string
	check, explain              bool
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Pose as OpenAI, Anthropic, Gemini and Ollama in front of a model server", Args: noWords,
		Long: `Serve the APIs of OpenAI (chat completions and Responses), Anthropic, Gemini and
Ollama in front of model servers, and turn the tool calls that a model writes as
text into calls of the client's API. Without any configuration it stands in front
of the server that it finds on this machine. docs/gateway.md tells more.`,
		Example: "  bx serve\n  ANTHROPIC_BASE_URL=http://127.0.0.1:4141 claude",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "serve at this `ADDRESS` (default "+serveAddress+")")
	flags.StringVar(&f.file, "file", "", "read backends and routes from this `FILE` (default: serve.toml beside the user's bx.toml)")
	flags.BoolVar(&f.check, "check", false, "check the file, print the routes and end")
	flags.StringVar(&f.trace, "trace", "", "write both sides of every request to a file in this `DIR`, with their content")
	flags.BoolVar(&f.explain, "explain", false, "tell in headers what was mended and lost")
	flags.StringVar(&f.newKey, "new-key", "", "print a new key for the client `NAME` and the lines for the file, and end")
	return cmd
}

func (a *app) serve(ctx context.Context, f serveFlags) error {
	if f.newKey != "" {
		return a.printKey(f.newKey)
	}
	j, err := a.beginServing()
	if err != nil {
		return err
	}
	j.serves = true
	told, end := j.telemetry(ctx, view.Normal, func(why string) { j.view.Warn("%s", why) })
	defer end()
	s := &server{job: j, flags: f, id: rand.Text(), observe: observed(told)}
	c, err := s.load(ctx)
	if err != nil {
		return err
	}
	if f.check {
		return s.printRoutes(c)
	}
	if f.trace != "" {
		trace, err := openTrace(f.trace)
		if err != nil {
			return err
		}
		defer trace.close()
		s.trace = trace.write
		c.Trace = s.trace
		j.view.Warn("the content of every request is written to %s", trace.name)
	}
	return s.run(ctx, c)
}

// server is bx serve at work.
type server struct {
	*job
	flags serveFlags
	id    string // by which it knows itself
	file  string // the file in force; "": none
	read  *serving.File
	trace func(gateway.Trace)

	observe func(gateway.Report)
}

// run serves until the context ends.
func (s *server) run(ctx context.Context, c gateway.Config) error {
	listen, err := s.address()
	if err != nil {
		return err
	}
	g, err := gateway.New(c)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("bx serve cannot listen: %w", err)
	}
	s.view.Line(view.Normal, "serving at http://%s (Ctrl-C ends)", l.Addr())
	if c.Absent != "" {
		s.view.Warn("%s", c.Absent)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.absent(ctx, c)
	if s.file != "" {
		go s.watch(ctx, g)
	}
	defer s.slack()()
	go rest(ctx, g)
	grace := drain
	if d := s.read.Limits.Drain; d > 0 {
		grace = time.Duration(d)
	}
	return serveUntil(ctx, &http.Server{Handler: unlooped(&finding{server: s, g: g}, s.id), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug)}, l, grace)
}

// address is where to listen. Whoever reaches the gateway can use the models
// behind it, so others than this machine need keys.
func (s *server) address() (string, error) {
	listen := serveAddress
	for _, set := range []string{s.read.Listen, s.flags.listen} {
		if set != "" {
			listen = set
		}
	}
	host, _, err := net.SplitHostPort(listen)
	switch {
	case err != nil:
		return "", fail(exitUsage, "listen %s: want HOST:PORT, such as %s", listen, serveAddress)
	case !backend.Loopback(host) && len(s.read.Clients) == 0:
		return "", fail(exitUsage, "%s can be reached from other machines, and whoever reaches the gateway can use the models behind it: add [[clients]] with keys to %s (bx serve --new-key NAME makes one), or listen at %s", listen, s.fileName(), serveAddress)
	}
	return listen, nil
}

// requestLog writes a line a request to standard error.
func (j *job) requestLog() *slog.Logger {
	level := slog.LevelInfo
	switch j.view.Level {
	case view.Quiet:
		level = slog.LevelWarn
	case view.Debug:
		level = slog.LevelDebug
	}
	if j.app.json {
		return slog.New(slog.NewJSONHandler(j.app.err, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(slog.NewTextHandler(j.app.err, &slog.HandlerOptions{Level: level}))
}

func newReplyID() string { return rand.Text() }

// printKey makes a client's key. Only its hash is for the file.
func (a *app) printKey(name string) error {
	key := "bx-" + rand.Text()
	fmt.Fprintf(a.out, "%s\n", key)
	fmt.Fprintf(a.err, "Give the key to %s; it is not kept. The file of bx serve gets\n\n[[clients]]\nname = %q\nkey_sha256 = \"%x\"\n", name, name, sha256.Sum256([]byte(key)))
	return nil
}

// serveUntil serves until the context ends, then lets requests that run finish.
func serveUntil(ctx context.Context, s *http.Server, l net.Listener, grace time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := s.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.Close()
}
