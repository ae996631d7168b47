//go:build !unix

package safefile

import "os"

// TryLock locks an open file until it is closed, or says ErrLocked at once.
func TryLock(*os.File) error { return ErrNoLocks }
