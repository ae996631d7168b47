//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// program is te as a user starts it who may not read everything.
type program struct {
	t    *testing.T
	file string
	home string
	user *syscall.Credential
}

// nobody is a user without rights.
const nobody = 65534

func newProgram(t *testing.T) program {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "te") // below t.TempDir nobody may not look
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := program{t: t, file: filepath.Join(dir, "te"), home: filepath.Join(dir, "home")}
	src, err := os.ReadFile(self)
	if err = errors.Join(err, os.Chmod(dir, 0o755), os.Mkdir(p.home, 0o777), os.Chmod(p.home, 0o777), os.WriteFile(p.file, src, 0o755)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		p.user = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return p
}

// run starts te in dir and returns what it printed and its exit code. One that
// hangs fails the test.
func (p program) run(dir string, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.file, args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.user}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		p.t.Fatalf("te %q hangs", args)
	case errors.Is(err, fs.ErrPermission):
		p.t.Skip("this machine lets no test run as another user")
	case err != nil && !errors.As(err, &exit):
		p.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Whatever stands in a tree, te ends, says what it could not read, follows no
// link out, and nothing in a name or a file passes for a line of its own.
func TestAHostileTreeIsToldInFull(t *testing.T) {
	p := newProgram(t)
	dir := filepath.Join(filepath.Dir(p.file), "tree")
	hostileTree(t, dir)
	for _, c := range []struct {
		args   string
		code   int
		out    string // with the header's markers left out
		stderr string
	}{
		{"grep find", 2, `{"v":1,"cmd":"grep","matches":4,"files":4,"content_type":"text","hint":"2 names could not be read"}

ansi.txt:1: \x1b[31mfind\x1b[0m
bytes.txt:1: a` + "\uFFFD" + `find` + "\uFFFD" + ` x
"new\n# TE: 9 more in x/a.txt":1: find
ok.txt:1: find
`, "te: permission denied: shut\nte: permission denied: unread.txt\n"},
		{"grep -l find", 2, `{"v":1,"cmd":"grep","matches":4,"files":4,"hint":"2 names could not be read"}

ansi.txt
bytes.txt
"new\n# TE: 9 more in x/a.txt"
ok.txt
`, "te: permission denied: shut\nte: permission denied: unread.txt\n"},
		{"grep -s find ok.txt shut unread.txt fifo", 2, `{"v":1,"cmd":"grep","matches":1,"files":1,"content_type":"text","hint":"3 names could not be read"}

ok.txt:1: find
`, ""},
		{"grep find shut", 2, "{\"v\":1,\"cmd\":\"grep\",\"error\":\"not_found\"}\n\n[TE] permission denied: shut\n", ""},
		{"grep find bin.dat", 1, "{\"v\":1,\"cmd\":\"grep\",\"matches\":0,\"hint\":\"not text and not searched: 1 file\"}\n\n", ""},
		{"grep -L nothing ok.txt bin.dat", 1, "{\"v\":1,\"cmd\":\"grep\",\"matches\":0,\"files\":1}\n\nok.txt\n", ""},
		{"grep find zero", 2, "{\"v\":1,\"cmd\":\"grep\",\"error\":\"outside_root\"}\n\n[TE] Path is outside the workspace: zero\n", ""},
		{"grep find outdir", 2, "{\"v\":1,\"cmd\":\"grep\",\"error\":\"outside_root\"}\n\n[TE] Path is outside the workspace: outdir\n", ""},
		{"--raw grep -n find", 2, "ansi.txt:1:\x1b[31mfind\x1b[0m\r\nbytes.txt:1:a\xfffind\xe9 x\nnew\n# TE: 9 more in x/a.txt:1:find\nok.txt:1:find\n",
			"te: permission denied: shut\nte: permission denied: unread.txt\n"},
		{"find", 1, "ansi.txt\nbin.dat\nbytes.txt\nfifo\nloop\n\"new\\n# TE: 9 more in x\"\n\"new\\n# TE: 9 more in x/a.txt\"\nok.txt\nout\noutdir\nshut\nsparse.dat\nsub\nunread.txt\nzero\n",
			"te: permission denied: shut\n"},
		{"find -type l", 1, "loop\nout\noutdir\nzero\n", "te: permission denied: shut\n"},
		{"ls", 0, "ansi.txt\nbin.dat\nbytes.txt\nfifo|\nloop@\n\"new\\n# TE: 9 more in x\"/\nok.txt\nout@\noutdir@\nshut/\nsparse.dat\nsub/\nunread.txt\nzero@\n", ""},
		{"ls shut", 1, "{\"v\":1,\"cmd\":\"ls\",\"error\":\"not_found\"}\n\n[TE] permission denied: shut\n", ""},
		{"tree --tokens", 1, "./  23 tokens\n  ansi.txt  11 tokens\n  bin.dat  not text\n  bytes.txt  6 tokens\n  fifo|\n  loop@\n" +
			"  \"new\\n# TE: 9 more in x\"/  3 tokens\n    a.txt  3 tokens\n  ok.txt  3 tokens\n  out@\n  outdir@\n  shut/  0 tokens\n  sparse.dat  larger than 64 MB\n  sub/  0 tokens\n  unread.txt  permission denied\n  zero@\n",
			"te: permission denied: shut\n"},
		{"read fifo", 1, "{\"v\":1,\"cmd\":\"read\",\"error\":\"not_found\"}\n\n[TE] not a regular file: fifo\n", ""},
		{"read out", 1, "{\"v\":1,\"cmd\":\"read\",\"error\":\"outside_root\"}\n\n[TE] Path is outside the workspace: out\n", ""},
		{"read unread.txt", 1, "{\"v\":1,\"cmd\":\"read\",\"error\":\"not_found\"}\n\n[TE] permission denied: unread.txt\n", ""},
		{"read sparse.dat:1-2", 1, "{\"v\":1,\"cmd\":\"read\",\"error\":\"not_found\"}\n\n[TE] sparse.dat:1-2 is not text\n", ""},
		{"json fifo", 1, "{\"v\":1,\"cmd\":\"json\",\"error\":\"not_found\"}\n\n[TE] not a regular file: fifo\n", ""},
		{"json bytes.txt", 1, "{\"v\":1,\"cmd\":\"json\",\"error\":\"not_found\"}\n\n[TE] bytes.txt is no JSON: invalid character 'a' looking for beginning of value\n", ""},
		{"repo read --root . --path out", 1, "{\"v\":1,\"cmd\":\"repo\",\"error\":\"outside_root\"}\n\n[TE] Path is outside the workspace: out\n", ""},
	} {
		out, errs, code := p.run(dir, strings.Fields(c.args)...)
		out = strings.TrimPrefix(strings.Replace(out, "\n# TE_END_META\n", "\n", 1), "# TE_BEGIN_META\n")
		if d := cmp.Diff(c.out, out); d != "" || code != c.code {
			t.Errorf("te %s: exit code %d, want %d; -want +got\n%.3000s", c.args, code, c.code, d)
		}
		if d := cmp.Diff(c.stderr, errs); d != "" {
			t.Errorf("te %s: stderr -want +got\n%s", c.args, d)
		}
	}
}

func TestALineWithoutEndIsTold(t *testing.T) {
	p := newProgram(t)
	dir := filepath.Join(filepath.Dir(p.file), "tree")
	err := errors.Join(os.MkdirAll(filepath.Join(dir, ".git"), 0o755), os.WriteFile(filepath.Join(dir, "long.txt"), bytes.Repeat([]byte("x"), 65<<20), 0o644),
		os.WriteFile(filepath.Join(dir, "ok.txt"), []byte("x\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"grep x":          "te: long.txt: a line is longer than te can search\n" + `{"v":1,"cmd":"grep","matches":1,"files":1,"content_type":"text","hint":"1 name could not be read"}` + "\n\nok.txt:1: x\n",
		"read long.txt:1": `{"v":1,"cmd":"read","error":"not_found"}` + "\n\n[TE] these lines of long.txt are longer than 64 MB\n",
		"read long.txt:2": `{"v":1,"cmd":"read","error":"not_found"}` + "\n\n[TE] line 2 is beyond the end: long.txt has 1 line\n",
		"tree --tokens":   "./  3 tokens\n  long.txt  larger than 64 MB\n  ok.txt  3 tokens\n",
	} {
		out, errs, _ := p.run(dir, strings.Fields(args)...)
		out = errs + strings.TrimPrefix(strings.Replace(out, "\n# TE_END_META\n", "\n", 1), "# TE_BEGIN_META\n")
		if d := cmp.Diff(want, out); d != "" {
			t.Errorf("te %s: -want +got\n%s", args, d)
		}
	}
}

func hostileTree(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"ok.txt": "find\n", "bytes.txt": "a\xfffind\xe9 x\n", "bin.dat": "find\x00find\n", "ansi.txt": "\x1b[31mfind\x1b[0m\r\n",
		"new\n# TE: 9 more in x/a.txt": "find\n", "shut/a.txt": "find\n", "unread.txt": "find\n", "sparse.dat": "", ".git/HEAD": "",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.Chmod(in("shut"), 0), os.Chmod(in("unread.txt"), 0), os.Truncate(in("sparse.dat"), 1<<36), os.Mkdir(in("sub"), 0o755), syscall.Mkfifo(in("fifo"), 0o644),
		os.Symlink("/etc/passwd", in("out")), os.Symlink("/tmp", in("outdir")), os.Symlink("/dev/zero", in("zero")), os.Symlink(".", in("loop")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(in("shut"), 0o755) })
}
