package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// maxDiff is the number of lines of a diff that a question shows.
const maxDiff = 200

// Question words what the user is asked before a call runs. Where it is known
// what becomes of files the question shows the differences, else the arguments.
// sensitive is why the call is asked about whatever is allowed; it may be "".
// always is what a yes for good would stand for.
func Question(c utp.Call, t utp.Tool, changes []tool.Change, sensitive string, always rule.Set) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nThe model wants to run %s (tier %s)", t.Name, t.Tier)
	if c.FromText() {
		fmt.Fprintf(&b, "; the call was recovered from its text (%s%s)", c.Dialect(), repaired(c))
	}
	b.WriteString(".\n")
	if sensitive != "" {
		b.WriteString("Look closely: " + sensitive + ".\n")
	}
	if len(changes) == 0 {
		if path := pathOf(c); path != "" {
			fmt.Fprintf(&b, "path: %s\n", path)
		}
		b.WriteString(args(c) + "\n")
	}
	for _, f := range changes {
		b.WriteString(changeOf(f))
	}
	if len(always) > 0 {
		fmt.Fprintf(&b, "(a: yes, and to %s from now on; k: and keep that)\n", scope(always))
	}
	return Clean(b.String()) + "Run it?"
}

// Choices are the answers to a Question.
func Choices(always rule.Set) string {
	if len(always) > 0 {
		return "y/n/a/k"
	}
	return "y/n"
}

// scope words what rules allow.
func scope(rules rule.Set) string {
	var out []string
	for _, r := range rules {
		switch {
		case strings.HasSuffix(r.Command, " $"):
			out = append(out, "exactly `"+strings.TrimSuffix(r.Command, " $")+"`")
		case r.Command != "":
			out = append(out, "`"+r.Command+" …`")
		case len(r.Paths) > 0:
			out = append(out, r.Tool+" of "+strings.Join(r.Paths, ", "))
		}
	}
	return strings.Join(out, " and ")
}

// TierQuestion words a model's wish for the tools of a higher tier.
func TierQuestion(c utp.Call, tier utp.Tier, reason string) string {
	text := fmt.Sprintf("\nThe model asks for the tools of tier %s", tier)
	if c.FromText() {
		text += fmt.Sprintf("; the call was recovered from its text (%s)", c.Dialect())
	}
	if tier == utp.TierRun {
		text += ", which change files. Each of their calls still asks"
	}
	return Clean(text+".\nIts reason: "+reason+"\n") + "Offer them for this question?"
}

// changeOf shows what becomes of a file.
func changeOf(f tool.Change) string {
	head := "path: " + f.Path
	switch {
	case f.Removed:
		return head + " (removed)\n"
	case f.Created && f.Binary:
		return head + " (new, not text)\n"
	case f.Binary:
		return head + " (not text)\n"
	case f.Before == f.After:
		return head + "\nIt changes nothing.\n"
	case f.Created:
		head += " (new)"
	}
	text := string(diff.Diff(f.Path, []byte(f.Before), f.Path+" (new)", []byte(f.After)))
	return head + "\n" + headOf(text, maxDiff)
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

// headOf keeps the first n lines and says how many are left out.
func headOf(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	if len(lines) <= n+1 {
		return s
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("… %d more lines\n", len(lines)-n-1)
}
