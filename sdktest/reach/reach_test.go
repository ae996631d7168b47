package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/release"
)

// The quick machines, from files made of programs of this platform alone. make reach
// tries all of them, from the files of make release.
func TestQuickMachines(t *testing.T) {
	if host != "linux_amd64" {
		t.Skip("the machines are those of linux/amd64")
	}
	const version = "1.2.3-rc.1"
	r, err := release.New(version, "0123456789abcdef0123456789abcdef01234567", time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	b := release.Build{Platform: release.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}, Programs: map[string][]byte{}}
	for _, program := range release.Programs {
		const at = " -X github.com/unifiedtoolprotocol/utp/cmd/internal/build."
		file := filepath.Join(t.TempDir(), program)
		cmd := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-ldflags=-s -w"+at+"version="+version+at+"commit="+r.Commit+at+"date=now", "-o", file, "./cmd/"+program)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if b.Programs[program], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	job := release.Job{Root: "../..", Version: version, Say: func(string, ...any) {}}
	files, err := job.Portable(t.Context(), r, []release.Build{b})
	if err != nil {
		t.Fatal(err)
	}
	dist := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dist, f.Name), f.Body, f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	w, err := open(dist, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(w.temp) })
	for _, m := range machines {
		if !m.quick {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			if err := m.try(w); errors.As(err, new(missing)) {
				t.Skip(err)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
