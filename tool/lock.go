package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/unifiedtoolprotocol/utp/safefile"
)

// lock keeps writers of other processes out of the root, from reading a file to
// replacing it. It lasts as long as one call. The caller holds s.writing.
func (s *Set) lock(ctx context.Context) (unlock func(), err error) {
	dir, err := s.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("the root cannot be opened: %w", bare(err))
	}
	if err := safefile.Lock(ctx, dir); err != nil {
		err = fmt.Errorf("the root cannot be locked: %w", err)
		return nil, errors.Join(ctx.Err(), err, dir.Close())
	}
	return func() { dir.Close() }, nil
}
