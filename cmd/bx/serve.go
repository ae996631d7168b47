package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/record"
)

// serveAddress is where the gateway listens unless it is told otherwise, and
// uiAddress and adminAddress where its dashboard and its administration are as
// --new-operator-key and --new-admin-key write them.
const (
	serveAddress = "127.0.0.1:4141"
	uiAddress    = "127.0.0.1:4142"
	adminAddress = "127.0.0.1:4144"
)

// Bounds of a connection's idle time and of the head of a request.
const (
	headTime = 10 * time.Second
	idleTime = 2 * time.Minute
	maxHead  = 64 << 10
)

// serveFlags are the options of bx serve.
type serveFlags struct {
	listen, probes, file, trace, newKey string
	check, ready, explain               bool
	operator, admin                     bool
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
	flags.StringVar(&f.listen, "listen", "", "serve at this `ADDRESS` (default "+serveAddress+"), or at unix:PATH")
	flags.StringVar(&f.probes, "probes", "", "answer /healthz, /readyz and /metrics at this `ADDRESS`, without a key")
	flags.BoolVar(&f.ready, "check-ready", false, "ask the gateway that runs whether it is ready, and end with 0 or 1")
	flags.StringVar(&f.file, "file", "", "read backends and routes from this `FILE` (default: serve.toml beside the user's bx.toml)")
	flags.BoolVar(&f.check, "check", false, "check the file, print the routes and end")
	flags.StringVar(&f.trace, "trace", "", "write both sides of every request to a file in this `DIR`, with their content")
	flags.BoolVar(&f.explain, "explain", false, "tell in headers what was mended and lost")
	flags.StringVar(&f.newKey, "new-key", "", "print a new key for the client `NAME` and the lines for the file, and end")
	flags.BoolVar(&f.operator, "new-operator-key", false, "print a new key for the dashboard and the lines for the file, and end")
	flags.BoolVar(&f.admin, "new-admin-key", false, "print a new key for administering keys over HTTP and the lines for the file, and end")
	return cmd
}

func (a *app) serve(ctx context.Context, f serveFlags) error {
	if f.newKey != "" {
		return a.printKey(f.newKey, "[[clients]]\nname = "+strconv.Quote(f.newKey))
	}
	if f.operator {
		return a.printKey("whoever may see the dashboard", "[ui]\nlisten = "+strconv.Quote(uiAddress))
	}
	if f.admin {
		return a.printKey("whoever may administer keys and budgets", "[admin]\nlisten = "+strconv.Quote(adminAddress))
	}
	j, err := a.beginServing()
	if err != nil {
		return err
	}
	j.serves = true
	if f.ready {
		return (&server{job: j, flags: f}).checkReady(ctx)
	}
	told, end := j.sinks(ctx, record.ByServe, view.Normal, func(why string) { j.view.Warn("%s", why) })
	defer end()
	s := &server{job: j, flags: f, id: rand.Text(), observe: told.served, content: told.kept}
	if err := s.readFile(); err != nil {
		return err
	}
	if !f.check {
		if s.common, err = s.openCommon(ctx, s.read); err != nil {
			return err
		}
		defer s.common.close()
	}
	c, err := s.config(ctx)
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
	id    string                       // by which it knows itself
	file  string                       // the file in force; "": none
	read  *serving.File                // as it was at the start
	now   atomic.Pointer[serving.File] // as it was read last
	trace func(gateway.Trace)

	common  common       // with other replicas
	issuer  *oidc.Issuer // of tokens; nil: there is none
	observe func(gateway.Report)
	content func(record.Content)
}

// run serves until the context ends.
func (s *server) run(ctx context.Context, c gateway.Config) error {
	at, err := s.places()
	if err != nil {
		return err
	}
	g, err := gateway.New(c)
	if err != nil {
		return err
	}
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	h := &hall{gateway: g, stop: stop, grace: s.grace, notify: s.notify, say: func(format string, a ...any) { s.view.Line(view.Normal, format, a...) }}
	serve := func(p place, handler http.Handler) error {
		l, err := p.open()
		if err != nil {
			return err
		}
		h.add(&http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return base }, TLSConfig: p.tls,
			ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
			ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug)}, l)
		return nil
	}
	defer h.close()
	find := &finding{server: s, g: g}
	if at.probes.address != "" {
		if err := serve(at.probes, find.before(g.Probes())); err != nil {
			return err
		}
		s.view.Line(view.Normal, "probes at %s", h.url(at.probes))
	}
	if at.ui.address != "" {
		d, end, err := s.dash(ctx)
		if err != nil {
			return err
		}
		defer end()
		if err := serve(at.ui, d); err != nil {
			return err
		}
		s.view.Line(view.Normal, "dashboard at %s/ui/", h.url(at.ui))
		s.warnOfKey("dashboard", at.ui)
	}
	if at.admin.address != "" {
		sum, err := s.read.Admin.Hash()
		if err != nil {
			return err
		}
		if err := serve(at.admin, s.common.admin(sum, c.Log)); err != nil {
			return err
		}
		s.view.Line(view.Normal, "administration at %s", h.url(at.admin))
		s.warnOfKey("administration", at.admin)
	}
	if err := g.Join(ctx); err != nil {
		return fail(exitBackend, "[ledger]: %w", err)
	}
	if err := serve(at.clients, unlooped(find.before(g), s.id)); err != nil {
		return err
	}
	s.view.Line(view.Normal, "serving at %s (Ctrl-C ends)", h.url(at.clients))
	if c.Absent != "" {
		s.view.Warn("%s", c.Absent)
	}
	watching, end := context.WithCancel(ctx)
	defer end()
	s.absent(watching, c)
	if s.file != "" {
		go s.watch(watching, g)
	}
	defer s.slack()()
	go rest(watching, g)
	if s.common != (common{}) {
		tending, enough := context.WithCancel(context.WithoutCancel(ctx)) // while requests run out, too
		defer enough()
		go g.Tend(tending)
		go s.common.prune(tending)
		defer func() {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFrames)
			defer cancel()
			g.Leave(last)
		}()
	}
	return h.serve(ctx)
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

// printKey makes a key for somebody. Only its hash is for the file, below the
// lines of its table.
func (a *app) printKey(who, lines string) error {
	key := newKeyText()
	fmt.Fprintf(a.out, "%s\n", key)
	fmt.Fprintf(a.err, "Give the key to %s; it is not kept. The file of bx serve gets\n\n%s\nkey_sha256 = \"%x\"\n", who, lines, sha256.Sum256([]byte(key)))
	return nil
}
