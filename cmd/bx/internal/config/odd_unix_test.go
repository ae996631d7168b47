//go:build unix

package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
)

// A repository's file that is no plain file inside of it is passed over, and
// said; nothing of what it leads to is shown, and nothing hangs.
func TestARepositoryCannotStopBx(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "private.toml")
	if err := os.WriteFile(outside, []byte("hush hush\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, lay := range map[string]func(at string) error{
		"a link to /dev/zero": func(at string) error { return os.Symlink("/dev/zero", at) },
		"a link outside":      func(at string) error { return os.Symlink(outside, at) },
		"a relative link":     func(at string) error { return os.Symlink("../../../../../../../../dev/zero", at) },
		"a pipe":              func(at string) error { return syscall.Mkfifo(at, 0o666) },
		"a link to a pipe": func(at string) error {
			return errors.Join(syscall.Mkfifo(filepath.Join(filepath.Dir(at), "pipe"), 0o666), os.Symlink("pipe", at))
		},
		"a directory": func(at string) error { return os.Mkdir(at, 0o777) },
		"a large file": func(at string) error {
			return os.WriteFile(at, []byte(strings.Repeat("# long\n", 200_000)), 0o666)
		},
	} {
		for _, file := range []string{"bx.toml", "llmc.toml"} {
			repo := t.TempDir()
			if err := lay(filepath.Join(repo, file)); err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(config.Places{Repo: repo})
			if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], file+" is not read: ") || strings.Contains(c.Warnings[0], "hush") {
				t.Errorf("%s: %v, %+v", name, err, c)
			}
		}
	}
	repo := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(repo, "real.toml"), []byte("[agent]\nmax_tier = \"CRAWL\"\n"), 0o666),
		os.Symlink("real.toml", filepath.Join(repo, "bx.toml")), os.Symlink("none", filepath.Join(repo, "llmc.toml"))); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(config.Places{Repo: repo}); err != nil || len(c.Warnings) != 0 || len(c.Files) != 1 {
		t.Errorf("a link inside: %v, %+v", err, c)
	}
}
