package agent

import (
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// correct tells the model why its call could not be read. When it had just
// been told, or cannot call again, it must answer: why says so.
func (t *turn) correct(rep reply, last bool) (why string) {
	if t.mended || last {
		return "the model's tool calls could not be read"
	}
	t.mended = true
	t.warn("a tool call could not be read; the model was told", nil)
	text := correctLine + "\n" + t.listProblems(rep)
	kept := withoutCalls(rep.Message)
	if len(kept.Parts) > 0 {
		t.msgs = append(t.msgs, kept, utp.NewText(utp.User, text))
		return ""
	}
	t.msgs = appendUser(t.msgs, text)
	return ""
}

// appendUser adds text as the user, without making two user messages in a row.
func appendUser(ms []utp.Message, text string) []utp.Message {
	if n := len(ms); n > 0 && ms[n-1].Role == utp.User {
		last := ms[n-1]
		last.Parts = append(append([]utp.Part{}, last.Parts...), utp.Text{Text: text})
		return append(append([]utp.Message{}, ms[:n-1]...), last)
	}
	return append(ms, utp.NewText(utp.User, text))
}

// problemNote tells of the calls that could not be read beside good ones.
func (t *turn) problemNote(rep reply) string {
	if !rep.broken() {
		return ""
	}
	return besideLine + "\n" + t.listProblems(rep)
}

// listProblems says for each problem what is wrong, where, and what is wanted.
func (t *turn) listProblems(rep reply) string {
	var lines []string
	for _, p := range bad(rep.Problems) {
		lines = append(lines, t.wordProblem(p))
	}
	if len(lines) == 0 {
		lines = []string{"- the provider could not read the call"}
	}
	return strings.Join(lines, "\n")
}

func (t *turn) wordProblem(p utp.Problem) string {
	if p.Kind == utp.UnknownTool {
		return "- " + t.Gate.unknown(p.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "- %s at byte %d of your reply", problemWords[p.Kind], p.Offset)
	if p.Name != "" {
		fmt.Fprintf(&b, ", calling '%s'", p.Name)
	}
	if p.Message != "" {
		b.WriteString(": " + p.Message)
	}
	if p.Want != "" {
		b.WriteString("; wanted " + p.Want)
	}
	if tool, ok := t.Gate.Tools.Tool(p.Name); ok && tool.Tier <= t.Gate.Tier {
		b.WriteString("\n  Expected: " + t.Gate.Tools.Describe(p.Name))
	}
	return b.String()
}

var problemWords = map[utp.ProblemKind]string{
	utp.Truncated: "a call that is cut off", utp.Malformed: "a call that cannot be read",
	utp.MissingName: "a call that names no tool", utp.Empty: "call markers with nothing between",
	utp.TooLong: "a call that is too long", utp.Invalid: "a call whose arguments do not fit",
}
