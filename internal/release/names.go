// Package release builds what users install from the compiled programs: archives,
// packages for Debian, RPM, PyPI, npm, Homebrew and Scoop, a container image, a bill of
// materials and checksums. Equal programs yield equal bytes.
package release

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
)

//go:embed names.json
var namesFile []byte

// Names are the names of the product where it is published. names.json is their only
// source.
type Names struct {
	Name       string // of the packages of Debian, RPM, Homebrew and Scoop
	Title      string
	Summary    string // a line
	About      string // more lines, for packages that have them
	License    string // SPDX
	Maintainer string
	Repository string
	Image      string
	PyPI       string
	Python     string // what is imported
	Npm        string
	NpmParse   string `json:"npm_parse"`
}

// Release is one version, made of one commit.
type Release struct {
	Names
	Version string // 1.2.3 or 1.2.3-rc.1
	Commit  string
	Date    time.Time // of the commit, and of every file of the release
}

// Programs are the shipped programs, each built from the folder of its name in cmd.
var Programs = []string{"bx", "te"}

var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(alpha|beta|rc)\.(0|[1-9]\d*))?$`)

// New returns a Release, or an error for a version that PyPI would not accept.
func New(version, commit string, date time.Time) (Release, error) {
	r := Release{Version: version, Commit: commit, Date: date.UTC()}
	if err := json.Unmarshal(namesFile, &r.Names); err != nil {
		return r, fmt.Errorf("release: names.json: %w", err)
	}
	if !semver.MatchString(version) {
		return r, fmt.Errorf("release: the version is %q, want one such as 1.2.3 or 1.2.3-rc.1 (alpha, beta, rc)", version)
	}
	return r, nil
}

// python returns the version in the form of PEP 440: 1.2.3rc1.
func (r Release) python() string {
	return strings.NewReplacer("-alpha.", "a", "-beta.", "b", "-rc.", "rc").Replace(r.Version)
}

// url returns the address to download a file of the release from.
func (r Release) url(file string) string {
	return r.Repository + "/releases/download/v" + r.Version + "/" + file
}

// file returns the name of a file of the release: bx_1.2.3_linux_amd64.tar.gz.
func (r Release) file(p Platform, ending string) string {
	return r.Name + "_" + r.Version + "_" + p.OS + "_" + p.Arch + ending
}

// Platform is an operating system and an architecture, by Go's names.
type Platform struct{ OS, Arch string }

// Platforms are the platforms of a release.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Exe returns the file name of a program.
func (p Platform) Exe(program string) string {
	if p.OS == "windows" {
		return program + ".exe"
	}
	return program
}

// Build is the programs for one platform, by name.
type Build struct {
	Platform
	Programs map[string][]byte
}

// files returns the programs as files in a folder.
func (b Build) files(dir string) (out []File) {
	for _, program := range Programs {
		if body, ok := b.Programs[program]; ok {
			out = append(out, File{path.Join(dir, b.Exe(program)), 0o755, body})
		}
	}
	return out
}
