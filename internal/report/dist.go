package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platform is what a program is built for.
type platform struct{ os, arch string }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// file is the name of the program's build: bx_linux_amd64, bx_windows_amd64.exe.
func (p platform) file(program string) string {
	name := program + "_" + p.os + "_" + p.arch
	if p.os == "windows" {
		name += ".exe"
	}
	return name
}

// dist builds every program in cmd for every platform into dist, without CGO
// and without paths of this machine, and writes dist/SHA256SUMS.
func dist(w io.Writer, _ []string) error {
	mains, err := filepath.Glob("cmd/*/main.go")
	if err != nil || len(mains) == 0 {
		return fmt.Errorf("dist: no cmd/*/main.go here (run this in the module's root): %w", err)
	}
	if err := os.RemoveAll("dist"); err != nil {
		return err
	}
	version := describe()
	var names []string
	for _, main := range mains {
		dir := filepath.Dir(main)
		for _, p := range platforms {
			name := p.file(filepath.Base(dir))
			if err := build(p, "./"+filepath.ToSlash(dir), filepath.Join("dist", name), version); err != nil {
				return err
			}
			if err := bounded(w, filepath.Base(dir), filepath.Join("dist", name)); err != nil {
				return err
			}
			names = append(names, name)
		}
	}
	sums, err := checksums("dist", names)
	if err != nil {
		return err
	}
	fmt.Fprint(w, sums)
	return os.WriteFile(filepath.Join("dist", "SHA256SUMS"), []byte(sums), 0o666)
}

// bounded says that a program is longer than it is meant to be.
func bounded(w io.Writer, program, file string) error {
	info, err := os.Stat(file)
	if err == nil && program == "te" && info.Size() > maxProgram {
		_, err = fmt.Fprintf(w, "%s has %d bytes, want at most %d\n", file, info.Size(), maxProgram)
	}
	return err
}

// describe is the version by the tags of git, or "" outside a clone.
func describe() string {
	out, err := exec.Command("git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func build(p platform, pkg, file, version string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X github.com/unifiedtoolprotocol/utp/cmd/internal/build.version="+version, "-o", file, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("dist: %s for %s/%s: %w", pkg, p.os, p.arch, err)
	}
	return nil
}

// checksums lists the files with their SHA-256, as sha256sum -c reads it.
func checksums(dir string, names []string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%x  %s\n", sum.Sum(nil), name)
	}
	return out.String(), nil
}
