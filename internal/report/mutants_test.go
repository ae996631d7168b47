package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMutants breaks a function of which one half is tested.
func TestMutants(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"m.go": `package m

const seven = 7

// Sign is tested, Half is not.
func Sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

func Half(n int) int {
	if n%2 == 1 && n != seven {
		n++
	}
	return n / 2
}
`,
		"m_test.go": `package m

import "testing"

func TestSign(t *testing.T) {
	if Sign(-2) != -1 || Sign(-1) != -1 || Sign(0) != 1 || Sign(1) != 1 {
		t.Fatal("no")
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out strings.Builder
	if err := mutants(&out, []string{"-n", "100", "-seed", "3", "."}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.Contains(line, "nobody notices") && !strings.Contains(line, "m.go:14:") && !strings.Contains(line, "m.go:15:") && !strings.Contains(line, "m.go:17:") {
			t.Errorf("not noticed in what is tested: %s", line)
		}
	}
	if !strings.Contains(text, "m.go:15: dropped: nobody notices") || !strings.Contains(text, "0 by others") || strings.Contains(text, " 0 noticed") {
		t.Errorf("it says\n%s", text)
	}
	if err := mutants(&out, nil); err == nil {
		t.Error("no package, and no error")
	}
}

func TestSlowTestsComeLast(t *testing.T) {
	parts := bySpeed("=== RUN   TestA\n--- PASS: TestA (0.01s)\n--- PASS: TestSlow (3.00s)\n    --- PASS: TestSlow/one (2.00s)\n--- PASS: ExampleB (0.29s)\nPASS\n")
	if want := []part{{"^(ExampleB|TestA)$", 300 * time.Millisecond}, {"^(TestSlow)$", 3 * time.Second}}; !slices.Equal(parts, want) {
		t.Errorf("%v, want %v", parts, want)
	}
}
