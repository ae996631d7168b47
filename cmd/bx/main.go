// Command bx answers questions about a repository by letting a model call
// tools: search, read, list and, when asked to, edit.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

func main() {
	if handled, code := sandboxed(); handled {
		os.Exit(code)
	}
	os.Exit(run())
}

func run() int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-asked
		signal.Stop(asked) // first: the next one ends the program at once
		stop()
	}()
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv}
	return a.report(ctx, newRoot(a).ExecuteContext(ctx))
}

// Exit codes. docs/cli.md explains them.
const (
	exitOK          = 0
	exitError       = 1 // also: no question
	exitUsage       = 2
	exitBackend     = 3
	exitNoSession   = 4
	exitConfig      = 5
	exitDenied      = 6
	exitInterrupted = 130
)

// exitKinds name the codes in JSON.
var exitKinds = map[int]string{exitError: "error", exitUsage: "usage", exitBackend: "backend", exitNoSession: "no_session",
	exitConfig: "config", exitDenied: "denied", exitInterrupted: "interrupted"}

// exitTexts are for manual pages.
var exitTexts = map[int]string{exitOK: "It went well.", exitError: "An error that is none of the others.", exitUsage: "The command line is wrong, or asks nothing.",
	exitBackend: "The server cannot be reached, refused, broke off, or gave no answer.", exitNoSession: "There is no such session.",
	exitConfig: "The configuration is wrong.", exitDenied: "An answer was printed, and a call did not run for want of a yes.", exitInterrupted: "Interrupted."}

// errSaid is an error of which everything has been said.
var errSaid = errors.New("")

// coded is an error with its exit code.
type coded struct {
	code int
	err  error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

func fail(code int, format string, a ...any) error {
	return &coded{code, fmt.Errorf(format, a...)}
}

// report prints an error and gives the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	switch {
	case errors.Is(err, errSaid):
		return code
	case ctx.Err() != nil:
		fmt.Fprintln(a.err, "bx: interrupted")
	default:
		printError(a.err, err)
	}
	if a.printsJSON() && !a.told {
		_ = view.JSON(a.out, map[string]view.Failure{"error": {Code: code, Kind: exitKinds[code], Message: message(ctx, err)}})
	}
	return code
}

// printsJSON also holds where the command line broke off before --json was read.
func (a *app) printsJSON() bool {
	return a.json || a.streams() || slices.ContainsFunc(os.Args, func(s string) bool { return s == "--json" || s == "--output-format=json" })
}

func message(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return err.Error()
}

func exitCode(ctx context.Context, err error) int {
	var c *coded
	var bad *config.Error
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &bad):
		return exitConfig
	}
	return exitError
}

func printError(w io.Writer, err error) {
	var bad *config.Error
	if errors.As(err, &bad) {
		fmt.Fprintf(w, "bx: %v\n", bad)
		if bad.Excerpt != "" {
			fmt.Fprintln(w, bad.Excerpt)
		}
		return
	}
	fmt.Fprintf(w, "bx: %v\n", err)
}
