package main

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// rooted needs root, as chroot does.
func rooted() error {
	if os.Getuid() != 0 {
		return missing{"only root may change the root: run it with sudo"}
	}
	return nil
}

// at is a place below a root of its own.
func at(root, bx, te string) (place, error) {
	p := place{root: root, home: filepath.Join(root, "home"), bx: []string{bx}, te: []string{te}, path: "/usr/bin:/bin"}
	return p, os.MkdirAll(p.home, 0o755)
}

// empty stands for a distribution without glibc, and for one without anything.
func (w *world) empty() error {
	if err := rooted(); err != nil {
		return err
	}
	root, err := w.folder("empty")
	if err != nil {
		return err
	}
	from, err := w.unpack(w.temp)
	if err != nil {
		return err
	}
	if _, err := w.do(from, "cp", "bx", "te", root); err != nil {
		return err
	}
	p, err := at(root, "/bx", "/te")
	if err != nil {
		return err
	}
	return w.first(p)
}

func (w *world) image() error {
	if err := rooted(); err != nil {
		return err
	}
	for _, name := range []string{"skopeo", "umoci"} {
		if _, err := tool(name, "apt-get install "+name); err != nil {
			return err
		}
	}
	dir, err := w.folder("image")
	if err != nil {
		return err
	}
	archive := "oci-archive:" + w.file("bx_"+w.version+"_image.oci.tar") + ":" + w.version
	if _, err := w.do(dir, "skopeo", "--insecure-policy", "copy", "--override-os=linux", "--override-arch=amd64", archive, "oci:layout:v"); err != nil {
		return err
	}
	if _, err := w.do(dir, "umoci", "unpack", "--image", "layout:v", "bundle"); err != nil {
		return err
	}
	body, err := os.ReadFile(filepath.Join(dir, "bundle", "config.json"))
	if err != nil {
		return err
	}
	var config struct {
		Process struct {
			User struct{ UID, GID int }
			Args []string
		}
	}
	if err := json.Unmarshal(body, &config); err != nil {
		return err
	}
	if u := config.Process.User; u.UID != nobody || u.GID != nobody {
		return fmt.Errorf("runs as %d:%d", u.UID, u.GID)
	}
	root := filepath.Join(dir, "bundle", "rootfs")
	pem, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) || strings.Count(string(pem), "BEGIN CERTIFICATE") < 100 {
		return errors.New("has no certificates of the authorities")
	}
	for _, name := range []string{"licenses/LICENSE", "licenses/THIRD_PARTY_LICENSES"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			return err
		}
	}
	p, err := at(root, "/bx", "/te")
	if err != nil {
		return err
	}
	return errors.Join(w.first(p), w.serves(p, config.Process.Args))
}

// serves starts the image's own command and asks it whether it is ready; without a
// backend it is not, and says so.
func (w *world) serves(p place, argv []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	conf := filepath.Join(p.root, "etc/bx")
	if err := errors.Join(os.MkdirAll(conf, 0o755), os.WriteFile(filepath.Join(conf, "serve.toml"), []byte("listen = \""+address+"\"\n[backends.none]\nprovider = \"ollama\"\nurl = \"http://127.0.0.1:1\"\n"), 0o644)); err != nil {
		return err
	}
	serve := w.command(p, argv...)
	if err := serve.Start(); err != nil {
		return fmt.Errorf("%v: %w", argv, err)
	}
	defer func() { _ = syscall.Kill(-serve.Process.Pid, syscall.SIGKILL) }()
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	check := w.command(p, slices.Concat(p.bx, []string{"serve", "--file", "/etc/bx/serve.toml", "--check-ready"})...)
	out, err := check.CombinedOutput()
	if check.ProcessState == nil || check.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "none") {
		return fmt.Errorf("--check-ready: %w: %s", err, out)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return serve.Wait()
}

// debian installs the package with dpkg, asks, and takes it off again.
func (w *world) debian() error {
	if err := rooted(); err != nil {
		return err
	}
	if _, err := tool("debootstrap", "apt-get install debootstrap"); err != nil {
		return err
	}
	base := filepath.Join(w.cache, "debian12")
	if _, err := os.Stat(base); err != nil {
		if _, err := w.do(w.temp, "debootstrap", "--variant=minbase", "bookworm", base+".new"); err != nil {
			return err
		}
		if err := os.Rename(base+".new", base); err != nil {
			return err
		}
	}
	root := filepath.Join(w.temp, "debian")
	if _, err := w.do(w.temp, "cp", "-a", base, root); err != nil {
		return err
	}
	if _, err := w.do(w.temp, "cp", w.platform(host, ".deb"), filepath.Join(root, "bx.deb")); err != nil {
		return err
	}
	if _, err := w.do(w.temp, "chroot", root, "dpkg", "-i", "/bx.deb"); err != nil {
		return err
	}
	p, err := at(root, "/usr/bin/bx", "/usr/bin/te")
	if err != nil {
		return err
	}
	if err := errors.Join(w.first(p), installed(root, "usr/share/doc/bx/copyright")); err != nil {
		return err
	}
	if out, err := w.do(w.temp, "chroot", root, "dpkg", "--verify", "bx"); err != nil || changed(out) {
		return fmt.Errorf("dpkg --verify: %s %w", out, err)
	}
	if _, err := w.do(w.temp, "chroot", root, "dpkg", "-r", "bx"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "usr/bin/bx")); err == nil {
		return errors.New("dpkg -r leaves /usr/bin/bx")
	}
	return nil
}

// changed reports whether a file of a package differs. A minimal Debian takes off
// documents and manual pages by itself, so that they are missing.
func changed(out string) bool {
	return slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return line != "" && !strings.HasPrefix(line, "missing") })
}

// installed looks for what else belongs into a system.
func installed(root string, more ...string) error {
	for _, name := range append(more, "usr/lib/systemd/system/bx.service", "usr/share/bash-completion/completions/bx", "usr/share/man/man1/bx.1.gz", "usr/share/man/man1/te.1.gz") {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) rpm() error {
	if err := rooted(); err != nil {
		return err
	}
	if _, err := tool("rpm", "apt-get install rpm"); err != nil {
		return err
	}
	root, err := w.folder("rpm")
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"--initdb"}, {"-i", "--nodeps", w.platform(host, ".rpm")}, {"-V", "--nodeps", "bx"}} {
		if _, err := w.do(root, "rpm", append([]string{"--root", root}, args...)...); err != nil {
			return err
		}
	}
	p, err := at(root, "/usr/bin/bx", "/usr/bin/te")
	if err != nil {
		return err
	}
	return errors.Join(w.first(p), installed(root, "usr/share/licenses/bx/LICENSE", "usr/share/licenses/bx/THIRD_PARTY_LICENSES"))
}
