package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inside lays out the sandbox and runs a command in it. It is the first process
// of its namespace: when it ends the kernel ends all the others. The command "/"
// runs nothing.
func inside(policy string, argv []string, out, errs *os.File) (code int, err error) {
	var p Policy
	if err := json.Unmarshal([]byte(policy), &p); err != nil {
		return 1, err
	}
	go func() { // its other end is open as long as bx lives
		_, _ = os.NewFile(3, "alive").Read(make([]byte, 1))
		for { // the command may be about to start
			_ = unix.Kill(-1, unix.SIGKILL) // every process here but this one, which then ends
			time.Sleep(5 * time.Millisecond)
		}
	}()
	runtime.LockOSThread()
	if err := p.layOut(); err != nil {
		return 1, err
	}
	if !p.Network {
		if err := loopback(); err != nil {
			return 1, fmt.Errorf("loopback: %w", err)
		}
	}
	if err := p.shed(); err != nil {
		return 1, err
	}
	if argv[0] == "/" {
		return 0, nil
	}
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Stdout, c.Stderr = p.Root, out, errs
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = c.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}
	return exit.ExitCode(), nil
}

const (
	old   = "/old" // the system as it is, while the new one is laid out
	fresh = "/new"
)

// layOut makes the root directory of the sandbox: the system, not writable, with
// what the policy opens and hides laid over it.
func (p Policy) layOut() error {
	steps := []func() error{base, p.system, p.hide, p.open, p.protect, p.mask, enter}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return os.Chdir(p.Root)
}

// base makes an empty root with the system at old.
func base() error {
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	const at = "/tmp"
	if err := mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return err
	}
	for _, dir := range []string{old, fresh} {
		if err := os.Mkdir(at+dir, 0o755); err != nil {
			return err
		}
	}
	if err := unix.PivotRoot(at, at+old); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	return os.Chdir("/")
}

// system shows the system as it is, read only, with devices and processes of its own.
func (p Policy) system() error {
	if err := bind("/", true); err != nil {
		return err
	}
	if err := readOnly(fresh, true); err != nil {
		return err
	}
	if err := empty("/dev", "0755"); err != nil {
		return err
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", "/var/run", "/mnt", "/media"} {
		if err := empty(dir, "1777"); err != nil {
			return err
		}
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := p.device("/dev/" + name); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, fresh+"/dev/"+name); err != nil {
			return err
		}
	}
	if err := os.Mkdir(fresh+"/dev/shm", 0o1777); err != nil {
		return err
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if err := mount("proc", fresh+"/proc", "proc", flags, ""); err != nil {
		return err
	}
	return readOnly(fresh+"/proc", false)
}

func (p Policy) device(name string) error {
	if _, err := os.Stat(old + name); err != nil {
		return nil
	}
	if err := os.WriteFile(fresh+name, nil, 0o666); err != nil {
		return err
	}
	return bind(name, false)
}

// empty lays an empty directory over one that is there; it is kept in memory.
func empty(dir, mode string) error {
	info, err := os.Lstat(fresh + dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	return mount("tmpfs", fresh+dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode="+mode+",size=2g")
}

// hide empties the home folder.
func (p Policy) hide() error {
	if p.Home == "" || p.Home == "/" || within(p.Root, p.Home) {
		return nil
	}
	if err := empty(p.Home, "0755"); err != nil {
		return err
	}
	for _, dir := range p.Read {
		if !within(p.Home, dir) {
			continue
		}
		if err := p.show(dir); err != nil {
			return err
		}
		if err := readOnlyIf(dir); err != nil {
			return err
		}
	}
	return nil
}

func readOnlyIf(name string) error {
	if _, err := os.Stat(fresh + name); err != nil {
		return nil
	}
	return readOnly(fresh+name, true)
}

// open shows what may be written, writable.
func (p Policy) open() error {
	for _, dir := range append([]string{p.Root}, p.Write...) {
		if err := p.show(dir); err != nil {
			return err
		}
	}
	return nil
}

// show shows a file or directory of the system as it is, where it is there.
func (p Policy) show(name string) error {
	info, err := os.Stat(old + name)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		err = os.MkdirAll(fresh+name, 0o755)
	} else if _, err = os.Lstat(fresh + name); err != nil {
		if err = os.MkdirAll(filepath.Dir(fresh+name), 0o755); err == nil {
			err = os.WriteFile(fresh+name, nil, 0o666)
		}
	}
	if err != nil {
		return err
	}
	return bind(name, info.IsDir())
}

// protect lays what must stay over itself, read only, and pins folders, so that
// neither they nor what is above them can be moved away.
func (p Policy) protect() error {
	for _, dir := range p.Pin {
		if err := again(dir); err != nil {
			return err
		}
	}
	for _, name := range p.Protect {
		if err := again(name); err != nil {
			return err
		}
		if err := readOnlyIf(name); err != nil {
			return err
		}
	}
	return nil
}

// again lays a file or directory over itself, if it is there and no link.
func again(name string) error {
	info, err := os.Lstat(fresh + name)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	return mount(fresh+name, fresh+name, "", unix.MS_BIND|unix.MS_REC, "")
}

// mask hides sockets below what is still shown.
func (p Policy) mask() error {
	for _, name := range p.Sockets {
		info, err := os.Lstat(fresh + name)
		if err != nil || info.Mode()&fs.ModeSocket == 0 || within(p.Root, name) {
			continue
		}
		if err := mount(fresh+"/dev/null", fresh+name, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// enter makes the new root the only one.
func enter() error {
	if err := unix.Unmount(old, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	if err := os.Chdir(fresh); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	return os.Chdir("/")
}

func mount(from, at, kind string, flags uintptr, data string) error {
	if err := unix.Mount(from, at, kind, flags, data); err != nil {
		return fmt.Errorf("mount %s: %w", at, err)
	}
	return nil
}

// bind shows a path of the system in the new root.
func bind(name string, deep bool) error {
	flags := uintptr(unix.MS_BIND)
	if deep {
		flags |= unix.MS_REC
	}
	name = strings.TrimSuffix(name, "/")
	if err := mount(old+name, fresh+name, "", flags, ""); err != nil {
		return err
	}
	if name == "" || strings.HasPrefix(name, "/dev/") {
		return nil
	}
	return attributes(fresh+name, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, deep)
}

func readOnly(at string, deep bool) error {
	return attributes(at, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID, deep)
}

func attributes(at string, set uint64, deep bool) error {
	flags := uint(0)
	if deep {
		flags = unix.AT_RECURSIVE
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, at, flags, &unix.MountAttr{Attr_set: set}); err != nil {
		return fmt.Errorf("mount_setattr %s: %w", at, err)
	}
	return nil
}

func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// loopback switches on the one network device there is.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r)
}

// shed gives up, for good, every right that laying out needed, on the thread that
// starts the command.
func (p Policy) shed() error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_DATA: or(p.Memory, 8<<30), unix.RLIMIT_NPROC: or(p.Processes, 4096), unix.RLIMIT_FSIZE: or(p.FileSize, 4<<30)}
	for what, n := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return err
		}
		n = min(n, now.Max)
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("limit: %w", err)
		}
	}
	_, _ = unix.KeyctlJoinSessionKeyring("") // a kernel without keyrings has none to leave
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

func or(n, d uint64) uint64 {
	if n == 0 {
		return d
	}
	return n
}
