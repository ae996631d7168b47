package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// dashAddress is where the dashboard of bx dash is, unless that is taken or the
// command line says otherwise.
const dashAddress = "127.0.0.1:4143"

func (a *app) dashCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "dash", Short: "Show in a browser how well models call tools, and read pasted replies", Args: noWords,
		Long: `Serve the dashboard to this machine alone and print a link to it: live requests,
success over time, dialects, repairs, tools, tokens, and a box that reads any
pasted reply. The link lets one browser in, once; after its use the next one is
printed. docs/dashboard.md tells more, also of the dashboard of bx serve.`,
		Example: "  bx dash\n  bx dash --listen 127.0.0.1:8000",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.dash(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", "", "serve at this `ADDRESS` of this machine (default "+dashAddress+", or a free port)")
	return cmd
}

func (a *app) dash(ctx context.Context, listen string) error {
	j, err := a.beginServing()
	if err != nil {
		return err
	}
	if host, _, err := net.SplitHostPort(listen); listen != "" && (err != nil || !backend.Loopback(host)) {
		return fail(exitUsage, "--listen %s: want an address of this machine, such as %s; for others, [ui] of bx serve has a key (docs/dashboard.md)", listen, dashAddress)
	}
	l, err := listenLocal(listen)
	if err != nil {
		return err
	}
	used := make(chan struct{}, 1)
	c, end, err := j.dashboard(ctx)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer end()
	c.Used = func() {
		select {
		case used <- struct{}{}:
		default:
		}
	}
	d := dash.New(c)
	base := "http://" + l.Addr().String()
	fmt.Fprintln(a.out, d.Link(base))
	j.view.Line(view.Normal, "this link to the dashboard works once (Ctrl-C ends)")
	s := &http.Server{Handler: d, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	for {
		select {
		case err := <-failed:
			return err
		case <-used:
			j.view.Line(view.Normal, "the link was used; the next one: %s", d.Link(base))
		case <-ctx.Done():
			d.Close()
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFrames)
			defer cancel()
			return errors.Join(s.Shutdown(last), s.Close())
		}
	}
}

// listenLocal listens at an address, or at the usual one, or at a free port.
func listenLocal(address string) (net.Listener, error) {
	if address != "" {
		return place{address: address}.open()
	}
	l, err := place{address: dashAddress}.open()
	if err != nil {
		return place{address: "127.0.0.1:0"}.open()
	}
	return l, nil
}

// dashboard is what every dashboard shows.
func (j *job) dashboard(ctx context.Context) (c dash.Config, end func(), err error) {
	o, err := j.app.readingOptions(parseFlags{input: "auto"})
	if err != nil {
		return c, nil, err
	}
	c = dash.Config{Reader: explainer(o), Now: time.Now}
	f, absent, err := j.figures(ctx)
	if err != nil {
		return c, nil, err
	}
	if c.Absent = absent; f != nil {
		c.Source = f
	}
	return c, f.close, nil
}

// explainer reads pasted replies as bx parse does.
func explainer(o reading.Options) dash.Reader {
	return func(p dash.Pasted) (any, error) {
		o := o
		if strings.TrimSpace(p.Tools) != "" {
			tools, err := reading.ParseTools([]byte(p.Tools))
			if err != nil {
				return nil, err
			}
			o.Tools = tools
		}
		o.Dialects.Model, o.Cut = p.Model, p.Cut
		return reading.Explain(o, p.Text)
	}
}

// dash is the dashboard of the gateway.
func (s *server) dash(ctx context.Context) (d *dash.Dash, end func(), err error) {
	c, end, err := s.dashboard(ctx)
	if err != nil {
		return nil, nil, err
	}
	if c.Key, err = s.read.UI.Hash(); err != nil {
		end()
		return nil, nil, err
	}
	c.Hosts = s.read.Hosts
	return dash.New(c), end, nil
}
