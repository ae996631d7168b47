package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Job is one run of make release.
type Job struct {
	Root      string     // of the module
	Version   string     // 1.2.3
	Platforms []Platform // to build for
	Epoch     string     // SOURCE_DATE_EPOCH; without it the date is the commit's
	Say       func(format string, args ...any)
}

// Make builds the programs and returns all files of the release.
func Make(ctx context.Context, j Job) ([]File, error) {
	r, err := j.release(ctx)
	if err != nil {
		return nil, err
	}
	var builds []Build
	for _, p := range j.Platforms {
		b, err := j.build(ctx, r, p)
		if err != nil {
			return nil, err
		}
		builds = append(builds, b)
	}
	return j.Pack(ctx, r, builds)
}

// Pack returns all files of a release of built programs.
func (j Job) Pack(ctx context.Context, r Release, builds []Build) ([]File, error) {
	return j.summed(ctx, r, builds, func(src sources, temp string) ([]File, error) {
		made, archives, err := j.portable(r, builds, src)
		if err != nil {
			return nil, err
		}
		packages, err := j.linux(ctx, r, builds, src, temp)
		if err != nil {
			return nil, err
		}
		made = append(made, packages...)
		certificates, err := j.command(ctx, "go", "-C", "tools", "run", "./roots")
		if err != nil {
			return nil, err
		}
		image, err := r.OCI(builds, append(below("licenses", src.Licences), File{"etc/ssl/certs/ca-certificates.crt", 0o644, []byte(certificates + "\n")}))
		if err != nil {
			return nil, err
		}
		made = append(made, image, r.Formula(archives), r.Compose())
		if zip, ok := archives[Platform{"windows", "amd64"}]; ok {
			made = append(made, r.Scoop(zip))
		}
		return made, nil
	})
}

// Portable returns the files that need no other program: archives, bills of materials,
// wheels and npm packages, with their sums.
func (j Job) Portable(ctx context.Context, r Release, builds []Build) ([]File, error) {
	return j.summed(ctx, r, builds, func(src sources, _ string) ([]File, error) {
		made, _, err := j.portable(r, builds, src)
		return made, err
	})
}

// summed returns the files that make returns, and their sums. temp is a folder that is
// removed afterwards.
func (j Job) summed(ctx context.Context, r Release, builds []Build, make func(src sources, temp string) ([]File, error)) ([]File, error) {
	temp, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	src, err := j.sources(ctx, r, builds, temp)
	if err != nil {
		return nil, err
	}
	made, err := make(src, temp)
	if err != nil {
		return nil, err
	}
	return append(made, Sums(made)), nil
}

// release returns the release, with its commit and date from git.
func (j Job) release(ctx context.Context) (Release, error) {
	if _, err := New(j.Version, "", time.Time{}); err != nil {
		return Release{}, err
	}
	commit, err := j.command(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return Release{}, err
	}
	epoch := j.Epoch
	if epoch == "" {
		if epoch, err = j.command(ctx, "git", "log", "-1", "--format=%ct"); err != nil {
			return Release{}, err
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return Release{}, fmt.Errorf("release: SOURCE_DATE_EPOCH is %q, want seconds since 1970", epoch)
	}
	changed, err := j.command(ctx, "git", "status", "--porcelain")
	if err != nil {
		return Release{}, err
	}
	if changed != "" {
		j.Say("The checkout has changes that are not committed; the programs say %s-dirty.", commit[:12])
		commit += "-dirty"
	}
	return New(j.Version, commit, time.Unix(seconds, 0))
}

// build builds every program for a platform.
func (j Job) build(ctx context.Context, r Release, p Platform) (Build, error) {
	b := Build{Platform: p, Programs: map[string][]byte{}}
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	for _, program := range Programs {
		j.Say("%s for %s", program, p)
		file := filepath.Join(dir, p.Exe(program))
		if err := Compile(ctx, j.Root, program, p, r, file); err != nil {
			return b, err
		}
		if b.Programs[program], err = os.ReadFile(file); err != nil {
			return b, err
		}
		if n := len(b.Programs[program]); program == "te" && n > MaxTe {
			j.Say("te for %s has %d bytes, want at most %d", p, n, MaxTe)
		}
	}
	return b, nil
}

// MaxTe is the largest size of te as shipped, in bytes: agents start it for every
// command.
const MaxTe = 4 << 20

// Compile builds a program of the module as shipped: without CGO, symbols or paths of
// this machine, and ignoring GOEXPERIMENT in the environment.
func Compile(ctx context.Context, root, program string, p Platform, r Release, file string) error {
	const at = " -X github.com/unifiedtoolprotocol/utp/cmd/internal/build."
	flags := "-ldflags=-s -w"
	if r.Version != "" {
		flags += at + "version=" + r.Version + at + "commit=" + r.Commit + at + "date=" + r.Date.Format(time.RFC3339)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", flags, "-o", file, "./cmd/"+program)
	cmd.Dir = root
	cmd.Env = p.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s for %s: %w: %s", program, p, err, out)
	}
	return nil
}

// env returns the environment of a build, without this one's GOEXPERIMENT.
func (p Platform) env() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GODEBUG=", "GOWORK=off")
}

// sources are the files that go along with the programs.
type sources struct {
	License, Readme, Unit []byte

	Licences []File // LICENSE, and those of what the programs link
	Engine   []File // LICENSE, and those of what the engine links
	Pages    []File // of the archives: manual pages, completions, licences, README.md
	Python   PythonProject
	Node     []File // the folder typescript, if it is built
}

func (j Job) sources(ctx context.Context, r Release, builds []Build, temp string) (s sources, err error) {
	for name, at := range map[string]*[]byte{"LICENSE": &s.License, "README.md": &s.Readme, "deploy/bx.service": &s.Unit} {
		if *at, err = os.ReadFile(filepath.Join(j.Root, name)); err != nil {
			return s, err
		}
	}
	if s.Pages, err = j.pages(ctx, r, builds, temp); err != nil {
		return s, err
	}
	for at, l := range map[*[]File]linked{&s.Licences: shipped, &s.Engine: engine} {
		notices, err := j.notices(ctx, l)
		if err != nil {
			return s, err
		}
		*at = licences(s.License, notices)
	}
	s.Pages = append(append(s.Pages, s.Licences...), File{"README.md", 0o644, s.Readme})
	s.Python.Readme = s.Readme
	if s.Python.Sources, err = readTree(filepath.Join(j.Root, "python", r.Python)); err != nil {
		return s, err
	}
	s.Python.Sources = slices.DeleteFunc(s.Python.Sources, func(f File) bool {
		return !strings.HasSuffix(f.Name, ".py") && !strings.HasSuffix(f.Name, "py.typed")
	})
	for name, at := range map[string]*[]byte{"python/pyproject.toml": &s.Python.Config, "python/README.md": &s.Python.Readme} {
		body, err := os.ReadFile(filepath.Join(j.Root, name))
		if err == nil {
			*at = body
		} else if !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
	}
	if s.Node, err = readTree(filepath.Join(j.Root, "typescript")); len(under("dist", s.Node)) == 0 {
		j.Say("typescript/dist is not built (make wasm): %s is left out", r.NpmParse)
		s.Node = nil
	}
	return s, err
}

// pages returns the manual pages and completions. It runs the programs for this machine,
// and builds them if the release has none.
func (j Job) pages(ctx context.Context, r Release, builds []Build, temp string) ([]File, error) {
	host := Platform{runtime.GOOS, runtime.GOARCH}
	at := slices.IndexFunc(builds, func(b Build) bool { return b.Platform == host })
	if at < 0 {
		b, err := j.build(ctx, r, host)
		if err != nil {
			return nil, err
		}
		builds, at = append(slices.Clone(builds), b), len(builds)
	}
	dir := filepath.Join(temp, "host")
	if err := write(dir, builds[at].files("")); err != nil {
		return nil, err
	}
	return Pages(func(program string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(dir, host.Exe(program)), args...)
		cmd.Dir, cmd.Env = temp, []string{"HOME=" + temp}
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("release: %s %s: %w", program, strings.Join(args, " "), err)
		}
		return string(out), nil
	}, filepath.Join(temp, "man"))
}

// write writes files into a folder.
func write(dir string, files []File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Body, f.Mode); err != nil {
			return err
		}
	}
	return nil
}

// readTree reads the files below a folder, except node_modules and caches. A missing
// folder has none.
func readTree(root string) (files []File, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == root && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "__pycache__"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		files = append(files, File{filepath.ToSlash(below), 0o644, body})
		return err
	})
	return files, err
}

// portable returns the files of Portable, and the archives also by platform.
func (j Job) portable(r Release, builds []Build, s sources) (made []File, archives map[Platform]File, err error) {
	archives = map[Platform]File{}
	for _, b := range builds {
		j.Say("packing for %s", b.Platform)
		for _, make := range []func() (File, error){
			func() (File, error) { return r.Archive(b, s.Pages) },
			func() (File, error) { return r.SBOM(b) },
			func() (File, error) { return r.Wheel(b, s.Python, s.Licences) },
		} {
			f, err := make()
			if err != nil {
				return nil, nil, err
			}
			made = append(made, f)
		}
		archives[b.Platform] = made[len(made)-3]
	}
	packages, err := r.NpmPackages(builds, s.Licences, s.Readme)
	if err != nil {
		return nil, nil, err
	}
	made = append(made, packages...)
	if len(s.Node) > 0 {
		f, err := r.NpmParsePackage(s.Node, s.Engine)
		if err != nil {
			return nil, nil, err
		}
		made = append(made, f)
	}
	return made, archives, nil
}

// linux returns the Linux packages, built with the nfpm that tools/go.mod pins.
func (j Job) linux(ctx context.Context, r Release, builds []Build, s sources, temp string) (made []File, err error) {
	nfpm := filepath.Join(temp, "nfpm")
	if _, err := j.command(ctx, "go", "-C", "tools", "build", "-o", nfpm, "github.com/goreleaser/nfpm/v2/cmd/nfpm"); err != nil {
		return nil, err
	}
	for _, b := range builds {
		for _, format := range []Format{Deb, RPM} {
			if b.OS != "linux" {
				continue
			}
			j.Say("%s for %s", format, b.Platform)
			p, err := r.Package(format, b, s.Pages, s.Unit)
			if err != nil {
				return nil, err
			}
			f, err := j.nfpm(ctx, nfpm, r, p, format, filepath.Join(temp, p.File+".d"))
			if err != nil {
				return nil, err
			}
			made = append(made, f)
		}
	}
	return made, nil
}

// nfpm builds a Linux package with the program nfpm.
func (j Job) nfpm(ctx context.Context, program string, r Release, p Package, format Format, dir string) (File, error) {
	if err := write(dir, append(p.Files, File{"nfpm.json", 0o644, p.Config})); err != nil {
		return File{}, err
	}
	cmd := exec.CommandContext(ctx, program, "pkg", "--config", "nfpm.json", "--packager", string(format), "--target", p.File)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.Date.Unix(), 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		return File{}, fmt.Errorf("release: nfpm for %s: %w: %s", p.File, err, out)
	}
	body, err := os.ReadFile(filepath.Join(dir, p.File))
	return File{p.File, 0o644, body}, err
}

// command runs a program in the module's root and returns what it printed.
func (j Job) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = j.Root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("release: %s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
