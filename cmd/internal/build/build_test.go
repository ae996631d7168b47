package build

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func ExampleVersion() {
	fmt.Println(Version()) // tests are built of no version
	// Output: (devel)
}

// Both programs tell what the linker was told, in the same words.
func TestProgramsTellTheirBuild(t *testing.T) {
	const (
		at   = " -X github.com/unifiedtoolprotocol/utp/cmd/internal/build."
		hash = "0123456789abcdef0123456789abcdef01234567"
		date = "2026-11-23T10:00:00Z"
	)
	for _, program := range []string{"bx", "te"} {
		file := filepath.Join(t.TempDir(), program+".exe")
		said := func(args ...string) string {
			out, err := exec.Command(file, args...).Output()
			if err != nil {
				t.Errorf("%s %v: %v", program, args, err)
			}
			return string(out)
		}
		make := func(flags string) {
			if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags="+flags, "-o", file, "../../"+program).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		make(at + "version=1.2.3-rc.1" + at + "commit=" + hash + at + "date=" + date)
		for _, arg := range []string{"version", "--version"} {
			if got, want := said(arg), program+" 1.2.3-rc.1 (commit "+hash+", "+date+")\n"; got != want {
				t.Errorf("%s %s: %q, want %q", program, arg, got, want)
			}
		}
		if program == "te" {
			continue
		}
		if got := strings.Join(strings.Fields(said("version", "--json")), ""); got != `{"version":"1.2.3-rc.1","commit":"`+hash+`","date":"`+date+`"}` {
			t.Errorf("bx version --json: %s", got)
		}
		make("")
		if got := said("version"); got != "bx (devel)\n" {
			t.Errorf("a build of no version says %q", got)
		}
	}
}
