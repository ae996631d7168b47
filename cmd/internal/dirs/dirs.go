// Package dirs says where the programs find a repository's root, the user's
// files and what can be made again.
package dirs

import (
	"os"
	"path/filepath"
	"runtime"
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

// Data holds what cannot be made again: sessions, records of what happened. It
// is "" where there is no home.
func Data() string {
	home, err := os.UserHomeDir()
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bx")
	}
	switch dir := os.Getenv("LocalAppData"); {
	case runtime.GOOS == "windows" && dir != "":
		return filepath.Join(dir, "bx")
	case err != nil:
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "bx")
	}
	return filepath.Join(home, ".local", "share", "bx")
}

// Events holds the segments of what happened; "" where there is no home.
func Events() string { return inData("events") }

// Content holds what models and their clients wrote, where that is kept; "" where
// there is no home.
func Content() string { return inData("content") }

func inData(name string) string {
	if Data() == "" {
		return ""
	}
	return filepath.Join(Data(), name)
}

// Tracked reports whether the environment lets the programs keep figures of what
// they do. Source: consoledonottrack.com.
func Tracked() bool {
	no := os.Getenv("DO_NOT_TRACK")
	return no == "" || no == "0"
}

func below(dir string, err error) string {
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "bx")
}
