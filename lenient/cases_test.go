package lenient

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// testCase is one input. In the golden files it is a section named
// "NAME [OPTION…]", followed by a section "NAME >" with what comes out.
// The options are python, args, quote, escape, strict, depth and quoted (the
// input is a Go string literal).
type testCase struct {
	name    string
	options byte // for optionsOf
	in      string
}

var optionBits = map[string]byte{"python": 1, "args": 2, "strict": 4, "quote": 8, "escape": 16, "depth": 32}

func casesOf(t testing.TB, c *golden.Case) (out []testCase) {
	for _, section := range c.Names() {
		if strings.HasSuffix(section, " >") {
			continue
		}
		tc := testCase{name: section, in: c.Get(section)}
		if name, opts, ok := strings.Cut(section, " ["); ok {
			tc.name = name
			for _, o := range strings.Fields(strings.TrimSuffix(opts, "]")) {
				if o == "quoted" {
					s, err := strconv.Unquote(tc.in)
					if err != nil {
						t.Fatalf("%s: %s: %v", c.Path, section, err)
					}
					tc.in = s
				} else if optionBits[o] == 0 {
					t.Fatalf("%s: %s: unknown option %q", c.Path, section, o)
				}
				tc.options |= optionBits[o]
			}
		}
		out = append(out, tc)
	}
	return out
}

// allCases lists the inputs of all golden files.
func allCases(t testing.TB) (out []testCase) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		c, err := golden.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, casesOf(t, c)...)
	}
	return out
}

// show is what Repair makes of an input.
func show(s string, o Options) string {
	var b strings.Builder
	out, n, fixes, err := Repair(s, o)
	if err == nil {
		fmt.Fprintf(&b, "%s\n", out)
	}
	for _, f := range fixes {
		path := f.Path
		if path == "" {
			path = "."
		}
		fmt.Fprintf(&b, "fix %s: %s", path, f.Why)
		if f.Was != "" || f.Now != "" {
			fmt.Fprintf(&b, ", %q → %q", f.Was, f.Now)
		}
		b.WriteByte('\n')
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	} else if rest := s[n:]; rest != "" {
		fmt.Fprintf(&b, "rest: %q\n", rest)
	}
	return b.String()
}

// The files say which contract rows their cases carry.
func TestCases(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, tc := range casesOf(t, c) {
			c.Want(t, tc.name+" >", show(tc.in, optionsOf(tc.options)))
		}
	})
}

func TestCasesLaws(t *testing.T) {
	for _, tc := range allCases(t) {
		t.Run(tc.name, func(t *testing.T) { checkLaws(t, optionsOf(tc.options), tc.in) })
	}
}
