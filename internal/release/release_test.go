package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

var date = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

func fixed(t testing.TB) Release {
	r, err := New("1.2.3-rc.1", commit, date)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func built(p Platform) Build {
	return Build{p, map[string][]byte{"bx": []byte("the program bx\n"), "te": []byte("the program te\n")}}
}

func allBuilt() (all []Build) {
	for _, p := range Platforms {
		all = append(all, built(p))
	}
	return all
}

var (
	license = []byte("the licence\n")
	readme  = []byte("# Read me\n")
	texts   = licences(license, []byte("those of others\n"))
	pages   = []File{{"man/bx.1", 0o644, []byte(".TH BX\n")}, {"man/te.1", 0o644, []byte(".TH TE\n")}, {"completions/bx.bash", 0o644, []byte("bx\n")}, {"completions/_te", 0o644, []byte("te\n")},
		{"completions/bx.ps1", 0o644, []byte("bx\n")}, texts[0], texts[1], {"README.md", 0o644, readme}}
)

// unpacked shows an archive: each entry's mode, owner, date and name, and the text of it.
func unpacked(t testing.TB, f File) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Name)
	if strings.HasSuffix(f.Name, ".zip") || strings.HasSuffix(f.Name, ".whl") {
		z, err := zip.NewReader(bytes.NewReader(f.Body), int64(len(f.Body)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range z.File {
			r, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "\n== %v %s %s\n%s", e.Mode(), e.Modified.UTC().Format(time.RFC3339), e.Name, body)
		}
		return b.String()
	}
	var r io.Reader = bytes.NewReader(f.Body)
	if z, err := gzip.NewReader(r); err == nil {
		r = z
	} else {
		r = bytes.NewReader(f.Body)
	}
	in := tar.NewReader(r)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n== %v %d:%d %s %s\n", h.FileInfo().Mode(), h.Uid, h.Gid, h.ModTime.UTC().Format(time.RFC3339), h.Name)
		if strings.HasPrefix(h.Name, "blobs/") && len(body) > 1 && body[0] == 0x1f {
			fmt.Fprint(&b, unpacked(t, File{"a layer", 0, body}))
		} else {
			b.Write(body)
		}
	}
}

func must(t testing.TB) func(File, error) File {
	return func(f File, err error) File {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

func TestArchives(t *testing.T) {
	r := fixed(t)
	for _, p := range []Platform{{"linux", "arm64"}, {"windows", "amd64"}} {
		f := must(t)(r.Archive(built(p), pages))
		golden.File(t, "testdata/archive_"+p.OS+".txt", unpacked(t, f))
	}
}

func TestPackages(t *testing.T) {
	r := fixed(t)
	unit := []byte("ExecStart=/usr/local/bin/bx serve\n")
	for _, format := range []Format{Deb, RPM} {
		p, err := r.Package(format, built(Platform{"linux", "arm64"}), pages, unit)
		if err != nil {
			t.Fatal(err)
		}
		golden.File(t, "testdata/nfpm_"+string(format)+".json", p.File+"\n"+string(p.Config))
		golden.File(t, "testdata/nfpm_"+string(format)+".txt", shown(p.Files, "share/doc/bx/copyright", "lintian/overrides/bx", changelogFile))
		for _, f := range p.Files {
			if strings.HasSuffix(f.Name, "bx.service") && string(f.Body) != "ExecStart=/usr/bin/bx serve\n" {
				t.Errorf("%s: %s", f.Name, f.Body)
			}
		}
	}
}

// shown are the files whose names end so.
func shown(files []File, endings ...string) string {
	var b strings.Builder
	for _, f := range files {
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(f.Name, e) }) {
			fmt.Fprintf(&b, "== %s\n%s\n", f.Name, f.Body)
		}
	}
	return b.String()
}

func TestFormulaAndManifest(t *testing.T) {
	r, archives := fixed(t), map[Platform]File{}
	for _, b := range allBuilt() {
		archives[b.Platform] = must(t)(r.Archive(b, pages))
	}
	golden.File(t, "testdata/bx.rb", string(r.Formula(archives).Body))
	golden.File(t, "testdata/bx.json", string(r.Scoop(archives[Platform{"windows", "amd64"}]).Body))
	golden.File(t, "testdata/compose.yaml", string(r.Compose().Body))
}

func TestWheel(t *testing.T) {
	p := PythonProject{
		Sources: []File{{"__init__.py", 0o644, []byte("\"\"\"utp\"\"\"\n")}, {"py.typed", 0o644, nil}},
		Readme:  readme,
		Config: []byte(`
[project]
requires-python = ">=3.11"
keywords = ["llm", "tools"]
classifiers = ["Typing :: Typed"]
[project.optional-dependencies]
langchain = ["langchain-core>=1; python_version >= '3.11'", "httpx"]
[project.entry-points."sglang.srt.plugins"]
utp = "utp_bx.sglang:register"
`),
	}
	r := fixed(t)
	golden.File(t, "testdata/wheel_linux.txt", unpacked(t, must(t)(r.Wheel(built(Platform{"linux", "amd64"}), p, texts))))
	golden.File(t, "testdata/wheel_windows.txt", unpacked(t, must(t)(r.Wheel(built(Platform{"windows", "amd64"}), PythonProject{Readme: readme}, texts))))
	if _, err := r.Wheel(built(Platforms[0]), PythonProject{Config: []byte("[project")}, texts); err == nil || !strings.Contains(err.Error(), "pyproject.toml") {
		t.Errorf("a broken pyproject.toml: %v", err)
	}
}

func TestNpm(t *testing.T) {
	r := fixed(t)
	files, err := r.NpmPackages(allBuilt(), texts, readme)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		b.WriteString(unpacked(t, f) + "\n")
	}
	golden.File(t, "testdata/npm.txt", b.String())
}

func TestNpmParse(t *testing.T) {
	r := fixed(t)
	folder := []File{
		{"package.json", 0o644, []byte(`{"name":"x","version":"0.0.0","private":true,"type":"module","exports":{".":{"types":"./dist/index.d.ts","default":"./dist/index.js"}},"files":["dist/"],"scripts":{"build":"tsc"},"devDependencies":{"typescript":"5"},"dependencies":{"a":"1"}}`)},
		{"README.md", 0o644, readme}, {"src/index.ts", 0o644, []byte("source\n")},
	}
	if _, err := r.NpmParsePackage(folder, texts); err == nil || !strings.Contains(err.Error(), "has no dist") {
		t.Errorf("nothing is built: %v", err)
	}
	folder = append(folder, File{"dist/index.js", 0o644, []byte("built\n")})
	golden.File(t, "testdata/npm_parse.txt", unpacked(t, must(t)(r.NpmParsePackage(folder, texts))))
}

func TestImage(t *testing.T) {
	r := fixed(t)
	golden.File(t, "testdata/image.txt", unpacked(t, must(t)(r.OCI(allBuilt(), append(below("licenses", texts), File{"etc/ssl/certs/ca-certificates.crt", 0o644, []byte("certificates\n")})))))
}

func TestBill(t *testing.T) {
	lib := func(path, version, sum string) *debug.Module {
		return &debug.Module{Path: path, Version: version, Sum: sum}
	}
	forked := lib("example.org/b", "v0.1.0", "h1:b")
	forked.Replace = lib("example.org/fork", "v0.1.1", "h1:fork")
	infos := map[string]*debug.BuildInfo{
		"bx": {GoVersion: "go1.26.8", Deps: []*debug.Module{lib("example.org/a/v2", "v2.3.4", "h1:a"), forked}},
		"te": {GoVersion: "go1.26.8", Deps: []*debug.Module{lib("example.org/a/v2", "v2.3.4", "h1:a")}},
	}
	golden.File(t, "testdata/bill.cdx.json", string(indented(fixed(t).bill(built(Platforms[0]), infos))))
}

// A program tells its version, commit and date, and its modules; another is no program of ours.
func TestBillOfAProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "te")
	if err := Compile(t.Context(), "../..", "te", Platform{runtime.GOOS, runtime.GOARCH}, fixed(t), file); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(file, "version").CombinedOutput(); string(out) != "te 1.2.3-rc.1 (commit "+commit+", 2026-11-23T10:00:00Z)\n" {
		t.Errorf("te version: %q %v", out, err)
	}
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := fixed(t)
	f := must(t)(r.SBOM(Build{Platforms[0], map[string][]byte{"bx": body, "te": body}}))
	for _, want := range []string{`"pkg:golang/github.com/bmatcuk/doublestar/v4@v4`, `"pkg:golang/std@1.`, `"specVersion": "1.6"`} {
		if !strings.Contains(string(f.Body), want) {
			t.Errorf("%s has no %s", f.Name, want)
		}
	}
	if _, err := r.SBOM(built(Platforms[0])); err == nil || !strings.Contains(err.Error(), "bx for linux/amd64") {
		t.Errorf("a text has modules: %v", err)
	}
}

// What is made twice is equal byte for byte, in whatever order the files are given.
func TestEqualBytes(t *testing.T) {
	r := fixed(t)
	turned := slices.Clone(pages)
	slices.Reverse(turned)
	make := func(pages []File) (all []File) {
		for _, b := range allBuilt() {
			all = append(all, must(t)(r.Archive(b, pages)), must(t)(r.Wheel(b, PythonProject{Sources: pages}, texts)))
		}
		npm, err := r.NpmPackages(allBuilt(), texts, readme)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Package(Deb, built(Platforms[0]), pages, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, npm...), must(t)(r.OCI(allBuilt(), nil)), File{"nfpm", 0, p.Config})
		return append(all, p.Files...)
	}
	one, two := Sums(make(pages)), Sums(make(turned))
	if string(one.Body) != string(two.Body) {
		t.Errorf("two runs differ:\n%s\n%s", one.Body, two.Body)
	}
}

func TestVersions(t *testing.T) {
	for version, python := range map[string]string{"1.2.3": "1.2.3", "1.2.3-alpha.1": "1.2.3a1", "0.10.0-beta.12": "0.10.0b12", "1.0.0-rc.0": "1.0.0rc0"} {
		r, err := New(version, commit, date)
		if err != nil || r.python() != python {
			t.Errorf("%s: %q %v, want %q", version, r.python(), err, python)
		}
	}
	for _, bad := range []string{"", "1.2", "v1.2.3", "1.2.3-dev", "1.2.3+build", "01.2.3", "1.2.3-rc1", "1.2.3\n"} {
		if _, err := New(bad, commit, date); err == nil {
			t.Errorf("%q is taken for a version", bad)
		}
	}
}

func TestSums(t *testing.T) {
	got := Sums([]File{{"b", 0, nil}, {"a", 0, []byte("abc")}})
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n" +
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n"
	if got.Name != "SHA256SUMS" || string(got.Body) != want {
		t.Errorf("%s:\n%s", got.Name, got.Body)
	}
}

func TestPages(t *testing.T) {
	help, err := os.ReadFile("testdata/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	run := func(program string, args ...string) (string, error) {
		switch call := program + " " + strings.Join(args, " "); {
		case strings.HasPrefix(call, "bx man --dir "):
			return "", write(args[2], []File{{"bx.1", 0o644, []byte("a page\n")}})
		case call == "te --help":
			return string(help), nil
		default:
			return call + "\n", nil
		}
	}
	files, err := Pages(run, filepath.Join(t.TempDir(), "man"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "== %s\n%s\n", f.Name, f.Body)
	}
	golden.File(t, "testdata/pages.txt", b.String())
	if _, err := readHelp("te", "te is a program.\n"); err == nil {
		t.Error("a help without commands is read")
	}
}
