// Package dirs says where the programs find a repository's root, the user's
// files and what can be made again.
package dirs

import (
	"os"
	"path/filepath"
)

// marks of a repository's root.
var marks = []string{".git", ".hg", ".jj", "bx.toml", "llmc.toml", ".llmc"}

// Root is the nearest directory at or above wd that has the mark of a
// repository; ok is false if none has.
func Root(wd string) (root string, ok bool) {
	for dir := wd; ; dir = filepath.Dir(dir) {
		for _, mark := range marks {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir, true
			}
		}
		if dir == filepath.Dir(dir) {
			return wd, false
		}
	}
}

// User holds the user's bx.toml and llmc.toml; "" where there is no home.
func User() string { return below(os.UserConfigDir()) }

// Cache holds what can be made again: search indexes, results by handle. It is
// "" where there is no home.
func Cache() string { return below(os.UserCacheDir()) }

// Results holds results by handle; "" where there is no home.
func Results() string {
	if Cache() == "" {
		return ""
	}
	return filepath.Join(Cache(), "results")
}

func below(dir string, err error) string {
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "bx")
}
