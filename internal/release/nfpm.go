package release

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path"
	"strings"
	"time"
)

// Format is a format of Linux packages.
type Format string

const (
	Deb Format = "deb"
	RPM Format = "rpm"
)

// Package is the content of a Linux package, and nfpm's config for it.
type Package struct {
	File   string // the name of the package's file
	Config []byte // for nfpm pkg --config
	Files  []File // that the config names
}

// nfpmConfig is a part of https://nfpm.goreleaser.com/configuration/.
type nfpmConfig struct {
	Name        string        `json:"name"`
	Arch        string        `json:"arch"`
	Platform    string        `json:"platform"`
	Version     string        `json:"version"`
	Release     string        `json:"release"`
	Section     string        `json:"section"`
	Priority    string        `json:"priority"`
	Maintainer  string        `json:"maintainer"`
	Description string        `json:"description"`
	Homepage    string        `json:"homepage"`
	License     string        `json:"license,omitempty"`
	Changelog   string        `json:"changelog"`
	Mtime       string        `json:"mtime"`
	Umask       int           `json:"umask"`
	Contents    []nfpmContent `json:"contents"`
	RPM         nfpmRPM       `json:"rpm"`
	Deb         nfpmDeb       `json:"deb"`
}

type nfpmContent struct {
	Src  string   `json:"src"`
	Dst  string   `json:"dst"`
	Type string   `json:"type,omitempty"` // for RPM: doc, license
	Info nfpmInfo `json:"file_info"`
}

type nfpmInfo struct {
	Mode  uint32 `json:"mode"`
	Owner string `json:"owner"`
	Group string `json:"group"`
}

type nfpmRPM struct {
	Compression string `json:"compression"`
	BuildHost   string `json:"buildhost"`
}

type nfpmDeb struct {
	Compression string `json:"compression"`
}

// nfpmRelease is an entry of nfpm's changelog file.
type nfpmRelease struct {
	Semver   string     `json:"semver"`
	Date     string     `json:"date"`
	Packager string     `json:"packager"`
	Changes  []nfpmNote `json:"changes"`
	Deb      nfpmSuite  `json:"deb"`
}

type nfpmSuite struct {
	Urgency       string   `json:"urgency"`
	Distributions []string `json:"distributions"`
}

type nfpmNote struct {
	Note string `json:"note"`
}

const (
	changelogFile = "changelog.json" // beside the config, in no package
	revision      = "1"              // of the package of a version
)

// completionDirs are where a distribution's shells look.
var completionDirs = map[Format]map[string]string{
	Deb: {"bx.bash": "bash-completion/completions/bx", "te.bash": "bash-completion/completions/te", "_bx": "zsh/vendor-completions/_bx", "_te": "zsh/vendor-completions/_te",
		"bx.fish": "fish/vendor_completions.d/bx.fish", "te.fish": "fish/vendor_completions.d/te.fish"},
	RPM: {"bx.bash": "bash-completion/completions/bx", "te.bash": "bash-completion/completions/te", "_bx": "zsh/site-functions/_bx", "_te": "zsh/site-functions/_te",
		"bx.fish": "fish/vendor_completions.d/bx.fish", "te.fish": "fish/vendor_completions.d/te.fish"},
}

// debianCopyright is https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/.
func (r Release) debianCopyright() []byte {
	return fmt.Appendf(nil, `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: %s
Source: %s
Comment: The programs link modules of others. Their licences stand in
 /usr/share/doc/%s/%s

Files: *
Copyright: %d %[1]s
License: %[6]s
 On Debian systems the licence stands in /usr/share/common-licenses/%[6]s
`, r.Title, r.Repository, r.Name, noticesFile, r.Date.Year(), r.License)
}

// lintianOverrides returns the overrides for Debian's lintian.
func (r Release) lintianOverrides() []byte {
	var b bytes.Buffer
	b.WriteString("# One build for every distribution, also those with musl.\n")
	for _, p := range Programs {
		fmt.Fprintf(&b, "%s: statically-linked-binary [usr/bin/%s]\n", r.Name, p)
	}
	return b.Bytes()
}

// Package returns the content of a package in the format. pages are the archive's, unit
// is deploy/bx.service.
func (r Release) Package(format Format, b Build, pages []File, unit []byte) (Package, error) {
	p := Package{File: r.file(b.Platform, "."+string(format)), Files: b.files("usr/bin")}
	share := func(name string, body []byte) { p.Files = append(p.Files, File{"usr/share/" + name, 0o644, body}) }
	for _, f := range pages {
		base := path.Base(f.Name)
		switch dir := path.Dir(f.Name); {
		case dir == "man":
			body, err := gzipped(f.Body)
			if err != nil {
				return p, err
			}
			share("man/man1/"+base+".gz", body)
		case dir == "completions" && completionDirs[format][base] != "":
			share(completionDirs[format][base], f.Body)
		case f.Name == licenseFile && format == Deb:
			share("doc/"+r.Name+"/copyright", r.debianCopyright())
			share("lintian/overrides/"+r.Name, r.lintianOverrides())
		case f.Name == licenseFile || f.Name == noticesFile && format == RPM:
			share("licenses/"+r.Name+"/"+f.Name, f.Body)
		case f.Name == noticesFile || f.Name == "README.md":
			share("doc/"+r.Name+"/"+f.Name, f.Body)
		}
	}
	service := bytes.ReplaceAll(unit, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
	p.Files = append(p.Files, File{"usr/lib/systemd/system/" + r.Name + ".service", 0o644, service})
	p.Files = inOrder(p.Files)
	c := nfpmConfig{Name: r.Name, Arch: b.Arch, Platform: "linux", Version: "v" + r.Version, Release: revision, Section: "utils", Priority: "optional", Maintainer: r.Maintainer,
		Description: r.Summary + "\n" + r.About, Homepage: r.Repository, Changelog: changelogFile, Mtime: r.Date.Format(time.RFC3339), Umask: 0o022,
		RPM: nfpmRPM{Compression: "gzip", BuildHost: "localhost"}, Deb: nfpmDeb{Compression: "gzip"}}
	if format == RPM { // Debian has it in the copyright
		c.License = r.License
	}
	for _, f := range p.Files {
		c.Contents = append(c.Contents, nfpmContent{f.Name, "/" + f.Name, format.kind(f.Name), nfpmInfo{uint32(f.Mode), "root", "root"}})
	}
	p.Config = indented(c)
	note := "Release " + r.Version + "; CHANGELOG.md of the source tells more."
	log := []nfpmRelease{{strings.Replace(r.Version, "-", "~", 1) + "-" + revision, r.Date.Format(time.RFC3339), r.Maintainer, []nfpmNote{{note}}, nfpmSuite{"low", []string{"unstable"}}}}
	p.Files = append(p.Files, File{changelogFile, 0o644, indented(log)})
	return p, nil
}

// kind returns RPM's type of a file, for installations without documentation.
func (f Format) kind(name string) string {
	switch dir := strings.TrimPrefix(name, "usr/share/"); {
	case f != RPM:
		return ""
	case strings.HasPrefix(dir, "licenses/"):
		return "license"
	case strings.HasPrefix(dir, "doc/"), strings.HasPrefix(dir, "man/"):
		return "doc"
	}
	return ""
}

// gzipped compresses a body, without a name or a date in its header.
func gzipped(body []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
