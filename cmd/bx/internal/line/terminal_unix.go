//go:build unix

package line

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a terminal that keys are read from.
type Terminal struct {
	in     *os.File
	wakes  [2]*os.File // a byte in the first ends a wait
	found  *unix.Termios
	resize chan os.Signal

	mu   sync.Mutex // guards what follows
	mode mode
}

// Open takes over a terminal; Close gives it back.
func Open(in *os.File) (*Terminal, error) {
	found, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	if err != nil {
		return nil, ErrNoTerminal
	}
	t := &Terminal{in: in, found: found, resize: make(chan os.Signal, 1)}
	if t.wakes[0], t.wakes[1], err = os.Pipe(); err != nil {
		return nil, err
	}
	signal.Notify(t.resize, unix.SIGWINCH, unix.SIGCONT)
	go func() {
		for s := range t.resize {
			if s == unix.SIGCONT {
				_ = t.set(t.now())
			}
			t.wake()
		}
	}()
	return t, nil
}

// Close leaves the terminal as it was found.
func (t *Terminal) Close() error {
	signal.Stop(t.resize)
	close(t.resize)
	return errors.Join(t.set(asFound), t.wakes[0].Close(), t.wakes[1].Close())
}

// ask forgets what was typed so far and shows what is typed, in lines, until end
// is called.
func (t *Terminal) ask() (end func()) {
	was := t.now()
	_ = unix.IoctlSetTermios(int(t.in.Fd()), setAndForget, t.found)
	_ = t.set(asFound)
	return func() { _ = t.set(was) }
}

// Lend gives the terminal to another program as it was found, until end is called.
func (t *Terminal) Lend() (end func()) {
	was := t.now()
	_ = t.set(asFound)
	return func() { _ = t.set(was) }
}

func (t *Terminal) now() mode {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mode
}

func (t *Terminal) set(m mode) error {
	s := *t.found
	switch m {
	case keysNow:
		s.Iflag &^= unix.BRKINT | unix.ICRNL | unix.INLCR | unix.IGNCR | unix.INPCK | unix.ISTRIP | unix.IXON
		s.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.IEXTEN | unix.ISIG
		s.Cc[unix.VMIN], s.Cc[unix.VTIME] = 1, 0
	case unseen:
		s.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR | unix.IXON
		s.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON
		s.Cc[unix.VMIN], s.Cc[unix.VTIME] = 1, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mode = m
	return unix.IoctlSetTermios(int(t.in.Fd()), setTermios, &s)
}

// Size is the columns and rows; 80 and 24 where they are not known.
func (t *Terminal) Size() (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(t.in.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

func (t *Terminal) wake() { _, _ = t.wakes[1].Write([]byte{0}) }

// read waits for what is typed. Nothing and no error is that something else
// happened, or that the time is over; a time of 0 has no end.
func (t *Terminal) read(ctx context.Context, limit time.Duration) ([]byte, error) {
	defer context.AfterFunc(ctx, t.wake)()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	typed, woken, err := ready(int(t.in.Fd()), int(t.wakes[0].Fd()), limit)
	b := make([]byte, 4096)
	if woken {
		_, _ = t.wakes[0].Read(b)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || !typed:
		return nil, err
	}
	n, err := unix.Read(int(t.in.Fd()), b)
	if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
		return nil, nil
	}
	if err == nil && n == 0 {
		err = errClosed
	}
	return b[:max(n, 0)], err
}

// ready waits until one of two files can be read.
func ready(a, b int, limit time.Duration) (isA, isB bool, err error) {
	var set unix.FdSet
	set.Set(a)
	set.Set(b)
	var t *unix.Timeval
	if limit > 0 {
		tv := unix.NsecToTimeval(limit.Nanoseconds())
		t = &tv
	}
	_, err = unix.Select(max(a, b)+1, &set, nil, nil, t)
	if errors.Is(err, unix.EINTR) {
		return false, false, nil
	}
	return err == nil && set.IsSet(a), err == nil && set.IsSet(b), err
}

// Wait waits until a file can be read, or ctx ends.
func Wait(ctx context.Context, f *os.File) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()
	defer context.AfterFunc(ctx, func() { _, _ = w.Write([]byte{0}) })()
	for ctx.Err() == nil {
		if typed, _, err := ready(int(f.Fd()), int(r.Fd()), 0); typed || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// suspend stops the program, as Ctrl-Z does, until it is continued.
func (t *Terminal) suspend() {
	was := t.now()
	_ = t.set(asFound)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	_ = t.set(was)
}
