//go:build !unix

package line

import (
	"context"
	"os"
	"time"
)

// Terminal is a terminal that keys are read from. On this system there is none:
// its own line editing is used.
type Terminal struct{}

// Open says ErrNoTerminal.
func Open(*os.File) (*Terminal, error) { return nil, ErrNoTerminal }

// Close does nothing.
func (*Terminal) Close() error { return nil }

// Lend does nothing.
func (*Terminal) Lend() (end func()) { return func() {} }

// Size is not known.
func (*Terminal) Size() (columns, rows int) { return 80, 24 }

func (*Terminal) set(mode) error    { return nil }
func (*Terminal) ask() (end func()) { return func() {} }
func (*Terminal) wake()             {}
func (*Terminal) suspend()          {}

func (*Terminal) read(context.Context, time.Duration) ([]byte, error) { return nil, ErrNoTerminal }

// Wait does not wait: a read of the console cannot be ended.
func Wait(ctx context.Context, _ *os.File) error { return ctx.Err() }
