//go:build !wasm

package reading

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Cases lists the files of cases: the files named, and of a folder those in and
// below it whose names end in .txtar.
func Cases(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		below, err := walk(path)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			return nil, fmt.Errorf("%s: no case (*.txtar) is in or below it", path)
		}
		files = append(files, below...)
	}
	return files, nil
}

func walk(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".txtar" {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// Folder is the name of the folder that a case stands in.
func Folder(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return filepath.Base(filepath.Dir(file))
}

// testCase is a case of a grammar.
type testCase struct {
	sections map[string]string
	tools    []utp.Tool
}

// readCase reads a txtar file. A section's final newline is not part of it.
func readCase(file string) (*testCase, error) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	c := &testCase{sections: map[string]string{}}
	for _, s := range a.Files {
		c.sections[s.Name] = strings.TrimSuffix(string(s.Data), "\n")
	}
	for _, need := range []string{"in", "events"} {
		if _, ok := c.sections[need]; !ok {
			return nil, fmt.Errorf("%s: the section %q is missing: write \"-- %s --\" and below it %s", file, need, need, sectionOf[need])
		}
	}
	if c.tools, err = caseTools(c.sections["tools"]); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

var sectionOf = map[string]string{"in": "the model's text", "events": "what must be found in it"}

// caseTools reads a JSON list of tools, or one name a line.
func caseTools(s string) (tools []utp.Tool, err error) {
	if s = strings.TrimSpace(s); strings.HasPrefix(s, "[") {
		return ParseTools([]byte(s))
	}
	for _, name := range strings.Fields(s) {
		tools = append(tools, utp.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return tools, nil
}

func (c *testCase) config(d Dialects) parse.Config {
	cfg := d.config()
	cfg.Tools, cfg.Prefill, cfg.Forced = schema.Compile(c.tools), c.sections["prefill"], c.sections["forced"]
	if seen, ok := c.sections["seen"]; ok {
		cfg.Seen = []string{seen}
	}
	if stops, ok := c.sections["stops"]; ok {
		cfg.Stops = strings.Split(stops, "\n")
	}
	return cfg
}

// Test runs one case and gives the difference between what it wants and what
// was found, or "".
func Test(d Dialects, file string) (string, error) {
	c, err := readCase(file)
	if err != nil {
		return "", err
	}
	_, cut := c.sections["cut"]
	cfg, in := c.config(d), c.sections["in"]
	got := transcript(cfg, in, cut, len(in))
	want := c.sections["events"]
	if got := matched(want, got); got != want && got != want+"\n" {
		return string(diff.Diff("want", lines(want), "got", []byte(got))), nil
	}
	if byByte := transcript(cfg, in, cut, 1); byByte != got {
		return string(diff.Diff("in one piece", []byte(got), "byte by byte", []byte(byByte))), nil
	}
	return "", nil
}

func lines(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s + "\n")
}

// transcript parses a text in pieces of so many bytes and prints the reply.
func transcript(cfg parse.Config, s string, cut bool, size int) string {
	var evs []utp.Event
	p := parse.New(cfg)
	for piece := range slices.Chunk([]byte(s), max(size, 1)) {
		evs = append(evs, p.Feed(string(piece))...)
	}
	return parse.Transcript(utp.Collect(append(evs, p.Close(cut)...)))
}

// matched is got with each line as short as the one wanted in its place: what a
// wanted line leaves out at its end is not compared.
func matched(want, got string) string {
	wanted, found := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(found)) {
		if wanted[i] != "" && strings.HasPrefix(found[i], wanted[i]+" ") {
			found[i] = wanted[i]
		}
	}
	return strings.Join(found, "\n")
}
