package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
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

// age makes the times of all files old enough to be trusted.
func age(t testing.TB, dir string, by time.Duration) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		old := time.Now().Add(-by)
		return errors.Join(err, os.Chtimes(name, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, root, dir string) *Index {
	t.Helper()
	x, err := Open(context.Background(), root, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func query(t testing.TB, x *Index, question string, limit int) ([]Hit, []Total) {
	t.Helper()
	a, err := x.Query(context.Background(), question)
	if err != nil {
		t.Fatal(err)
	}
	return a.Hits(limit), a.Totals
}

func found(t testing.TB, x *Index, question string) string {
	t.Helper()
	hits, _ := query(t, x, question, 20)
	var out []string
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return strings.Join(slices.Compact(out), " ")
}

// TestRanking asks the questions of each case and prints the rank of the file
// that answers. At least three of four must be first and all but one in twelve
// among the first three.
//
// contract: TE-04
func TestRanking(t *testing.T) {
	golden.Run(t, "testdata/rank/*.txtar", func(t *testing.T, c *golden.Case) {
		dir := t.TempDir()
		for _, name := range c.Names() {
			if name != "questions" && name != "ranks" {
				write(t, dir, name, c.Get(name)+"\n")
			}
		}
		age(t, dir, time.Hour)
		x := open(t, dir, t.TempDir())
		var b strings.Builder
		var first, third, all int
		for line := range strings.Lines(c.Get("questions")) {
			question, want, _ := strings.Cut(strings.TrimSpace(line), " → ")
			rank := 1 + slices.Index(strings.Fields(found(t, x, question)), want)
			fmt.Fprintf(&b, "%d %s → %s\n", rank, question, want)
			all++
			if rank == 1 {
				first++
			}
			if rank >= 1 && rank <= 3 {
				third++
			}
		}
		c.Want(t, "ranks", b.String())
		if first*4 < all*3 || third*12 < all*11 {
			t.Errorf("of %d questions %d have their file first and %d among three: want 3/4 and 11/12\n%s", all, first, third, b.String())
		}
	})
}

// The question that README.md asks first leads to the parser of this repository:
// the best place is in its package, and the function that reads a text is among
// the first.
func TestTheFirstQuestionOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), `go run ./cmd/bx "`)
	question, _, _ := strings.Cut(rest, `"`)
	hits, _ := query(t, open(t, "../..", t.TempDir()), question, 5)
	isText := func(h Hit) bool { return h.Path == "parse/parse.go" && h.Symbol == "Text" }
	if len(hits) == 0 || path.Dir(hits[0].Path) != "parse" || !slices.ContainsFunc(hits[:min(3, len(hits))], isText) {
		t.Errorf("%s: %+v", question, hits)
	}
}

// A further part of a long definition is cited where the definition begins, and
// what only its path speaks for is found too.
func TestWhatIsCitedOfALongDefinition(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/long.go", "package a\n\nfunc Long() {\n"+strings.Repeat("\tx()\n", 150)+"\tbutterfly()\n}\n")
	write(t, dir, "moth/b.go", "package b\n\nfunc B() {}\n")
	x := open(t, dir, t.TempDir())
	if hits, _ := query(t, x, "butterfly", 5); len(hits) != 1 || hits[0].Lines[0].Line != 3 {
		t.Errorf("%+v", hits)
	}
	if hits, totals := query(t, x, "moth", 5); len(hits) != 2 || hits[0].Path != "moth/b.go" || len(totals) != 1 {
		t.Errorf("%+v %+v", hits, totals)
	}
}

// A word of the question is met by one that says about the same, below its own.
func TestWordsThatSayAboutTheSame(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go", "package a\n\n// prune deletes what is old.\nfunc prune() {}\n")
	write(t, dir, "b.go", "package a\n\n// sum adds.\nfunc sum() {}\n")
	hits, totals := query(t, open(t, dir, t.TempDir()), "Where are old files removed?", 5)
	if len(hits) != 1 || hits[0].Symbol != "prune" || len(totals) != 1 || totals[0].N != 1 {
		t.Errorf("%+v %+v", hits, totals)
	}
}

func TestHitShowsTheDefinitionAndLinesOfTheQuestion(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/pool.go", "package a\n\n// Open connects.\nfunc Open(url string) {\n\tx := 1\n\tconnect(url) // the database\n\treturn\n}\n")
	write(t, dir, "notes.md", "one\ntwo\nthe database connection\n")
	hits, totals := query(t, open(t, dir, t.TempDir()), "database connections", 5)
	var got []string
	for _, h := range hits {
		for _, l := range h.Lines {
			got = append(got, fmt.Sprintf("%s:%d %v %s", l.Path, l.Line, l.Def, l.Text))
		}
	}
	want := []string{
		"a/pool.go:4 true func Open(url string) {",
		"a/pool.go:3 false // Open connects.",
		"a/pool.go:5 false \tx := 1",
		"a/pool.go:6 false \tconnect(url) // the database",
		"notes.md:3 false the database connection",
	}
	slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Total{{"./", 1}, {"a/", 1}}, totals); d != "" {
		t.Error(d)
	}
}

// contract: TE-03
func TestTotalsCountEveryPlace(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		write(t, dir, fmt.Sprintf("d%d/f%d.py", i%3, i), "def alpha():\n    pass\n\ndef beta():\n    alpha()\n")
	}
	hits, totals := query(t, open(t, dir, t.TempDir()), "alpha", 7)
	if len(hits) != 7 {
		t.Errorf("%d hits, want 7", len(hits))
	}
	if d := cmp.Diff([]Total{{"d0/", 20}, {"d1/", 20}, {"d2/", 20}}, totals); d != "" {
		t.Error(d)
	}
}

func TestQueryFollowsTheFiles(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	x := open(t, dir, cache)
	check := func(question, want string) {
		t.Helper()
		if got := found(t, x, question); got != want {
			t.Errorf("%s: found %q, want %q", question, got, want)
		}
	}
	check("walrus", "")
	write(t, dir, "a.txt", "walrus")
	write(t, dir, "b.txt", "walrus")
	check("walrus", "a.txt b.txt")
	write(t, dir, "a.txt", "turtle") // same size, within the same tick
	check("walrus", "b.txt")
	check("turtle", "a.txt")
	if err := os.Remove(filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	check("walrus", "")
	write(t, dir, ".gitignore", "a.txt")
	check("turtle", "")
	write(t, dir, "c.bin", "walrus\x00")
	check("walrus", "")
	write(t, dir, "c.bin", "walrus")
	check("walrus", "c.bin")
}

func TestUnchangedFilesAreNotReadAgain(t *testing.T) {
	for name, by := range map[string]time.Duration{"old": time.Hour, "from the future": -time.Hour} {
		dir, cache := t.TempDir(), t.TempDir()
		at := filepath.Join(dir, "a.txt")
		when := time.Now().Add(-by)
		for _, text := range []string{"walrus", "turtle"} {
			write(t, dir, "a.txt", text)
			if err := os.Chtimes(at, when, when); err != nil {
				t.Fatal(err)
			}
			if got := found(t, open(t, dir, cache), "walrus"); got != "a.txt" {
				t.Errorf("%s: found %q: a file of the same size and time was read again, or the index was not kept", name, got)
			}
		}
	}
}

// An index that was brought up to date often ranks as a new one does.
func TestUpdatesDoNotChangeTheScores(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		write(t, dir, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package a\n\nfunc Walrus%d() {\n\tturtle()\n}\n", i))
	}
	write(t, dir, "z.go", "package a\n\nfunc Zebra() {\n}\n")
	score := func(x *Index) float64 {
		hits, _ := query(t, x, "zebra turtle", 1)
		return hits[0].Score
	}
	want := score(open(t, dir, t.TempDir()))
	x := open(t, dir, t.TempDir())
	for i := range 20 {
		for n := range 3 {
			old := time.Now().Add(-time.Hour * time.Duration(i+1))
			if err := os.Chtimes(filepath.Join(dir, fmt.Sprintf("f%d.go", n)), old, old); err != nil {
				t.Fatal(err)
			}
		}
		if got := score(x); math.Abs(got-want) > 1e-6 {
			t.Fatalf("after %d updates the score is %v, in a new index %v", i, got, want)
		}
	}
}

func TestShownTextIsOnDisk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "walrus")
	x := open(t, dir, t.TempDir())
	query(t, x, "walrus", 1)
	places := []place{{path: "a.txt", start: 1, end: 9, line: 1}, {path: "gone.txt", start: 1, end: 1, line: 1}}
	if got := hits(places, x.lines, []string{"walrus"}); len(got) != 0 {
		t.Errorf("hits = %v of a file that got shorter and one that is gone, want none", got)
	}
}

func TestQueryErrors(t *testing.T) {
	x := open(t, t.TempDir(), t.TempDir())
	if _, err := x.Query(context.Background(), "?! \""); !errors.Is(err, ErrNoWords) {
		t.Errorf("err = %v, want ErrNoWords", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Query(ctx, "walrus"); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	for _, q := range []string{`a" OR b`, "NEAR(a b)", "a* -b ^c", "col:x", "'; drop table files", "where is the", strings.Repeat("word1 x", 100)} {
		if _, err := x.Query(context.Background(), q); err != nil {
			t.Errorf("Query(%q): %v", q, err)
		}
	}
}

func database(t testing.TB, cache string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("databases %v, %v, want one", files, err)
	}
	return files[0]
}

func TestBrokenDatabaseIsMadeAnew(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	for i := range 40 {
		write(t, dir, fmt.Sprintf("f%d.txt", i), strings.Repeat(fmt.Sprintf("walrus%d ", i), 50))
	}
	x := open(t, dir, cache)
	want := found(t, x, "walrus7")
	if err := x.Close(); err != nil { // which moves everything into the file that is damaged below
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"no database":   func([]byte) []byte { return []byte(strings.Repeat("this is no database ", 100)) },
		"cut":           func(b []byte) []byte { return b[:len(b)/2] },
		"pages of junk": func(b []byte) []byte { return append(b[:4096:4096], make([]byte, len(b)-4096)...) },
	} {
		t.Run(name, func(t *testing.T) {
			file := database(t, cache)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			x := open(t, dir, cache)
			if got := found(t, x, "walrus7"); got != want {
				t.Errorf("found %q, want %q", got, want)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestOtherVersionIsEmptied(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, "a.txt", "walrus")
	x := open(t, dir, cache)
	query(t, x, "walrus", 1)
	if _, err := x.db.Exec("PRAGMA user_version = 999; DROP TABLE chunks"); err != nil {
		t.Fatal(err)
	}
	if got := found(t, open(t, dir, cache), "walrus"); got != "a.txt" {
		t.Errorf("found %q, want a.txt", got)
	}
}

// TestProcessesShareTheDatabase opens the database as each process would, with
// connections of its own.
func TestProcessesShareTheDatabase(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	for i := range 200 {
		write(t, dir, fmt.Sprintf("d/f%d.txt", i), fmt.Sprintf("walrus number%d", i))
	}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			x, err := Open(context.Background(), dir, cache)
			if err != nil {
				t.Error(err)
				return
			}
			defer x.Close()
			for n := range 5 {
				write(t, dir, fmt.Sprintf("own%d.txt", i), fmt.Sprintf("turtle%dx%d", i, n))
				a, err := x.Query(context.Background(), fmt.Sprintf("turtle%dx%d", i, n))
				if err != nil || len(a.Hits(3)) != 1 || len(a.Totals) != 1 {
					t.Errorf("process %d: %+v %v, want its own file", i, a, err)
				}
			}
		})
	}
	wg.Wait()
	_, totals := query(t, open(t, dir, cache), "walrus", 1)
	if d := cmp.Diff([]Total{{"d/", 200}}, totals); d != "" {
		t.Errorf("a file is in the index twice or not at all: %s", d)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "x")
	if _, err := Open(context.Background(), dir, filepath.Join(dir, "file")); err == nil || !strings.Contains(err.Error(), "cache directory") {
		t.Errorf("err = %v, want the cache directory named", err)
	}
	if _, err := Open(context.Background(), filepath.Join(dir, "none"), t.TempDir()); err == nil || !strings.Contains(err.Error(), "root") {
		t.Errorf("err = %v, want the root named", err)
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"ParseToolCalls":    "parsetoolcalls parse tool calls",
		"HTTPServer_v2":     "httpserverv2 http server v2",
		"__init__":          "init",
		"snake_case x":      "snakecase snake case x",
		"utf8.RuneError":    "utf8 runeerror rune error",
		"a+b, 42 Straße é":  "a b 42 straße é",
		"MAX_SIZE":          "maxsize max size",
		"日本語 ok":            "日本語 ok",
		"_ ___":             "",
		"sha256Sum":         "sha256sum sha256 sum",
		"x\x00\xffy":        "x y",
		"parser.Feed(text)": "parser feed text",
	} {
		var words []string
		each(in, func(w string) { words = append(words, w) })
		if got := strings.Join(words, " "); got != want {
			t.Errorf("words of %q = %q, want %q", in, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	for in, want := range map[string]string{
		"Where are the tool calls parsed?": "tool calls parsed",
		"where is it":                      "where is it",
		"parseJSON parseJSON":              "parsejson parse json",
		"?":                                "",
	} {
		if got := strings.Join(Terms(in), " "); got != want {
			t.Errorf("Terms(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAlike(t *testing.T) {
	for in, want := range map[string]bool{
		"parse parsed": true, "parser parsing": true, "connect connection": true, "test testimony": false,
		"tool tools": true, "to too": false, "get got": false, "x x": true, "call caller": true, "connects connections": true,
	} {
		a, b, _ := strings.Cut(in, " ")
		if got := alike(a, b); got != want {
			t.Errorf("alike(%s) = %v, want %v", in, got, want)
		}
	}
}

// A word of a question finds what programs call by other words, with an ending
// too.
func TestWordsThatMeanMoreThanTheySay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "hint.go", "package a\n\nfunc suggest(name string) string { return closest(name, similar) }\n")
	write(t, dir, "table.go", "package a\n\nfunc csv(rows [][]string) { comma(rows) }\n")
	write(t, dir, "other.go", "package a\n\nfunc other() {}\n")
	x := open(t, dir, t.TempDir())
	for question, want := range map[string]string{
		"Where is a misspelt word answered?": "hint.go",
		"Where are spreadsheets written?":    "table.go",
	} {
		if got := found(t, x, question); !strings.HasPrefix(got, want) {
			t.Errorf("%s: found %q, want %q first", question, got, want)
		}
	}
}

// What does something comes before the type that it belongs to, and before what is
// marked as nobody else's, unless the question is about a type.
func TestWhatDoesSomethingComesBeforeItsType(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.py", "# Locks the door.\nclass Door:\n    x = 1\n")
	write(t, dir, "b.py", "# Locks the door.\ndef _bolt():\n    x = 1\n")
	write(t, dir, "c.py", "# Locks the door.\ndef bolt():\n    x = 1\n")
	x := open(t, dir, t.TempDir())
	for question, want := range map[string]string{
		"What locks it?":        "c.py b.py a.py",
		"Which class locks it?": "a.py c.py b.py",
	} {
		if got := found(t, x, question); got != want {
			t.Errorf("%s: found %q, want %q", question, got, want)
		}
	}
}

// A listing that the index agreed with is not compared with it again, until
// somebody writes to the index.
func TestAListingThatWasComparedIsRemembered(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, "a.txt", "walrus")
	age(t, dir, time.Hour)
	x := open(t, dir, cache)
	state := func() (writes int, known bool) {
		t.Helper()
		if err := x.db.QueryRow("SELECT writes, listing IS NOT NULL FROM state").Scan(&writes, &known); err != nil {
			t.Fatal(err)
		}
		return writes, known
	}
	query(t, x, "walrus", 1)
	before, known := state()
	if known {
		t.Error("a listing is remembered that was just written, not compared")
	}
	query(t, x, "walrus", 1)
	if _, known := state(); !known {
		t.Error("the listing that agreed is not remembered")
	}
	if _, err := x.db.Exec("UPDATE files SET size = 0"); err != nil { // as no process would
		t.Fatal(err)
	}
	query(t, x, "walrus", 1)
	if after, _ := state(); after != before {
		t.Error("the files were compared again")
	}
	write(t, dir, "b.txt", "turtle")
	if got := found(t, x, "turtle"); got != "b.txt" {
		t.Errorf("found %q, want the new file", got)
	}
	if after, known := state(); after <= before || known {
		t.Errorf("%d writes, listing remembered: %v; want more than %d and none", after, known, before)
	}
}

// The files that have a name are known without reading them, whatever its case
// and underscores; those that changed since the last update are found after it.
func TestHaving(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go", "package a\n\nfunc readFile() {}\n")
	write(t, dir, "b.go", "package a\n\nfunc use() { readFile() }\n")
	write(t, dir, "c.go", "package a\n\nfunc read() { file() }\n")
	write(t, dir, "d.py", "read_file_now = 1\n")
	x := open(t, dir, t.TempDir())
	having := func(name string) (got []string) {
		t.Helper()
		files, err := x.Having(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			got = append(got, f.Path)
		}
		return got
	}
	if d := cmp.Diff([]string{"a.go", "b.go"}, having("readFile")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"d.py"}, having("read_file_now")); d != "" {
		t.Error(d)
	}
	if _, err := x.Having(context.Background(), "()"); !errors.Is(err, ErrNoWords) {
		t.Errorf("error = %v, want %v", err, ErrNoWords)
	}
	write(t, dir, "e.go", "package a\n\nfunc more() { readFile() }\n")
	x.fresh = time.Now().Add(-time.Minute)
	if d := cmp.Diff([]string{"a.go", "b.go", "e.go"}, having("readFile")); d != "" {
		t.Error(d)
	}
}

// A word that much of the code uses needs no other in its place.
func TestACommonWordNeedsNoOther(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "other.go", "package a\n\nfunc prune() {}\n")
	for i := range 30 {
		write(t, dir, fmt.Sprintf("f%d.go", i), "package a\n\nfunc more() {}\n")
	}
	x := open(t, dir, t.TempDir())
	if got := found(t, x, "delete"); !strings.Contains(got, "other.go") {
		t.Errorf("found %q, want what says about the same where nothing says delete", got)
	}
	for i := range 30 {
		write(t, dir, fmt.Sprintf("f%d.go", i), "package a\n\nfunc delete() {}\n")
	}
	hits, _ := query(t, x, "delete", 40)
	if len(hits) != 30 {
		t.Errorf("%d hits, want the 30 that have the word itself", len(hits))
	}
}
