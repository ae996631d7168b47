// Package build tells which build of this module a program is.
package build

import (
	"runtime/debug"
	"strings"
)

// Set by the linker in releases: -X …/cmd/internal/build.version=1.2.3
var version, commit, date string

// Info is what a program knows of its build. What it does not know is empty, but
// for Version.
type Info struct {
	Version string `json:"version"` // 1.2.3; "(devel)" if nothing says it
	Commit  string `json:"commit"`  // the hash of the commit
	Date    string `json:"date"`    // of the commit, RFC 3339
}

// This is the build of the running program.
func This() Info {
	known, _ := debug.ReadBuildInfo()
	return from(Info{version, commit, date}, known)
}

// from fills what the linker was not told with what the go command noted.
func from(linked Info, known *debug.BuildInfo) Info {
	if linked.Version == "" && known != nil {
		linked.Version = known.Main.Version
		for _, s := range known.Settings {
			switch {
			case s.Key == "vcs.revision" && linked.Commit == "":
				linked.Commit = s.Value
			case s.Key == "vcs.time" && linked.Date == "":
				linked.Date = s.Value
			}
		}
	}
	if linked.Version == "" {
		linked.Version = "(devel)"
	}
	return linked
}

// String is a line for people: 1.2.3 (commit 0123456789ab, 2026-11-23T10:00:00Z).
func (i Info) String() string {
	var more []string
	if i.Commit != "" {
		more = append(more, "commit "+i.Commit[:min(12, len(i.Commit))])
	}
	if i.Date != "" {
		more = append(more, i.Date)
	}
	if len(more) == 0 {
		return i.Version
	}
	return i.Version + " (" + strings.Join(more, ", ") + ")"
}
