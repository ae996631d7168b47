package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/internal/release"
)

// host is this machine's platform.
var host = runtime.GOOS + "_" + runtime.GOARCH

// file is the path of a file of the release.
func (w *world) file(name string) string { return filepath.Join(w.dist, name) }

// platform is one for one of the platforms: bx_1.2.3_linux_amd64.deb.
func (w *world) platform(platform, ending string) string {
	return w.file("bx_" + w.version + "_" + platform + ending)
}

// tool finds a program that a machine is made with.
func tool(name, from string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", missing{name + " is not there: " + from}
	}
	return path, nil
}

// do runs a command of this machine.
func (w *world) do(dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.ctx, name, args...)
	cmd.Dir = dir
	return output(cmd)
}

// folder makes an empty folder.
func (w *world) folder(name string) (string, error) {
	dir := filepath.Join(w.temp, name)
	return dir, os.MkdirAll(dir, 0o755)
}

func (w *world) sums() error {
	list, err := os.ReadFile(w.file("SHA256SUMS"))
	if err != nil {
		return err
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	files, err := os.ReadDir(w.dist)
	if err != nil {
		return err
	}
	for _, f := range files {
		body, err := os.ReadFile(w.file(f.Name()))
		if err != nil {
			return err
		}
		if f.Name() == "SHA256SUMS" {
			continue
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(body)); listed[f.Name()] != got {
			return fmt.Errorf("%s: %q is listed, it is %s", f.Name(), listed[f.Name()], got)
		}
		delete(listed, f.Name())
	}
	if len(listed) > 0 {
		return fmt.Errorf("listed and not there: %v", slices.Collect(maps.Keys(listed)))
	}
	return nil
}

// unpack unpacks this machine's archive and returns its folder.
func (w *world) unpack(dir string) (string, error) {
	_, err := w.do(dir, "tar", "xzf", w.platform(host, ".tar.gz"))
	return filepath.Join(dir, "bx_"+w.version+"_"+host), err
}

func (w *world) archive() error {
	dir, err := w.folder("archive")
	if err != nil {
		return err
	}
	at, err := w.unpack(dir)
	if err != nil {
		return err
	}
	if err := w.first(place{home: dir, bx: []string{at + "/bx"}, te: []string{at + "/te"}, path: os.Getenv("PATH")}); err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", "man/bx.1", "man/bx-serve.1", "man/te.1", "completions/bx.ps1", "completions/te.ps1"} {
		if _, err := os.Stat(filepath.Join(at, name)); err != nil {
			return err
		}
	}
	return w.completions(at)
}

// completions has the shells that are there load them, and complete a command.
func (w *world) completions(at string) error {
	out, err := w.do(at, "bash", "-c", `source completions/bx.bash; source completions/te.bash; complete -p bx te >/dev/null; COMP_WORDS=(te gr) COMP_CWORD=1; _te; echo "${COMPREPLY[@]}"`)
	if err != nil || out != "grep\n" {
		return fmt.Errorf("te gr<TAB> gives %q: %w", out, err)
	}
	for shell, files := range map[string][]string{"zsh": {"_bx", "_te"}, "fish": {"bx.fish", "te.fish"}} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		for _, name := range files {
			if _, err := w.do(at, shell, "-n", "completions/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// licences looks for those of the modules that a bill of materials lists in all that
// holds the programs of its platform.
func (w *world) licences() error {
	bills, _ := filepath.Glob(w.file("*.cdx.json"))
	if len(bills) == 0 {
		return errors.New("there are no bills of materials")
	}
	for _, bill := range bills {
		body, err := os.ReadFile(bill)
		if err != nil {
			return err
		}
		var list struct {
			Components []struct{ Type, Name, Version string }
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return err
		}
		texts, err := w.noticesOf(strings.TrimSuffix(bill, ".cdx.json"))
		if err != nil {
			return err
		}
		for _, c := range list.Components {
			name := c.Name + " " + c.Version + " ("
			switch {
			case c.Type != "library":
				continue
			case c.Name == "std":
				name = "Go's runtime and standard library"
			}
			for file, text := range texts {
				if !strings.Contains(text, name) {
					return fmt.Errorf("%s has no licence of %s %s", file, c.Name, c.Version)
				}
			}
		}
	}
	return nil
}

// noticesOf reads THIRD_PARTY_LICENSES of what was made for one platform: its archive,
// by the path without the ending, its wheel and its npm package.
func (w *world) noticesOf(stem string) (map[string]string, error) {
	dir, err := w.folder("licences")
	if err != nil {
		return nil, err
	}
	part := strings.Split(filepath.Base(stem), "_")
	tag := map[string]string{"linux_amd64": "manylinux*x86_64", "linux_arm64": "manylinux*aarch64", "darwin_amd64": "macosx*x86_64", "darwin_arm64": "macosx*arm64", "windows_amd64": "win_amd64"}[part[2]+"_"+part[3]]
	node := strings.NewReplacer("windows", "win32", "amd64", "x64").Replace(part[2] + "-" + part[3])
	wheel, _ := filepath.Glob(w.file("utp_bx-*" + tag + "*.whl"))
	npm, _ := filepath.Glob(w.file("unifiedtoolprotocol-bx-" + node + "-*.tgz"))
	archive, _ := filepath.Glob(stem + "[.][tz]*")
	texts := map[string]string{}
	for _, file := range slices.Concat(wheel, npm, archive) {
		to := filepath.Join(dir, filepath.Base(file)+".d")
		if err := os.MkdirAll(to, 0o755); err != nil {
			return nil, err
		}
		if strings.HasSuffix(file, "gz") {
			_, err = w.do(to, "tar", "xzf", file)
		} else {
			err = unzip(file, to)
		}
		if err != nil {
			return nil, err
		}
		found, err := w.do(to, "find", ".", "-name", "THIRD_PARTY_LICENSES")
		if err != nil || strings.Count(found, "\n") != 1 {
			return nil, fmt.Errorf("%s: THIRD_PARTY_LICENSES is at %q: %w", file, found, err)
		}
		body, err := os.ReadFile(filepath.Join(to, strings.TrimSpace(found)))
		if err != nil {
			return nil, err
		}
		texts[filepath.Base(file)] = string(body)
	}
	if len(texts) != 3 {
		return nil, fmt.Errorf("for %s there are %v: want an archive, a wheel and an npm package", node, slices.Collect(maps.Keys(texts)))
	}
	return texts, nil
}

// foreign reads the headers of programs that cannot run here.
func (w *world) foreign() error {
	dir, err := w.folder("foreign")
	if err != nil {
		return err
	}
	for _, p := range release.Platforms {
		name := p.OS + "_" + p.Arch
		if p.OS == "windows" {
			err = unzip(w.platform(name, ".zip"), dir)
		} else {
			_, err = w.do(dir, "tar", "xzf", w.platform(name, ".tar.gz"))
		}
		if err != nil {
			return err
		}
		for _, program := range release.Programs {
			if err := header(p, filepath.Join(dir, "bx_"+w.version+"_"+name, p.Exe(program))); err != nil {
				return fmt.Errorf("%s for %s: %w", program, p, err)
			}
		}
	}
	return nil
}

// header says that a program is not one for the platform.
func header(p release.Platform, file string) error {
	var got, want string
	switch p.OS {
	case "linux":
		f, err := elf.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		if libs, err := f.ImportedLibraries(); err == nil && len(libs) > 0 {
			return fmt.Errorf("is linked to %v", libs)
		}
		got, want = f.Machine.String(), map[string]string{"amd64": "EM_X86_64", "arm64": "EM_AARCH64"}[p.Arch]
	case "darwin":
		f, err := macho.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		got, want = f.Cpu.String()+oldest(f), map[string]string{"amd64": "CpuAmd64 12.0", "arm64": "CpuArm64 12.0"}[p.Arch]
	case "windows":
		f, err := pe.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		got, want = fmt.Sprintf("%#x", f.Machine), fmt.Sprintf("%#x", pe.IMAGE_FILE_MACHINE_AMD64)
	}
	if got != want {
		return fmt.Errorf("is for %s, want %s", got, want)
	}
	return nil
}

// oldest is the oldest macOS that a program says it runs on: LC_BUILD_VERSION (0x32).
func oldest(f *macho.File) string {
	for _, l := range f.Loads {
		raw := l.Raw()
		if len(raw) >= 16 && f.ByteOrder.Uint32(raw) == 0x32 {
			v := f.ByteOrder.Uint32(raw[12:])
			return fmt.Sprintf(" %d.%d", v>>16, v>>8&0xff)
		}
	}
	return " unknown"
}

func unzip(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close()
	return os.CopyFS(dir, z)
}

// scoop reads the manifest as Scoop does.
func (w *world) scoop() error {
	body, err := os.ReadFile(w.file("bx.json"))
	if errors.Is(err, os.ErrNotExist) {
		return missing{"the release has no build for Windows"}
	}
	if err != nil {
		return err
	}
	var m struct {
		Version, Description, Homepage, License string
		Architecture                            map[string]struct {
			URL, Hash  string
			ExtractDir string `json:"extract_dir"`
		}
		Bin                  []string
		Checkver, Autoupdate json.RawMessage
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return err
	}
	a := m.Architecture["64bit"]
	name := a.URL[strings.LastIndex(a.URL, "/")+1:]
	archive, err := os.ReadFile(w.file(name))
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(archive)); got != a.Hash {
		return fmt.Errorf("the hash of %s is %s, the manifest has %s", name, got, a.Hash)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	for _, program := range m.Bin {
		f, err := z.Open(a.ExtractDir + "/" + program)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, f); err != nil {
			return err
		}
	}
	return nil
}

// again makes the release once more, in a clone in a folder of another name.
func (w *world) again() error {
	clone, err := w.folder("another/place")
	if err != nil {
		return err
	}
	top, err := w.do(".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if _, err := w.do(".", "git", "clone", "-q", strings.TrimSpace(top), clone); err != nil {
		return err
	}
	dist := filepath.Join(w.temp, "dist-again")
	args := []string{"run", "./internal/report", "release", w.version, dist}
	for _, p := range release.Platforms {
		archive, _ := filepath.Glob(w.platform(p.OS+"_"+p.Arch, ".cdx.json"))
		if len(archive) > 0 {
			args = append(args, p.String())
		}
	}
	if _, err := w.do(clone, "go", args...); err != nil {
		return err
	}
	one, err := os.ReadFile(w.file("SHA256SUMS"))
	if err != nil {
		return err
	}
	two, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err == nil && !bytes.Equal(one, two) {
		return fmt.Errorf("the sums differ:\n%s\n%s", one, two)
	}
	return err
}
