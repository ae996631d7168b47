//go:build !unix

package tool

import "os"

// tryLock locks an open file until it is closed, or says errLocked at once.
func tryLock(*os.File) error { return errNoLocks }
