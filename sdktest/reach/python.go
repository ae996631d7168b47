package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The versions of what PyPI gives for the machines.
const (
	uvPackage    = "uv==0.13.9"
	cycloneDX    = "cyclonedx-python-lib[json-validation]==11.12.0"
	uvToolsCache = "python-tools"
)

// interpreter finds a Python of a version: on PATH, or pyenv's.
func interpreter(version string) (string, error) {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".pyenv/versions", version+".*/bin/python"+version))
	for _, path := range append(found, "python"+version) {
		if _, err := exec.Command(path, "-c", "import venv, ensurepip").Output(); err == nil {
			return path, nil
		}
	}
	return "", missing{"Python " + version + " with venv is not there: apt-get install python" + version + "-venv, or pyenv install " + version}
}

// python is a virtual environment of a version. It has no network: the wheel needs no other.
func python(version string) func(*world) error {
	return func(w *world) error {
		py, err := interpreter(version)
		if err != nil {
			return err
		}
		home, err := w.folder("python" + version)
		if err != nil {
			return err
		}
		if _, err := w.do(home, py, "-m", "venv", "venv"); err != nil {
			return err
		}
		bin := filepath.Join(home, "venv/bin")
		if _, err := w.do(home, bin+"/pip", "install", "--no-index", "--find-links", w.dist, "--disable-pip-version-check", "--pre", "utp-bx"); err != nil {
			return err
		}
		p := place{home: home, bx: []string{bin + "/bx"}, te: []string{bin + "/te"}, path: bin + ":/usr/bin:/bin"}
		if err := w.first(p); err != nil {
			return err
		}
		out, err := output(w.command(p, bin+"/python", "-c", "import utp_bx.run as r; print(r.program('bx'))"))
		if err != nil || !strings.HasSuffix(out, "/utp_bx/bin/bx\n") {
			return fmt.Errorf("utp_bx.run.program: %q %w", out, err)
		}
		if out, err := output(w.command(p, bin+"/pip", "check")); err != nil {
			return fmt.Errorf("pip check: %s %w", out, err)
		}
		if _, err := w.do(home, bin+"/pip", "uninstall", "-y", "utp-bx"); err != nil {
			return err
		}
		left, _ := filepath.Glob(filepath.Join(home, "venv/lib/*/site-packages/utp_bx*/bin/*"))
		if _, err := os.Stat(bin + "/bx"); err == nil || len(left) > 0 {
			return errors.New("pip uninstall leaves the programs")
		}
		return nil
	}
}

// tools is a virtual environment with what the machines need of PyPI, kept.
func (w *world) pythonTools() (bin string, err error) {
	py, err := interpreter("3")
	if err != nil {
		return "", err
	}
	bin = filepath.Join(w.cache, uvToolsCache, "bin")
	if _, err := os.Stat(bin); err != nil {
		if _, err := w.do(w.cache, py, "-m", "venv", uvToolsCache); err != nil {
			return "", err
		}
	}
	_, err = w.do(w.cache, bin+"/pip", "install", "-q", "--disable-pip-version-check", uvPackage, cycloneDX)
	return bin, err
}

func (w *world) uvx() error {
	bin, err := w.pythonTools()
	if err != nil {
		return err
	}
	home, err := w.folder("uvx")
	if err != nil {
		return err
	}
	py, err := interpreter("3")
	if err != nil {
		return err
	}
	call := func(program string) []string {
		return []string{bin + "/uvx", "--offline", "--no-index", "--find-links", w.dist, "--prerelease=allow", "--python", py, "--from", "utp-bx", program}
	}
	return w.first(place{home: home, bx: call("bx"), te: call("te"), path: bin + ":/usr/bin:/bin"})
}

// tags asks pip which wheel it would take on other machines.
func (w *world) tags() error {
	py, err := interpreter("3")
	if err != nil {
		return err
	}
	for tag, want := range map[string]string{
		"manylinux2014_x86_64": "manylinux2014_x86_64", "manylinux_2_17_x86_64": "manylinux2014_x86_64", "musllinux_1_1_x86_64": "manylinux2014_x86_64",
		"manylinux2014_aarch64": "manylinux2014_aarch64", "musllinux_1_1_aarch64": "manylinux2014_aarch64",
		"macosx_12_0_arm64": "macosx_12_0_arm64", "macosx_12_0_x86_64": "macosx_12_0_x86_64", "win_amd64": "win_amd64", "win32": "",
	} {
		if built, _ := filepath.Glob(w.file("*" + want + "*.whl")); len(built) == 0 {
			continue // a release of some platforms
		}
		dir, err := os.MkdirTemp(w.temp, tag)
		if err != nil {
			return err
		}
		_, err = w.do(dir, py, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-index", "--find-links", w.dist, "--pre", "--only-binary=:all:", "--platform", tag, "utp-bx")
		got, _ := filepath.Glob(dir + "/*.whl")
		switch {
		case want == "" && err == nil:
			return fmt.Errorf("pip takes %v for %s", got, tag)
		case want == "":
		case err != nil:
			return err
		case len(got) != 1 || !strings.Contains(got[0], want):
			return fmt.Errorf("pip takes %v for %s", got, tag)
		}
	}
	return nil
}

// bills checks every bill of materials by the schema that CycloneDX's library carries.
func (w *world) bills() error {
	bin, err := w.pythonTools()
	if err != nil {
		return err
	}
	files, _ := filepath.Glob(w.file("*.cdx.json"))
	const program = `
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for name in sys.argv[1:]:
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(name).read()):
        sys.exit(f"{name}: {wrong}")
`
	_, err = w.do(w.temp, bin+"/python", append([]string{"-c", program}, files...)...)
	return err
}
