package sandbox_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/sandbox"
)

func TestMain(m *testing.M) {
	if ok, code, err := sandbox.Helper(os.Args, os.Stdout, os.Stderr); ok {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

type box struct {
	t    *testing.T
	p    sandbox.Policy
	home string
}

func newBox(t *testing.T) *box {
	t.Helper()
	if err := sandbox.Check(t.Context(), os.Args[0]); err != nil {
		t.Skipf("the system does not let anybody make namespaces: %v", err)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, home: filepath.Join(top, "home")}
	root := filepath.Join(b.home, "repo")
	b.p = sandbox.Policy{Root: root, Home: b.home, Write: []string{filepath.Join(b.home, "cache")}, Read: []string{filepath.Join(b.home, "sdk")},
		Protect: []string{root + "/.git/hooks", root + "/.git/config", root + "/bx.toml"}, Pin: []string{root + "/.git"}}
	for name, text := range map[string]string{"repo/a.txt": "a", "repo/.git/config": "config", "repo/.git/hooks/x": "x", "repo/bx.toml": "toml",
		".ssh/id_rsa": "hush", "cache/c": "c", "sdk/s": "sdk", "../outside": "outside"} {
		at := filepath.Join(b.home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// run runs a script in the sandbox.
func (b *box) run(script string) (out string, code int) {
	b.t.Helper()
	cmd, end, err := sandbox.Command(os.Args[0], b.p, []string{"/bin/sh", "-c", script}, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "TMPDIR=/tmp"})
	if err != nil {
		b.t.Fatal(err)
	}
	defer end()
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	_ = cmd.Run()
	return text.String(), cmd.ProcessState.ExitCode()
}

func TestWorkIsPossible(t *testing.T) {
	b := newBox(t)
	for script, want := range map[string]string{
		"cat a.txt; echo more >> a.txt; mkdir d; mv a.txt d/b; cat d/b": "aamore\n",
		"cat $HOME/sdk/s": "sdk", "echo x > $HOME/cache/d && cat $HOME/cache/c": "c", "cat .git/config; echo x > .git/index": "config",
		"echo t > $TMPDIR/t && cat /tmp/t": "t\n", "exit 7": "", "echo x > /dev/null; head -c 3 /dev/zero | wc -c": "3\n", "kill -9 $$": "",
	} {
		out, code := b.run(script)
		wantCode := map[string]int{"exit 7": 7, "kill -9 $$": 137}[script]
		if code != wantCode || strings.TrimSpace(out) != strings.TrimSpace(want) {
			t.Errorf("%s: %d %q", script, code, out)
		}
	}
	if text, err := os.ReadFile(b.p.Root + "/d/b"); string(text) != "amore\n" {
		t.Errorf("%q, %v: what was written did not stay", text, err)
	}
}

func TestNothingGetsOut(t *testing.T) {
	b := newBox(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	sock := filepath.Join(filepath.Dir(b.home), "docker.sock")
	unix, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	b.p.Sockets = sandbox.Sockets()
	if err := os.Symlink("../../outside", b.p.Root+"/link"); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	tries := []string{
		"echo x > /etc/utp-test", "cat ../.ssh/id_rsa", "cat $HOME/.ssh/id_rsa", "ls -A .. | grep -q ssh",
		"echo x > .git/config", "echo x > .git/hooks/pre-commit", "rm .git/hooks/x", "rm -rf .git/hooks", "mv .git .g", "mv .git/hooks .git/h",
		"rm -f .git/config", "rm -f bx.toml", "mv bx.toml b", "echo x >> bx.toml", "ln -f /etc/passwd hard && echo x >> hard",
		"mount -t tmpfs t .git/hooks", "umount .git/hooks", "mount -o remount,rw /", "unshare -Urm sh -c 'umount -l .git/hooks && echo x > .git/hooks/y'",
		"unshare -Urm sh -c 'mount -o remount,rw,bind .git/hooks && echo x > .git/hooks/y'",
		fmt.Sprintf("kill -0 %d", os.Getpid()), fmt.Sprintf("test -e /proc/%d/exe", os.Getpid()), "test $(ls /proc | grep -c '^[0-9]') -gt 12",
		"echo x > /proc/sys/kernel/core_pattern", "echo b > /proc/sysrq-trigger", "echo 1 > /proc/sys/vm/drop_caches", "echo x > /sys/kernel/uevent_helper",
		"ls /dev/sda /dev/vda /dev/mem /dev/kmsg 2>/dev/null | grep .", "mknod disk b 254 0 && head -c 1 disk",
		"python3 -c 'import socket; s=socket.create_connection((\"127.0.0.1\"," + port + "),2)'",
		"python3 -c 'import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.sendto(b\"x\",(\"192.0.2.1\",53))'",
		"python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"" + sock + "\")'",
		"test -S /var/run/docker.sock -o -S /run/docker.sock", "echo x > /dev/shm/../../outside", "echo x > /proc/1/root/etc/x",
		"chroot / sh -c true", "nsenter -t 1 -m true",
		"grep -q 'CapEff:.*[1-9a-f]' /proc/self/status", "read x < /dev/tty",
	}
	for _, script := range tries {
		if out, code := b.run(script); code == 0 {
			t.Errorf("%s: succeeded: %s", script, out)
		}
	}
	// A write into a folder of the sandbox's own is no failure: it goes with the sandbox.
	for _, script := range []string{"echo x > ../../outside", "echo x > link", "echo x > /proc/1/cwd/../../../outside", "echo x > " + filepath.Dir(b.home) + "/outside2", "echo x > ../new"} {
		b.run(script)
	}
	for _, name := range []string{b.home + "/new", filepath.Dir(b.home) + "/outside2", "/etc/utp-test"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	for name, want := range map[string]string{"../outside": "outside", "repo/.git/config": "config", "repo/.git/hooks/x": "x", "repo/bx.toml": "toml", ".ssh/id_rsa": "hush"} {
		if text, err := os.ReadFile(filepath.Join(b.home, name)); string(text) != want {
			t.Errorf("%s holds %q now (%v)", name, text, err)
		}
	}
	if entries, _ := os.ReadDir(b.p.Root + "/.git/hooks"); len(entries) != 1 {
		t.Errorf("hooks: %v", entries)
	}
}

// Somebody without any rights is as safe as root, and can work as well.
func TestNobodyIsInASandboxToo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else; the other tests run as a user already")
	}
	dir, err := os.MkdirTemp("", "nobody") // of t.TempDir only its owner may see the way
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.ReadFile(os.Args[0])
	bin := filepath.Join(dir, "sandbox.test")
	const nobody = 65534
	for _, err := range []error{err, os.WriteFile(bin, self, 0o755), os.Chmod(dir, 0o755), os.Chown(dir, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(bin, "-test.run=^(TestWorkIsPossible|TestNothingGetsOut|TestNothingOutlivesTheCommand)$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 3 && !strings.Contains(string(out), "does not let anybody make namespaces") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What a command leaves running ends with it.
func TestNothingOutlivesTheCommand(t *testing.T) {
	b := newBox(t)
	out, code := b.run("(trap '' HUP TERM; setsid sh -c 'while :; do echo x >> late; sleep 0.05; done' &) ; sleep 0.2; echo started")
	if code != 0 || out != "started\n" {
		t.Fatalf("%d %q", code, out)
	}
	before, err := os.ReadFile(b.p.Root + "/late")
	if err != nil {
		t.Fatal(err)
	}
	cmd, end, err := sandbox.Command(os.Args[0], b.p, []string{"/bin/sh", "-c", "sleep 100"}, []string{"PATH=/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end()
	if err := cmd.Wait(); err == nil {
		t.Error("the command ended well after it was ended")
	}
	time.Sleep(500 * time.Millisecond)
	if after, err := os.ReadFile(b.p.Root + "/late"); err != nil || len(after) != len(before) {
		t.Errorf("a daemon wrote after its command had ended: %d bytes, then %d, %v", len(before), len(after), err)
	}
}

// A command whose program was killed before the command had begun ends, too.
func TestACommandEndsWithItsProgram(t *testing.T) {
	b := newBox(t)
	cmd, end, err := sandbox.Command(os.Args[0], b.p, []string{"/bin/sh", "-c", "sleep 1; echo x > late"}, []string{"PATH=/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	alive, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	hold.Close()
	cmd.ExtraFiles = []*os.File{alive}
	if err := cmd.Run(); err == nil {
		t.Error("it ended well")
	}
	if _, err := os.Stat(b.p.Root + "/late"); err == nil {
		t.Error("it wrote after its program had ended")
	}
}

func BenchmarkCommand(b *testing.B) {
	if err := sandbox.Check(b.Context(), os.Args[0]); err != nil {
		b.Skipf("the system does not let anybody make namespaces: %v", err)
	}
	for b.Loop() {
		cmd, end, err := sandbox.Command(os.Args[0], sandbox.Policy{Root: b.TempDir()}, []string{"/bin/true"}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		end()
	}
}
