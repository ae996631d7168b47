package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// verdaccio is the registry, of the newest line that Node 20 runs. It asks for node-fetch
// by a tag that not every mirror of npm has.
const verdaccio = `{"private": true, "dependencies": {"verdaccio": "6.1.6"}, "overrides": {"node-fetch": "2.7.0"}}`

// nodeOf finds Node of a version: this machine's, or npm's package of it.
func (w *world) nodeOf(version string) (bin string, err error) {
	if _, err := tool("npm", "https://nodejs.org"); err != nil {
		return "", err
	}
	out, _ := w.do(w.temp, "node", "--version")
	if path, err := exec.LookPath("node"); err == nil && strings.HasPrefix(out, "v"+version+".") {
		return filepath.Dir(path), nil
	}
	bin = filepath.Join(w.cache, "node"+version, "node_modules/node/bin")
	if _, err := os.Stat(bin + "/node"); err == nil {
		return bin, nil
	}
	_, err = w.do(w.cache, "npm", "install", "--no-audit", "--no-fund", "--prefix", "node"+version, "node@"+version)
	return bin, err
}

// npmFiles installs the packed files. The packages for other platforms are nowhere,
// and npm does without them.
func (w *world) npmFiles() error {
	bin, err := w.nodeOf("20")
	if err != nil {
		return err
	}
	home, err := w.folder("npm-files")
	if err != nil {
		return err
	}
	main, platform := w.file("unifiedtoolprotocol-bx-"+w.version+".tgz"), w.file("unifiedtoolprotocol-bx-linux-x64-"+w.version+".tgz")
	if _, err := w.do(home, "npm", "install", "--prefix", home, "--offline", "--no-audit", "--no-fund", platform, main); err != nil {
		return err
	}
	bins := filepath.Join(home, "node_modules/.bin")
	return w.first(place{home: home, bx: []string{bins + "/bx"}, te: []string{bins + "/te"}, path: bin + ":/usr/bin:/bin"})
}

// node installs from a registry on loopback, to which the release was published.
func node(version string) func(*world) error {
	return func(w *world) error {
		bin, err := w.nodeOf(version)
		if err != nil {
			return err
		}
		home, err := w.folder("node" + version)
		if err != nil {
			return err
		}
		url, end, err := w.registry(home)
		if err != nil {
			return err
		}
		defer end()
		p := place{home: home, bx: []string{home + "/prefix/bin/bx"}, te: []string{home + "/prefix/bin/te"}, path: bin + ":/usr/bin:/bin"}
		rc := "registry=" + url + "\n" + strings.TrimPrefix(url, "http:") + "/:_authToken=anybody\naudit=false\nfund=false\nupdate-notifier=false\nprefix=" + home + "/prefix\n"
		if err := errors.Join(os.WriteFile(home+"/.npmrc", []byte(rc), 0o600), os.MkdirAll(home+"/work", 0o755)); err != nil {
			return err
		}
		npm := func(args ...string) error {
			_, err := output(w.command(p, append([]string{"npm"}, args...)...))
			return err
		}
		packed, _ := filepath.Glob(w.file("unifiedtoolprotocol-*.tgz"))
		for _, file := range packed {
			if err := npm("publish", "--tag", "latest", file); err != nil {
				return err
			}
		}
		if err := npm("install", "-g", "@unifiedtoolprotocol/bx"); err != nil {
			return err
		}
		taken, _ := filepath.Glob(home + "/prefix/lib/node_modules/@unifiedtoolprotocol/bx/node_modules/@unifiedtoolprotocol/*")
		if len(taken) != 1 || filepath.Base(taken[0]) != "bx-linux-x64" {
			return fmt.Errorf("npm took %v for this platform", taken)
		}
		if err := errors.Join(w.first(p), w.withoutPrograms(p, taken[0])); err != nil {
			return err
		}
		if err := npm("uninstall", "-g", "@unifiedtoolprotocol/bx"); err != nil {
			return err
		}
		npx := func(program string) []string {
			return []string{"npx", "--yes", "--package", "@unifiedtoolprotocol/bx", program}
		}
		return w.first(place{home: home, bx: []string{"npx", "--yes", "@unifiedtoolprotocol/bx"}, te: npx("te"), path: p.path, loose: true})
	}
}

// withoutPrograms: a package whose programs were left out says what to do.
func (w *world) withoutPrograms(p place, programs string) error {
	if err := os.RemoveAll(programs); err != nil {
		return err
	}
	out, err := w.command(p, append(p.bx, "version")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "install again without --omit=optional") {
		return fmt.Errorf("without its programs it says %q, and its end is %v", out, err)
	}
	return nil
}

// registry starts verdaccio, to which everybody may publish and which asks no other.
func (w *world) registry(home string) (url string, end func(), err error) {
	program := filepath.Join(w.cache, "verdaccio/node_modules/.bin/verdaccio")
	if _, err := os.Stat(program); err != nil {
		dir := filepath.Join(w.cache, "verdaccio")
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(dir+"/package.json", []byte(verdaccio), 0o644)); err != nil {
			return "", nil, err
		}
		if _, err := w.do(dir, "npm", "install", "--no-audit", "--no-fund"); err != nil {
			return "", nil, err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := l.Addr().String()
	l.Close()
	config := "storage: " + home + "/storage\nmax_body_size: 200mb\nuplinks: {}\npackages:\n  '**':\n    access: $all\n    publish: $all\n    unpublish: $all\nlog: {type: stdout, format: pretty, level: error}\n"
	if err := os.WriteFile(home+"/verdaccio.yaml", []byte(config), 0o644); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(w.ctx, program, "--config", home+"/verdaccio.yaml", "--listen", address)
	cmd.Dir, cmd.SysProcAttr = home, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
	for range 300 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address, end, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	end()
	return "", nil, errors.New("verdaccio does not listen")
}
