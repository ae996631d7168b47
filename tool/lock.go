package tool

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lock keeps every other writer of the root out, in this process and in others,
// from reading a file to replacing it. It lasts as long as one call.
func (s *Set) lock(ctx context.Context) (unlock func(), err error) {
	s.writing.Lock()
	dir, err := s.root.Open(".")
	if err != nil {
		s.writing.Unlock()
		return nil, fmt.Errorf("the root cannot be opened: %w", bare(err))
	}
	for {
		err := tryLock(dir)
		switch {
		case err == nil, errors.Is(err, errNoLocks):
			return func() { dir.Close(); s.writing.Unlock() }, nil
		case !errors.Is(err, errLocked):
			dir.Close()
			s.writing.Unlock()
			return nil, fmt.Errorf("the root cannot be locked: %w", err)
		}
		select {
		case <-ctx.Done():
			dir.Close()
			s.writing.Unlock()
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

var (
	errLocked  = errors.New("locked by another process")
	errNoLocks = errors.New("this file system has no locks") // then only writers of one process wait for each other
)
