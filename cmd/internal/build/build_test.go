package build

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func ExampleInfo() {
	fmt.Println(Info{Version: "1.2.3", Commit: "0123456789abcdef", Date: "2026-11-23T10:00:00Z"})
	fmt.Println(Info{Version: "(devel)"})
	// Output:
	// 1.2.3 (commit 0123456789ab, 2026-11-23T10:00:00Z)
	// (devel)
}

func TestFrom(t *testing.T) {
	noted := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.2026"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "beef"}, {Key: "vcs.time", Value: "then"}}}
	for _, c := range []struct {
		name   string
		linked Info
		known  *debug.BuildInfo
		want   Info
	}{
		{"a release", Info{"1.2.3", "cafe", "now"}, noted, Info{"1.2.3", "cafe", "now"}},
		{"a release is not given another commit", Info{Version: "1.2.3"}, noted, Info{Version: "1.2.3"}},
		{"go install", Info{}, noted, Info{"v1.2.4-0.2026", "beef", "then"}},
		{"nothing known", Info{}, nil, Info{Version: "(devel)"}},
	} {
		if got := from(c.linked, c.known); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Both programs tell what the linker was told, in the same words.
func TestProgramsTellTheirBuild(t *testing.T) {
	const at = "github.com/unifiedtoolprotocol/utp/cmd/internal/build."
	flags := "-ldflags=-X " + at + "version=1.2.3-rc.1 -X " + at + "commit=0123456789abcdef0123456789abcdef01234567 -X " + at + "date=2026-11-23T10:00:00Z"
	for _, program := range []string{"bx", "te"} {
		file := filepath.Join(t.TempDir(), program+".exe")
		if out, err := exec.Command("go", "build", flags, "-o", file, "../../"+program).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := program + " 1.2.3-rc.1 (commit 0123456789ab, 2026-11-23T10:00:00Z)\n"
		for _, arg := range []string{"version", "--version"} {
			out, err := exec.Command(file, arg).Output()
			if err != nil || string(out) != want {
				t.Errorf("%s %s: %q %v, want %q", program, arg, out, err, want)
			}
		}
		out, err := exec.Command(file, "--json", "version").Output()
		if got := strings.Join(strings.Fields(string(out)), ""); err != nil || got != `{"version":"1.2.3-rc.1","commit":"0123456789abcdef0123456789abcdef01234567","date":"2026-11-23T10:00:00Z"}` {
			t.Errorf("%s --json version: %s %v", program, out, err)
		}
	}
}
