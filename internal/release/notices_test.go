package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is shipped has the licences of Go and of every module that is linked, on every
// platform, the same on every run.
func TestNotices(t *testing.T) {
	j := Job{Root: "../.."}
	for name, c := range map[string]struct {
		of         linked
		want, none []string
	}{
		"the programs": {shipped, []string{"Go's runtime and standard library, go1.", "github.com/spf13/cobra v", "github.com/inconshreveable/mousetrap v", "modernc.org/libc v",
			"Redistribution and use in source and binary forms", "Apache License", "Permission is hereby granted"}, []string{"pgregory.net/rapid", "goreleaser"}},
		"the engine": {engine, []string{"github.com/santhosh-tekuri/jsonschema/v6 v", "golang.org/x/text v", "jsonschema/v6 were changed"}, []string{"modernc.org", "cobra"}},
	} {
		one, err := j.notices(t.Context(), c.of)
		if err != nil {
			t.Fatal(err)
		}
		two, err := j.notices(t.Context(), c.of)
		if err != nil || string(one) != string(two) {
			t.Errorf("%s: two runs differ, %v", name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(one), want) {
				t.Errorf("%s: %q is not there", name, want)
			}
		}
		for _, none := range c.none {
			if strings.Contains(string(one), none) {
				t.Errorf("%s: %q is there, and is not linked", name, none)
			}
		}
	}
}

// Every module that is noted in a program is named in what goes along with it.
func TestNoticesNameEveryModuleOfTheBill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "te")
	if err := Compile(t.Context(), "../..", "te", Platforms[0], fixed(t), file); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	notices, err := Job{Root: "../.."}.notices(t.Context(), shipped)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		if part := strings.Fields(line); len(part) > 2 && part[0] == "dep" {
			seen++
			if !strings.Contains(string(notices), part[1]+" "+part[2]+" (") {
				t.Errorf("te links %s %s, whose licence is not there", part[1], part[2])
			}
		}
	}
	if seen == 0 {
		t.Errorf("te has no modules:\n%s", out)
	}
}

// A module without a licence stops the release, and nested licences are found.
func TestLicencesOfAModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"LICENSE": "of the module", "inner/COPYING.txt": "of a part", "inner/notice.go": "code", "other/LICENSE": "of what is not linked", "inner/deep/x.go": "code"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := source{name: "m v1"}
	for range 2 {
		if err := s.read(dir, filepath.Join(dir, "inner", "deep")); err != nil {
			t.Fatal(err)
		}
	}
	other := source{"n v2", []File{{"LICENCE.md", 0o644, []byte("\r\nof the module\r\n")}}}
	bar := strings.Repeat("=", 78)
	want := "Code of others that is part of this, and its licences.\nIt was changed.\n\n" + bar + "\nm v1 (LICENSE)\nn v2 (LICENCE.md)\n" + bar + "\n\nof the module\n" +
		"\n" + bar + "\nm v1 (inner/COPYING.txt)\n" + bar + "\n\nof a part\n"
	if got := string(written([]source{s, other}, "It was changed.\n")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
