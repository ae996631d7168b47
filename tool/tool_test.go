package tool

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/te"
)

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// age makes the times of all files old, so that a search need not read them twice.
func age(t testing.TB, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(name, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func open(t testing.TB, c Config) *Set {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func run(s *Set, name, args string) utp.Result {
	return s.Run(context.Background(), utp.Call{ID: "1", Name: name, Args: json.RawMessage(args)})
}

// quoted is a JSON string.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestRun runs the calls of each case one after the other and shows what a
// model would read.
func TestRun(t *testing.T) {
	golden.Run(t, "testdata/run/*.txtar", func(t *testing.T, c *golden.Case) {
		dir := t.TempDir()
		for _, name := range c.Names() {
			if name != "calls" && name != "results" {
				write(t, dir, name, c.Get(name)+strings.Repeat("\n", min(len(c.Get(name)), 1)))
			}
		}
		age(t, dir)
		s := open(t, Config{Root: dir, IndexDir: t.TempDir()})
		var b strings.Builder
		for call := range strings.Lines(c.Get("calls")) {
			call = strings.TrimSuffix(call, "\n")
			name, args, _ := strings.Cut(call, " ")
			r := run(s, name, args)
			fmt.Fprintf(&b, "=== %s: %s\n", call, r.Status)
			b.WriteString(strings.TrimSuffix(r.Text(), "\n") + "\n\n")
		}
		c.Want(t, "results", b.String())
	})
}

// contract: X-01 T-08
func TestTools(t *testing.T) {
	s := open(t, Config{Root: t.TempDir()})
	var got []string
	for _, tl := range s.Tools() {
		got = append(got, fmt.Sprintf("%s %s %v", tl.Tier, tl.Name, tl.Confirm))
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(tl.Schema, &schema); err != nil || schema.Type != "object" {
			t.Errorf("%s: schema %s: %v", tl.Name, tl.Schema, err)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s has the type %q and the description %q", tl.Name, name, p.Type, p.Description)
			}
		}
		for _, name := range schema.Required {
			if schema.Properties[name].Type == "" {
				t.Errorf("%s: %s is required and not there", tl.Name, name)
			}
		}
		if tl.Description == "" || strings.TrimSpace(tl.Description) != tl.Description {
			t.Errorf("%s: description %q", tl.Name, tl.Description)
		}
	}
	want := []string{
		"CRAWL search_code false", "CRAWL glob false", "CRAWL grep false", "CRAWL read_result false",
		"WALK git false", "WALK inspect_code false", "WALK list_dir false", "WALK read_file false",
		"RUN apply_patch true", "RUN delete_file true", "RUN edit_block true", "RUN move_file true", "RUN write_file true",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	s.Tools()[0].Schema[0] = '!'
	if s.Tools()[0].Schema[0] != '{' {
		t.Error("a caller can change the schema of the next")
	}
}

// secretText is what must never come out.
const secretText = "root:x:0:0:secret"

// jail is a root beside a secret, with links that lead to it.
func jail(t *testing.T) (s *Set, root, outside string) {
	t.Helper()
	top := t.TempDir()
	root, outside = filepath.Join(top, "ws"), filepath.Join(top, "ws2")
	write(t, outside, "passwd", secretText)
	write(t, root, "in.txt", "inside")
	write(t, root, "dir/deep.txt", "inside")
	for at, to := range map[string]string{
		"abs": filepath.Join(outside, "passwd"), "rel": "../ws2/passwd", "absdir": outside, "reldir": "../ws2",
		"dir/up": "../../ws2", "chain": "rel", "loop": "loop", "home": "..", "ok": "dir", "okfile": "in.txt",
	} {
		if err := os.Symlink(to, filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, Config{Root: root, IndexDir: t.TempDir()}), root, outside
}

// contract: X-12 X-13
func TestNoPathLeadsOut(t *testing.T) {
	s, root, outside := jail(t)
	home, _ := os.UserHomeDir()
	paths := []string{
		"../../../etc/passwd", "../ws2/passwd", "dir/../../ws2/passwd", "/etc/passwd", "//etc/passwd", outside + "/passwd", root + "/../ws2/passwd",
		root + "2/passwd", "abs", "rel", "chain", "absdir/passwd", "reldir/passwd", "dir/up/passwd", "home/ws2/passwd", "loop", "loop/x",
		"~", "~/.ssh/id_rsa", "..", "./..", "in.txt/../../ws2/passwd", "/proc/self/environ", "/", "ok/../../ws2/passwd", home + "/.profile",
	}
	for _, p := range paths {
		for name, args := range map[string]string{
			"read_file": `{"path":%s}`, "list_dir": `{"path":%s}`, "inspect_code": `{"path":%s,"line":1}`,
			"edit_block": `{"path":%s,"old_text":"root","new_text":"me"}`, "write_file": `{"path":%s,"content":"x"}`,
		} {
			r := run(s, name, fmt.Sprintf(args, quoted(p)))
			if r.Status != utp.StatusDenied || !strings.HasPrefix(r.Text(), "Path escapes repository boundary") {
				t.Errorf("%s %s: %s %q, want it denied", name, p, r.Status, r.Text())
			}
			if strings.Contains(r.Text(), "secret") || strings.Contains(strings.ReplaceAll(r.Text(), p, ""), filepath.Dir(root)) {
				t.Errorf("%s %s: %q leaks", name, p, r.Text())
			}
		}
	}
	if got := read(t, outside, "passwd"); got != secretText {
		t.Errorf("the file outside is now %q", got)
	}
}

// contract: X-12 X-13
func TestNoMadeUpPathLeadsOut(t *testing.T) {
	s, root, outside := jail(t)
	parts := rapid.SampledFrom([]string{"..", ".", "", "dir", "up", "abs", "rel", "absdir", "reldir", "chain", "loop", "home", "ok", "okfile",
		"passwd", "ws", "ws2", "in.txt", "deep.txt", "~", "\x00", root, outside, "/", `\`, "..\\..", "%2e%2e", " "})
	rapid.Check(t, func(t *rapid.T) {
		p := strings.Join(rapid.SliceOfN(parts, 1, 6).Draw(t, "parts"), "/")
		for name, args := range map[string]string{"read_file": `{"path":%s}`, "inspect_code": `{"path":%s}`, "write_file": `{"path":%s,"content":"inside"}`} {
			r := run(s, name, fmt.Sprintf(args, quoted(p)))
			if strings.Contains(r.Text(), "secret") {
				t.Fatalf("%s %q: %s %q", name, p, r.Status, r.Text())
			}
		}
		if b, err := os.ReadFile(filepath.Join(outside, "passwd")); string(b) != secretText {
			t.Fatalf("%q wrote outside: %q %v", p, b, err)
		}
	})
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: something was made outside", entries, err)
	}
}

var long = flag.Bool("long", false, "race 100,000 times and undo 1,000 turns, as make long does")

// TestNoRaceLeadsOut reads and writes a name that is a file and a link out of the
// root in turn, as an attacker would have it, and a file in a folder likewise.
//
// contract: X-13
func TestNoRaceLeadsOut(t *testing.T) {
	s, root, outside := jail(t)
	tries := 2000
	if *long {
		tries = 100_000
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		temp, flip := filepath.Join(root, "temp"), filepath.Join(root, "flip")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			var err error
			if i%2 == 0 {
				err = os.Symlink(filepath.Join(outside, "passwd"), temp)
			} else {
				err = os.WriteFile(temp, []byte("inside"), 0o666)
			}
			if err := errors.Join(err, os.Rename(temp, flip)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	wg.Go(func() { // a folder and a link out of the root change places
		real, link, at := filepath.Join(root, "real"), filepath.Join(root, "link"), filepath.Join(root, "fold")
		if err := errors.Join(os.Mkdir(real, 0o777), os.WriteFile(filepath.Join(real, "passwd"), []byte("inside"), 0o666), os.Symlink(outside, link)); err != nil {
			t.Error(err)
			return
		}
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			from := []string{real, link}[i%2]
			if os.Rename(from, at) == nil {
				_ = os.Rename(at, from)
			} else { // a call has made a folder of that name
				_ = os.RemoveAll(at)
			}
		}
	})
	calls := []struct{ name, args string }{
		{"read_file", `{"path":"flip"}`}, {"read_file", `{"path":"fold/passwd"}`}, {"inspect_code", `{"path":"fold/passwd"}`}, {"grep", `{"pattern":"secret","path":"fold"}`},
		{"list_dir", `{"path":"fold"}`}, {"read_file", `{"path":"flip"}`}, {"write_file", `{"path":"fold/passwd","content":"overwritten"}`},
		{"edit_block", `{"path":"fold/passwd","old_text":"inside","new_text":"inside"}`}, {"delete_file", `{"path":"fold/passwd"}`}, {"write_file", `{"path":"fold/made","content":"x"}`},
	}
	for i := range tries {
		c := calls[0]
		if i%20 == 0 || *long && i%3 == 0 { // those that write wait for the disk
			c = calls[i/3%len(calls)]
		}
		if r := run(s, c.name, c.args); strings.Contains(r.Text(), "secret") && c.name != "grep" || strings.Contains(r.Text(), secretText) {
			t.Fatalf("leaked by %s: %s", c.name, r.Text())
		}
	}
	close(stop)
	wg.Wait()
	if b, err := os.ReadFile(filepath.Join(outside, "passwd")); string(b) != secretText || err != nil {
		t.Errorf("outside there is %q now (%v)", b, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: something was made outside", entries, err)
	}
}

// contract: X-13
func TestNullBytesDevicesAndSecrets(t *testing.T) {
	s, root, _ := jail(t)
	write(t, root, ".env", "KEY="+secretText)
	write(t, root, "sub/.env.local", "KEY="+secretText)
	if err := os.Symlink(".env", filepath.Join(root, "harmless.txt")); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		"in.txt\x00.png": "Path contains null bytes", ".env": "Reading .env is not allowed", "sub/.env.local": "Reading sub/.env.local is not allowed",
		"harmless.txt": "Reading harmless.txt is not allowed", "sub/../.ENV": "Reading sub/../.ENV is not allowed",
	}
	if runtime.GOOS != "windows" {
		fifo(t, filepath.Join(root, "fifo"))
		cases["fifo"] = "Cannot access device file: fifo"
	}
	for p, want := range cases {
		for _, name := range []string{"read_file", "inspect_code", "edit_block", "write_file"} {
			r := run(s, name, fmt.Sprintf(`{"path":%s,"content":"x","old_text":"K","new_text":"L"}`, quoted(p)))
			writes := name == "edit_block" || name == "write_file"
			if r.Status != utp.StatusDenied || !writes && !strings.HasPrefix(r.Text(), want) || strings.Contains(r.Text(), secretText) {
				t.Errorf("%s %q: %s %q, want %q", name, p, r.Status, r.Text(), want)
			}
		}
	}
	if got := read(t, root, ".env"); got != "KEY="+secretText {
		t.Errorf(".env is now %q", got)
	}
}

// contract: X-13
func TestPathsInsideAreTaken(t *testing.T) {
	s, root, _ := jail(t)
	for _, p := range []string{"in.txt", "./in.txt", "dir/../in.txt", root + "/in.txt", root + "/dir/../in.txt", "ok/deep.txt", "okfile", "dir//deep.txt", "~x/../in.txt"} {
		r := run(s, "read_file", fmt.Sprintf(`{"path":%s}`, quoted(p)))
		if r.Status != utp.StatusOK || !strings.HasSuffix(r.Text(), "\ninside") {
			t.Errorf("read_file %s: %s %q", p, r.Status, r.Text())
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Root: link})
	for _, p := range []string{link + "/in.txt", root + "/in.txt", "in.txt"} {
		if r := run(s, "read_file", fmt.Sprintf(`{"path":%s}`, quoted(p))); r.Status != utp.StatusOK {
			t.Errorf("read_file %s of a root that is a link: %s", p, r.Text())
		}
	}
	for _, p := range []string{"okfile", "ok/deep.txt", "ok/new.txt"} {
		r := run(s, "write_file", fmt.Sprintf(`{"path":%s,"content":"x"}`, quoted(p)))
		if r.Status != utp.StatusDenied || !strings.Contains(r.Text(), "symbolic link") {
			t.Errorf("write_file %s: %s %q, want links refused", p, r.Status, r.Text())
		}
	}
}

func TestWritingKeepsPermissionsAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "run.sh", "echo a\n")
	write(t, dir, "fixed.txt", "fixed")
	for name, mode := range map[string]os.FileMode{"run.sh": 0o754, "fixed.txt": 0o444} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "run.sh"), filepath.Join(dir, "other.sh")); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Root: dir})
	for name, args := range map[string]string{
		"edit_block": `{"path":"run.sh","old_text":"a","new_text":"b"}`,
		"write_file": `{"path":"run.sh","content":"echo c\n","mode":"append"}`,
	} {
		if r := run(s, name, args); r.Status != utp.StatusOK {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
	info, err := os.Stat(filepath.Join(dir, "run.sh"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o754 {
		t.Errorf("mode %v, %v, want 754", info.Mode(), err)
	}
	if got := read(t, dir, "run.sh"); got != "echo b\necho c\n" {
		t.Errorf("run.sh is %q", got)
	}
	if got := read(t, dir, "other.sh"); got != "echo a\n" {
		t.Errorf("the other name of the file has now %q", got)
	}
	if r := run(s, "write_file", `{"path":"fixed.txt","content":"x"}`); r.Text() != `{"error":"Permission denied: fixed.txt"}` {
		t.Errorf("write_file of a read-only file: %s", r.Text())
	}
	big := run(s, "write_file", `{"path":"big.txt","content":"`+strings.Repeat("x", maxFile+1)+`"}`)
	if want := fmt.Sprintf(`{"error":"Content too large: %d > %d"}`, maxFile+1, maxFile); big.Text() != want {
		t.Errorf("got %s, want %s", big.Text(), want)
	}
	var names []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if d := cmp.Diff([]string{"fixed.txt", "other.sh", "run.sh"}, names); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestLineEndsAndBinaries(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "dos.txt", "a\r\nb\r\n")
	write(t, dir, "bin", "a\x00b")
	write(t, dir, "latin.txt", "caf\xe9\n")
	s := open(t, Config{Root: dir})
	for _, c := range []struct{ name, args, want string }{
		{"edit_block", `{"path":"dos.txt","old_text":"a\nb","new_text":"c\nd"}`, `"success":true`},
		{"edit_block", `{"path":"bin","old_text":"a","new_text":"c"}`, `{"error":"File is not UTF-8 text: bin"}`},
		{"read_file", `{"path":"bin"}`, `{"error":"File is not UTF-8 text: bin"}`},
		{"read_file", `{"path":"latin.txt"}`, "caf\uFFFD"},
	} {
		if r := run(s, c.name, c.args); !strings.Contains(r.Text(), c.want) {
			t.Errorf("%s %s: %s, want %s", c.name, c.args, r.Text(), c.want)
		}
	}
	if got := read(t, dir, "dos.txt"); got != "c\r\nd\r\n" {
		t.Errorf("dos.txt is now %q", got)
	}
}

// TestParallelEditsAllCount makes 20 edits of one file at once.
//
// contract: A-11
func TestParallelEditsAllCount(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "line %d.\n", i)
	}
	write(t, dir, "a.txt", text.String())
	s := open(t, Config{Root: dir})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if r := run(s, "edit_block", fmt.Sprintf(`{"path":"a.txt","old_text":"line %d.","new_text":"done %d."}`, i, i)); r.Status != utp.StatusOK {
				t.Error(r.Text())
			}
		})
	}
	wg.Wait()
	if got, want := read(t, dir, "a.txt"), strings.ReplaceAll(text.String(), "line", "done"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// contract: A-17
func TestResultsAreCappedAndSayHowToGoOn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "long.txt", strings.Repeat("0123456789\n", 5000))
	write(t, dir, "wide.txt", strings.Repeat("x", 50000))
	write(t, dir, "f.go", "package f\n\nfunc Long() {\n"+strings.Repeat("\tLong()\n", 5000)+"}\n")
	var many strings.Builder
	many.WriteString("package many\n")
	for i := range 2000 {
		write(t, dir, fmt.Sprintf("dir/file%d.txt", i), "x")
		fmt.Fprintf(&many, "func F%d() {}\n", i)
	}
	write(t, dir, "many.go", many.String())
	s := open(t, Config{Root: dir, MaxResult: 5000})
	for _, c := range []struct{ name, args, want string }{
		{"read_file", `{"path":"long.txt","max_lines":5000}`, `\[\.\.\.truncated, (\d+) more lines\.\.\.\] start_line=(\d+) reads on$`},
		{"read_file", `{"path":"wide.txt"}`, `\[\.\.\.line truncated\.\.\.\]$`},
		{"list_dir", `{"path":"dir"}`, `\[\.\.\.truncated, \d+ more entries\.\.\.\]`},
		{"inspect_code", `{"path":"f.go","symbol":"Long"}`, `\[\.\.\.truncated, \d+ more lines\.\.\.\] read_file with start_line=\d+ reads on`},
		{"inspect_code", `{"path":"many.go"}`, `\[\.\.\.truncated, \d+ more definitions\.\.\.\]`},
		{"search_code", `{"query":"Long","limit":50}`, `"truncated":true`},
	} {
		r := run(s, c.name, c.args)
		if len(r.Text()) > 5000 || len(r.Text()) < 300 || !regexp.MustCompile(c.want).MatchString(r.Text()) {
			t.Errorf("%s %s: %d bytes ending in %q, want at most 5000 and %s", c.name, c.args, len(r.Text()), r.Text()[max(0, len(r.Text())-200):], c.want)
		}
	}
	m := regexp.MustCompile(`lines 1-(\d+) of 5000[^~]*truncated, (\d+) more lines\.\.\.\] start_line=(\d+)`).
		FindStringSubmatch(run(s, "read_file", `{"path":"long.txt","max_lines":5000}`).Text())
	if m == nil || number(m[1])+number(m[2]) != 5000 || number(m[3]) != number(m[1])+1 {
		t.Errorf("read_file: %v: want lines read and lines left to add up", m)
	}
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// contract: TE-02 TE-03 TE-06 CON-35 CON-36
func TestSearchCountsAddUp(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 {
		write(t, dir, fmt.Sprintf("d%d/e/f%d.py", i%9, i), "# walrus\ndef walrus():\n    pass\n\ndef other():\n    walrus()\n")
	}
	for name, c := range map[string]Config{"index": {Root: dir, IndexDir: t.TempDir()}, "words": {Root: dir}, "small": {Root: dir, MaxResult: 600}} {
		for _, limit := range []int{0, 1, 7, 50, 1000} {
			r := run(open(t, c), "search_code", fmt.Sprintf(`{"query":"walrus","limit":%d}`, limit))
			e, err := te.Parse(r.Text())
			if err != nil {
				t.Fatal(err)
			}
			n := len(e.Matches)
			for _, o := range e.Omitted {
				n += o.N
			}
			if e.Meta.Cmd != "search" || n != e.Meta.Matches || n < 60 || len(e.Matches) == 0 || len(e.Matches) > 50 {
				t.Errorf("%s, limit %d: %d shown and omitted of %+v:\n%s", name, limit, n, e.Meta, r.Text())
			}
		}
	}
}

// contract: TE-06
func TestSearchWithoutEnvelope(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go", "package a\n\n// Walrus <swims>.\nfunc Walrus() {\n}\n")
	r := run(open(t, Config{Root: dir, IndexDir: t.TempDir(), Plain: true}), "search_code", `{"query":"walrus"}`)
	want := `{"results":[{"path":"a.go","lines":"3-5","snippet":"func Walrus() {\n// Walrus <swims>.\n}","summary":"Walrus"}]}`
	if r.Text() != want {
		t.Errorf("got  %s\nwant %s", r.Text(), want)
	}
	if r := run(open(t, Config{Root: dir, Plain: true}), "search_code", `{"query":"turtle"}`); r.Text() != `{"results":[]}` {
		t.Errorf("got %s for nothing found", r.Text())
	}
}

func TestSearchWithoutIndex(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go", "package a\n\nfunc Walrus() {}\n\n// a walrus and a turtle\n")
	write(t, dir, "file", "x")
	for name, c := range map[string]struct {
		index, hint string
	}{
		"none":            {"", ""},
		"cannot be made":  {filepath.Join(dir, "file", "cache"), "the search index cannot be used; these lines contain words of the query"},
		"is a file there": {filepath.Join(dir, "file"), "the search index cannot be used; these lines contain words of the query"},
	} {
		s := open(t, Config{Root: dir, IndexDir: c.index})
		for range 2 {
			e, err := te.Parse(run(s, "search_code", `{"query":"walrus and turtle"}`).Text())
			if err != nil || e.Meta.Hint != c.hint || len(e.Matches) != 2 || e.Matches[0].Text != "// a walrus and a turtle" || e.Matches[1].N != 3 {
				t.Errorf("%s: %+v, %v, want the line with both words first", name, e, err)
			}
		}
	}
}

func TestIndexIsOpenedByTheFirstSearch(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	write(t, dir, "a.txt", "walrus")
	s := open(t, Config{Root: dir, IndexDir: cache})
	run(s, "read_file", `{"path":"a.txt"}`)
	if _, err := os.Stat(cache); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the index is there before a search: %v", err)
	}
	run(s, "search_code", `{"query":"walrus"}`)
	if entries, err := os.ReadDir(cache); err != nil || len(entries) == 0 {
		t.Errorf("no index after a search: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: something was put into the repository", entries, err)
	}
}

// contract: A-10
func TestRunNeverPanics(t *testing.T) {
	builtins = append(slices.Clone(builtins), builtin{Tool: utp.Tool{Name: "broken"},
		run: func(*Set, context.Context, json.RawMessage) (string, error) { panic("out of order") }})
	defer func() { builtins = builtins[:len(builtins)-1] }()
	s := open(t, Config{Root: t.TempDir()})
	r := s.Run(context.Background(), utp.Call{ID: "7", Name: "broken"})
	if r.Status != utp.StatusFailed || r.CallID != "7" || r.Name != "broken" || r.Text() != `{"error":"tool 'broken' panicked: out of order"}` {
		t.Errorf("got %+v", r)
	}
}

func TestCancelledAndClosed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "walrus\n")
	s := open(t, Config{Root: dir, IndexDir: t.TempDir()})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, args := range map[string]string{"search_code": `{"query":"walrus"}`, "read_file": `{"path":"a.txt"}`, "inspect_code": `{"path":".","symbol":"walrus"}`} {
		r := s.Run(ctx, utp.Call{Name: name, Args: json.RawMessage(args)})
		if r.Status != utp.StatusFailed || !strings.Contains(r.Text(), "context canceled") {
			t.Errorf("%s with a cancelled context: %s %s", name, r.Status, r.Text())
		}
	}
	if r := run(s, "search_code", `{"query":"walrus"}`); r.Status != utp.StatusOK || strings.Contains(r.Text(), "hint") {
		t.Errorf("after that: %s, want the index to work", r.Text())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tl := range s.Tools() {
		if r := run(s, tl.Name, `{"path":"a.txt","query":"walrus","content":"x","old_text":"w","new_text":"v"}`); r.Status == utp.StatusOK {
			t.Errorf("%s of a closed set: %s", tl.Name, r.Text())
		}
	}
}

func TestNewErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "x")
	for _, root := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "file")} {
		if _, err := New(Config{Root: root}); err == nil || !strings.HasPrefix(err.Error(), "tool: root") {
			t.Errorf("New(%s): %v, want the root named", root, err)
		}
	}
}
