package release

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed wheel/run.py
var runPy []byte

// wheelTags are the platform tags, https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/.
// The programs are static, so one wheel serves both C libraries of Linux; macOS 12 is the
// oldest that Go 1.26 supports.
var wheelTags = map[Platform][]string{
	{"linux", "amd64"}:   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	{"linux", "arm64"}:   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	{"darwin", "amd64"}:  {"macosx_12_0_x86_64"},
	{"darwin", "arm64"}:  {"macosx_12_0_arm64"},
	{"windows", "amd64"}: {"win_amd64"},
}

// PythonProject is the part of the Python package's sources that goes into a wheel.
type PythonProject struct {
	Sources []File // below the package's folder
	Readme  []byte
	Config  []byte // pyproject.toml
}

// pyproject is the part of a pyproject.toml that goes into a wheel's metadata.
type pyproject struct {
	Project struct {
		RequiresPython string                       `toml:"requires-python"`
		Keywords       []string                     `toml:"keywords"`
		Classifiers    []string                     `toml:"classifiers"`
		Optional       map[string][]string          `toml:"optional-dependencies"`
		EntryPoints    map[string]map[string]string `toml:"entry-points"`
	} `toml:"project"`
}

// Wheel returns the Python package for one platform, with both programs.
func (r Release) Wheel(b Build, p PythonProject, licences []File) (File, error) {
	var project pyproject
	if err := toml.Unmarshal(p.Config, &project); err != nil {
		return File{}, fmt.Errorf("release: pyproject.toml: %w", err)
	}
	stem := strings.ReplaceAll(r.PyPI, "-", "_") + "-" + r.python()
	info := stem + ".dist-info"
	files := inOrder(append(below(r.Python, p.Sources), append(b.files(path.Join(r.Python, "bin")), File{r.Python + "/run.py", 0o644, runPy})...))
	var tags strings.Builder
	for _, tag := range wheelTags[b.Platform] {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	wheel := "Wheel-Version: 1.0\nGenerator: utp-release\nRoot-Is-Purelib: false\n" + tags.String()
	files = append(files,
		File{info + "/METADATA", 0o644, r.pythonMetadata(project, p.Readme, licences)},
		File{info + "/WHEEL", 0o644, []byte(wheel)},
		File{info + "/entry_points.txt", 0o644, r.entryPoints(project)},
	)
	files = append(files, below(info+"/licenses", licences)...)
	files = append(files, File{info + "/RECORD", 0o644, record(files, info+"/RECORD")})
	body, err := zipFiles(files, r.Date)
	return File{stem + "-py3-none-" + strings.Join(wheelTags[b.Platform], ".") + ".whl", 0o644, body}, err
}

// pythonMetadata is https://packaging.python.org/en/latest/specifications/core-metadata/.
func (r Release) pythonMetadata(p pyproject, readme []byte, licences []File) []byte {
	var b bytes.Buffer
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	line("Metadata-Version", "2.4")
	line("Name", r.PyPI)
	line("Version", r.python())
	line("Summary", r.Summary)
	line("License-Expression", r.License)
	for _, f := range licences {
		line("License-File", f.Name)
	}
	line("Project-URL", "Repository, "+r.Repository)
	if len(p.Project.Keywords) > 0 {
		line("Keywords", strings.Join(p.Project.Keywords, ","))
	}
	for _, c := range p.Project.Classifiers {
		line("Classifier", c)
	}
	if p.Project.RequiresPython == "" {
		p.Project.RequiresPython = ">=3.10"
	}
	line("Requires-Python", p.Project.RequiresPython)
	for _, extra := range slices.Sorted(maps.Keys(p.Project.Optional)) {
		line("Provides-Extra", extra)
		for _, need := range p.Project.Optional[extra] {
			line("Requires-Dist", withExtra(need, extra))
		}
	}
	line("Description-Content-Type", "text/markdown")
	b.WriteString("\n")
	b.Write(readme)
	return b.Bytes()
}

// withExtra adds the condition of an extra to a requirement.
func withExtra(need, extra string) string {
	name, condition, ok := strings.Cut(need, ";")
	if ok {
		return strings.TrimSpace(name) + "; (" + strings.TrimSpace(condition) + ") and extra == '" + extra + "'"
	}
	return strings.TrimSpace(need) + "; extra == '" + extra + "'"
}

// entryPoints returns the commands, and the plugins that pyproject.toml declares.
func (r Release) entryPoints(p pyproject) []byte {
	var b bytes.Buffer
	b.WriteString("[console_scripts]\n")
	for _, program := range Programs {
		fmt.Fprintf(&b, "%s = %s.run:%s\n", program, r.Python, program)
	}
	for _, group := range slices.Sorted(maps.Keys(p.Project.EntryPoints)) {
		fmt.Fprintf(&b, "\n[%s]\n", group)
		for _, name := range slices.Sorted(maps.Keys(p.Project.EntryPoints[group])) {
			fmt.Fprintf(&b, "%s = %s\n", name, p.Project.EntryPoints[group][name])
		}
	}
	return b.Bytes()
}

// record returns the wheel's list of its files, with no hash for the list itself.
func record(files []File, self string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.Body)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.Body))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}
