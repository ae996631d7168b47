package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	write(t, dir, "a.txt", "one\ntwo\n")
	s := open(t, Config{Root: dir, Path: os.Getenv("PATH")})
	try := func(args, want string, status utp.Status) {
		t.Helper()
		if r := run(s, "git", args); r.Status != status || !strings.Contains(r.Text(), want) {
			t.Errorf("%s: %s %q, want %q", args, r.Status, r.Text(), want)
		}
	}
	try(`{"command":"status"}`, "not under git", utp.StatusFailed)
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(t, dir, "id_rsa", "hush\n")
	try(`{"command":"status"}`, "?? a.txt", utp.StatusOK)
	try(`{"command":"diff"}`, "nothing to show", utp.StatusOK)
	try(`{"command":"log"}`, "does not have any commits", utp.StatusFailed)
	try(`{"command":"log","revision":"--output=x"}`, "unknown revision", utp.StatusFailed)
	try(`{"command":"blame"}`, "blame needs a file", utp.StatusFailed)
	try(`{"command":"blame","path":"id_rsa"}`, "needs the user's yes", utp.StatusDenied)
	try(`{"command":"push"}`, "want status, diff, log, show or blame", utp.StatusFailed)
	try(`{"command":"diff","path":"../x"}`, "Path escapes", utp.StatusDenied)
	if err := os.Rename(filepath.Join(dir, ".git"), filepath.Join(dir, "git")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("git", filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	try(`{"command":"status"}`, "Path escapes", utp.StatusDenied)
}
