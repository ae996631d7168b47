package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// What Open and Read refuse.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("file is too large")
	ErrBinary     = errors.New("file is not text")
)

// patience is how long a read may wait for a file that only looks like a
// regular one, as /proc/kmsg does.
const patience = time.Second

// impatient bounds the reads of a file. Those of a real file never wait, and
// then there is nothing to bound.
func impatient(f *os.File) *os.File {
	_ = f.SetReadDeadline(time.Now().Add(patience))
	return f
}

// Open opens a regular file for reading. It never blocks: a FIFO or a device
// is ErrNotRegular.
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return impatient(f), info, nil
}

// Read reads a text file of at most limit bytes.
func Read(root *os.Root, name string, limit int64) ([]byte, error) {
	f, info, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	room := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead))
	_, err = room.ReadFrom(io.LimitReader(f, limit+1))
	src := room.Bytes()
	switch {
	case err != nil:
		return nil, err
	case int64(len(src)) > limit:
		return nil, fmt.Errorf("%s: more than %d bytes: %w", name, limit, ErrTooLarge)
	case Binary(src):
		return nil, fmt.Errorf("%s: %w", name, ErrBinary)
	}
	return src, nil
}

// Binary reports a NUL within the first 8000 bytes, which is git's rule.
func Binary(src []byte) bool {
	return bytes.IndexByte(src[:min(len(src), 8000)], 0) >= 0
}
