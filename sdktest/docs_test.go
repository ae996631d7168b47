package sdktest

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

var row = regexp.MustCompile(`(?m)^\| ([^ |]+) \| (v?\d[^ |]*) \|`)

// The page says how many runs there are.
func TestThePageCountsTheRuns(t *testing.T) {
	page, err := os.ReadFile("../docs/sdks.md")
	if err != nil || !strings.Contains(string(page), sum()) {
		t.Errorf("the page does not say: %s (%v)", sum(), err)
	}
}

// The page names the versions that the tests use, and all of them.
func TestThePageNamesTheVersions(t *testing.T) {
	page, err := os.ReadFile("../docs/sdks.md")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var npm struct{ Dependencies map[string]string }
	b, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &npm); err != nil {
		t.Fatal(err)
	}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		if npm.Dependencies[m[1]] != m[2] && !strings.Contains(string(mod), "\t"+m[1]+" "+m[2]+"\n") {
			t.Errorf("the page says %s %s", m[1], m[2])
		}
		delete(npm.Dependencies, m[1])
	}
	if len(npm.Dependencies) > 0 {
		t.Errorf("the page lacks %v", npm.Dependencies)
	}
}
