package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

func (a *app) mockCommand() *cobra.Command {
	var listen string
	var chunk int
	cmd := &cobra.Command{
		Use: "mock SCRIPT", Short: "Play a scripted model over HTTP, to test agents without a model",
		Long: `Play a scripted model over HTTP: Ollama's API and OpenAI's chat completions,
whole and streamed. Each request is printed as a line of JSON. The script's form
is in docs/mock.md.`,
		Example: "  bx mock testdata/search.txtar &\n  OLLAMA_HOST=127.0.0.1:11435 bx \"Where is main?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(exitUsage, "bx mock wants one SCRIPT, not %d", len(args))
			}
			return a.mock(cmd.Context(), args[0], listen, chunk)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:11435", "serve at this `ADDRESS`")
	cmd.Flags().IntVar(&chunk, "chunk", 0, "cut text into pieces of `N` bytes, whatever the script says")
	return cmd
}

func (a *app) mock(ctx context.Context, file, listen string, chunk int) error {
	script, err := fake.Load(file)
	if err != nil {
		return err
	}
	if chunk > 0 {
		script.Chunk = chunk
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("bx mock cannot listen: %w", err)
	}
	mock := fake.New(script)
	mock.Log = a.out
	fmt.Fprintf(a.err, "playing %s at http://%s (Ctrl-C ends)\n", file, l.Addr())
	server := &http.Server{Handler: mock, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err = <-done:
		return err
	case <-ctx.Done():
	}
	if err := server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return mock.Err()
}
