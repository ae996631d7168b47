// Package release makes what users install, from programs that are built: archives,
// packages of Debian, RPM, PyPI, npm, Homebrew and Scoop, a container image, a list
// of the modules inside, checksums. Equal programs give equal bytes.
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

// Names are what the product is called where it can be had. They stand in
// names.json alone.
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
	Date    time.Time // of the commit; all that is made carries it
}

// Programs are what is shipped, each built from the folder of its name in cmd.
var Programs = []string{"bx", "te"}

var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(alpha|beta|rc)\.(0|[1-9]\d*))?$`)

// New checks the version, which has to have a form that PyPI knows as well.
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

// python is the version in the words of PEP 440: 1.2.3rc1.
func (r Release) python() string {
	return strings.NewReplacer("-alpha.", "a", "-beta.", "b", "-rc.", "rc").Replace(r.Version)
}

// url is where a file of the release is downloaded from.
func (r Release) url(file string) string {
	return r.Repository + "/releases/download/v" + r.Version + "/" + file
}

// file names one of the release's own files: bx_1.2.3_linux_amd64.tar.gz.
func (r Release) file(p Platform, ending string) string {
	return r.Name + "_" + r.Version + "_" + p.OS + "_" + p.Arch + ending
}

// Platform is what a program is built for, in Go's words.
type Platform struct{ OS, Arch string }

// Platforms are those of a release.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Exe is the name of a program's file.
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

// files are the programs in a folder.
func (b Build) files(dir string) (out []File) {
	for _, program := range Programs {
		if body, ok := b.Programs[program]; ok {
			out = append(out, File{path.Join(dir, b.Exe(program)), 0o755, body})
		}
	}
	return out
}
