package contract_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

const page = `# Requirements
## Calls
| id | what must hold |
|---|---|
| P-01 | Native calls are found. |
| P-02 | Tagged calls are found. |
| P-03 | Nobody checks this. |
| P-04 | A benchmark checks this. |
## Acceptance
| id | what must hold | shown by |
|---|---|---|
| UAT-4.1 | Basics: it works. |
| UAT-C1 | Calls run. | UAT-4.1 P-02 |
`

func tree() fstest.MapFS {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"go.mod": text("module m\n"),
		"parse/parse_test.go": text(`package parse

// Says what.
//
// contract: P-01
func TestNative(t *testing.T) {
	// contract: P-02
}

// contract: P-04
func BenchmarkParse(b *testing.B) {}
`),
		"parse/testdata/hermes/tag in string.txtar":  text("About.\ncontract: P-02\n-- in --\ncontract: P-99\n"),
		"cmd/bx/testdata/script/uat_4.1_basic.txtar": text("# contract: P-01\nexec bx\n"),
		"cmd/bx/testdata/script/plain.txtar":         text("exec bx\n"),
		"tools/go.mod":                               text("module tools\n"),
		"tools/x_test.go":                            text("broken"),
		"internal/golden/testdata/a/a.txtar":         text("contract: P-99\n"),
		".git/x_test.go":                             text("broken"),
	}
}

const events = `{"Action":"pass","Package":"m/parse","Test":"TestNative"}
{"Action":"fail","Package":"m/parse","Test":"TestLaws/hermes/tag_in_string"}
{"Action":"pass","Package":"m/grammar","Test":"TestCases/hermes/tag_in_string"}
{"Action":"fail","Package":"m/parse"}
{"Action":"pass","Package":"m/cmd/bx","Test":"TestScripts/uat_4.1_basic"}
{"Action":"pass","Package":"m/cmd/bx"}
`

func join(t *testing.T, page string, fsys fstest.MapFS, events string) *contract.Report {
	t.Helper()
	rows, err := contract.Rows(page)
	if err != nil {
		t.Fatal(err)
	}
	carriers, err := contract.Collect(fsys)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := contract.ReadOutcomes("m", strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	return contract.Join(rows, carriers, outcomes)
}

func TestReport(t *testing.T) {
	r := join(t, page, tree(), events)
	var got strings.Builder
	r.Write(&got, nil)
	want := `
Calls: 3 of 4 rows have a test
  P-01     pass     Native calls are found.
                    cmd/bx script/uat_4.1_basic · parse TestNative
  P-02     FAIL     Tagged calls are found.
                    parse hermes/tag in string (FAIL) · parse TestNative
  P-03     -        Nobody checks this.
  P-04     not run  A benchmark checks this.
                    parse BenchmarkParse (not run)

Acceptance: 2 of 2 rows have a test
  UAT-4.1  pass     Basics: it works.
                    cmd/bx script/uat_4.1_basic
  UAT-C1   FAIL     Calls run.
                    parse hermes/tag in string (FAIL) · cmd/bx script/uat_4.1_basic · parse TestNative

6 rows: 2 pass, 2 fail, 1 have only tests that did not run, 1 without a test
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
	if r.OK() {
		t.Error("a failing test is OK")
	}
}

func TestReportIsOK(t *testing.T) {
	if r := join(t, page, tree(), strings.ReplaceAll(events, "fail", "pass")); !r.OK() {
		t.Errorf("not OK: %v", r.Strange)
	}
}

func TestStrangeTags(t *testing.T) {
	fsys := tree()
	fsys["agent/agent_test.go"] = &fstest.MapFile{Data: []byte("package agent\n\n// contract: P-77\nfunc TestX() {}\n\n// contract: P-01\nvar x int\n")}
	r := join(t, strings.Replace(page, "UAT-4.1 P-02", "UAT-9.9", 1), fsys, "")
	want := []string{
		"agent/agent_test.go:6: the tag P-01 stands at no test: move it above a test func",
		"UAT-C1 is shown by UAT-9.9, which is no row",
		"agent/agent_test.go:3: P-77 is no row of docs/requirements.md",
	}
	if !slices.Equal(r.Strange, want) || r.OK() {
		t.Errorf("strange = %q\nwant      %q", r.Strange, want)
	}
}

func TestPackageThatDoesNotCompile(t *testing.T) {
	r := join(t, page, tree(), `{"ImportPath":"m/parse [m/parse.test]","Action":"build-output","Output":"x.go:1: bad\n"}
{"Action":"fail","Package":"m/parse","FailedBuild":"m/parse [m/parse.test]"}
`)
	if s, _ := r.Find("P-01"); s.Status() != contract.Failed {
		t.Errorf("P-01 = %v, want FAIL", s.Status())
	}
	if s, _ := r.Find("P-04"); s.Status() != contract.NotRun {
		t.Errorf("a benchmark = %v, want not run", s.Status())
	}
	if want := []string{"m/parse\nx.go:1: bad\n"}; !slices.Equal(r.Broken, want) {
		t.Errorf("broken = %q, want %q", r.Broken, want)
	}
}

func TestRowsFail(t *testing.T) {
	for _, page := range []string{"", "| P-01 | a |\n| P-01 | b |\n"} {
		if rows, err := contract.Rows(page); err == nil {
			t.Errorf("Rows(%q) = %v", page, rows)
		}
	}
}

func TestOutcomesFail(t *testing.T) {
	if _, err := contract.ReadOutcomes("m", strings.NewReader("ok m 0.1s\n")); err == nil {
		t.Error("plain output of go test was read")
	}
}

// A row needs a test or an entry that says what it waits for, and never both.
func TestHold(t *testing.T) {
	r := join(t, page, tree(), events)
	r.Hold(map[string]string{"P-02": "nothing", "P-88": "nobody"})
	want := []string{
		"P-02 has a test and is still in internal/contract/waiting.go (nothing): take it off",
		"P-03 has no test: tag one, or say in internal/contract/waiting.go what it waits for",
		"P-88 is in internal/contract/waiting.go and is no row",
	}
	if !slices.Equal(r.Strange, want) || r.OK() {
		t.Errorf("strange = %q\nwant      %q", r.Strange, want)
	}
	r = join(t, page, tree(), strings.ReplaceAll(events, "fail", "pass"))
	if r.Hold(map[string]string{"P-03": "a test"}); !r.OK() {
		t.Errorf("not OK: %q", r.Strange)
	}
}
