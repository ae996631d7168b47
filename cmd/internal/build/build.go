// Package build tells which build of this module a program is.
package build

import "runtime/debug"

// Set by the linker in releases: -X …/cmd/internal/build.version=1.2.3
var version, commit, date string

// Info is what a program knows of its build.
type Info struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // of a release: the hash of the commit
	Date    string `json:"date"`   // of a release: of the commit, RFC 3339
}

// This is the build of the running program.
func This() Info { return Info{Version(), commit, date} }

// Version is a release's, 1.2.3; else what the go command noted, which may hold the commit.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Line is the build for people: 1.2.3 (commit 0123456789…, 2026-11-23T10:00:00Z).
func Line() string {
	if commit == "" {
		return Version()
	}
	return version + " (commit " + commit + ", " + date + ")"
}
