// Command te runs the commands that agents know from the shell, as grep, find
// and cat, and shows what they found as a tool envelope: facts in one line, the
// best first, what was left out, and a handle for all of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/commands"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(commands.Main(ctx, commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Getenv, build.Line(), os.Args[1:]))
}
