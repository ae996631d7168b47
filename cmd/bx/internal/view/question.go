package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/unifiedtoolprotocol/utp"
)

// maxDiff is the number of lines of a diff that a question shows.
const maxDiff = 200

// Question words what the user is asked before a call runs. When it is known
// what a file was and would become, the question shows the difference, else
// the arguments.
func Question(c utp.Call, t utp.Tool, before, after string, known bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nThe model wants to run %s (tier %s)", t.Name, t.Tier)
	if c.FromText() {
		fmt.Fprintf(&b, "; the call was recovered from its text (%s%s)", strings.TrimPrefix(c.Source, "text:"), repaired(c))
	}
	b.WriteString(".\n")
	path := pathOf(c)
	if path != "" {
		fmt.Fprintf(&b, "path: %s\n", path)
	}
	switch {
	case !known:
		b.WriteString(args(c) + "\n")
	case before == after:
		b.WriteString("It changes nothing.\n")
	default:
		b.WriteString(head(string(diff.Diff(path, []byte(before), path+" (new)", []byte(after))), maxDiff))
	}
	return Clean(b.String()) + "Run it?"
}

func pathOf(c utp.Call) string {
	var a struct{ Path string }
	if json.Unmarshal(c.Args, &a) != nil {
		return ""
	}
	return a.Path
}

func args(c utp.Call) string {
	var out bytes.Buffer
	if c.Kind == utp.CustomCall || json.Indent(&out, c.Args, "", "  ") != nil {
		return c.RawArgs
	}
	return out.String()
}

// head keeps the first n lines and says how many are left out.
func head(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	if len(lines) <= n+1 {
		return s
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("… %d more lines\n", len(lines)-n-1)
}
