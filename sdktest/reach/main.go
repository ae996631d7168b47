// Command reach installs a release on fresh machines, each in the way of its users,
// from the files of make release alone, and asks the installed programs a first question.
//
//	go -C sdktest run ./reach [-dist DIR] [-again] [MACHINE…]
//
// A machine is a folder: a Debian made by debootstrap, an empty root, a virtual
// environment, a prefix of npm. What it takes to make them is kept for the next run.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// machine is one way to have the programs.
type machine struct {
	name  string
	what  string
	quick bool // enough for every run of the tests
	try   func(*world) error
}

var machines = []machine{
	{"sums", "SHA256SUMS names every file", true, (*world).sums},
	{"archive", "the archive of this machine, and its completions in their shells", true, (*world).archive},
	{"licences", "the licence of every module in the bills, in archives, wheels and npm packages", true, (*world).licences},
	{"foreign", "the programs for the other platforms, by their headers", false, (*world).foreign},
	{"empty", "an empty root with the programs alone, as user 65532", true, (*world).empty},
	{"image", "the image, unpacked by umoci, as its config says", false, (*world).image},
	{"debian", "Debian 12: dpkg -i, and off again", false, (*world).debian},
	{"rpm", "an empty root: rpm -i", false, (*world).rpm},
	{"python3.10", "a virtual environment of Python 3.10: pip install", false, python("3.10")},
	{"python3.13", "a virtual environment of Python 3.13: pip install", false, python("3.13")},
	{"python", "a virtual environment of this machine's Python: pip install", true, python("3")},
	{"uvx", "uvx --from", false, (*world).uvx},
	{"tags", "the wheel that pip takes for each platform", false, (*world).tags},
	{"npm-files", "npm install of the packed files, without a registry", true, (*world).npmFiles},
	{"node20", "Node 20: npm install -g and npx from a registry", false, node("20")},
	{"node22", "Node 22: npm install -g and npx from a registry", false, node("22")},
	{"formula", "the formula, run by Ruby with stubs of Homebrew's words", false, (*world).formula},
	{"scoop", "the manifest's keys, its hash and its programs", false, (*world).scoop},
	{"bills", "the bills of materials by CycloneDX's own schema", false, (*world).bills},
}

// missing says that a machine cannot be made here.
type missing struct{ what string }

func (m missing) Error() string { return m.what }

// world is what the machines share.
type world struct {
	ctx     context.Context
	dist    string // with the files of the release
	version string // 1.2.3-rc.1
	cache   string // kept for the next run
	temp    string
}

func main() {
	cache, _ := os.UserCacheDir()
	dist := flag.String("dist", "../dist", "the folder that make release filled")
	dir := flag.String("dir", filepath.Join(cmp.Or(cache, os.TempDir()), "bx-reach"), "what the machines are made of, kept")
	again := flag.Bool("again", false, "make the release once more in a clone in another folder, and compare")
	flag.Parse()
	if err := run(*dist, *dir, *again, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "reach:", err)
		os.Exit(1)
	}
}

func run(dist, dir string, again bool, names []string) error {
	w, err := open(dist, dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.temp)
	todo := machines
	if len(names) > 0 {
		todo = slices.DeleteFunc(slices.Clone(machines), func(m machine) bool { return !slices.Contains(names, m.name) })
		if len(todo) != len(names) {
			return fmt.Errorf("there is one of %s that I do not know", strings.Join(names, ", "))
		}
	}
	if again {
		todo = append(slices.Clone(todo), machine{"again", "a second build in another folder", false, (*world).again})
	}
	var bad int
	for _, m := range todo {
		began := time.Now()
		outcome := "ok"
		if err := m.try(w); errors.As(err, new(missing)) {
			outcome, bad = "not tried: "+err.Error(), bad+1
		} else if err != nil {
			outcome, bad = "FAIL: "+err.Error(), bad+1
		}
		fmt.Printf("%-10s %5.1fs  %s: %s\n", m.name, time.Since(began).Seconds(), m.what, outcome)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d are not so", bad, len(todo))
	}
	return nil
}

// open looks at what the release is.
func open(dist, dir string) (*world, error) {
	dist, err := filepath.Abs(dist)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	found, _ := filepath.Glob(filepath.Join(dist, "unifiedtoolprotocol-bx-[0-9]*.tgz"))
	if len(found) != 1 {
		return nil, fmt.Errorf("%s holds no release: make release VERSION=1.2.3 makes one", dist)
	}
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), "unifiedtoolprotocol-bx-"), ".tgz")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "reach")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(temp, 0o755); err != nil { // other users work below it
		return nil, err
	}
	return &world{context.Background(), dist, version, dir, temp}, nil
}
