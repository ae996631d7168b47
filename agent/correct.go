package agent

import (
	"fmt"
	"slices"
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
	t.answerBack(rep, correctLine+"\n"+t.listProblems(rep))
	return ""
}

// idle reports a model that should have looked first: it was told to insist on
// that, tools are on offer, and none has run in the conversation so far.
func (t *turn) idle() bool {
	mode := t.ask.Choice.Mode
	insist := t.Insist && mode != utp.ChoiceNone || mode == utp.ChoiceRequired || mode == utp.ChoiceNamed
	return insist && !t.urged && len(t.Gate.Offered()) > 0 &&
		!slices.ContainsFunc(t.msgs, func(m utp.Message) bool { return len(m.Results()) > 0 })
}

// urge reminds a model of its tools. What it has said so far is no part of the
// conversation that is kept.
func (t *turn) urge(rep reply) {
	t.urged, t.before = true, &rep
	t.warn("the model answered without using a tool; it was reminded of its tools", nil)
	t.answerBack(rep, urgeLine)
}

// answerBack shows the model its reply, less the calls, and what the user has
// to say to it. Neither is kept.
func (t *turn) answerBack(rep reply, text string) {
	kept := withoutCalls(rep.Message)
	if len(kept.Parts) > 0 {
		t.msgs = append(t.msgs, kept, utp.NewText(utp.RoleUser, text))
		return
	}
	t.msgs = appendUser(t.msgs, text)
}

// appendUser adds text as the user, without making two user messages in a row.
func appendUser(ms []utp.Message, text string) []utp.Message {
	if n := len(ms); n > 0 && ms[n-1].Role == utp.RoleUser {
		last := ms[n-1]
		last.Parts = append(append([]utp.Part{}, last.Parts...), utp.Text{Text: text})
		return append(append([]utp.Message{}, ms[:n-1]...), last)
	}
	return append(ms, utp.NewText(utp.RoleUser, text))
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
	if p.Kind == utp.ProblemUnknownTool {
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
	utp.ProblemTruncated: "a call that is cut off", utp.ProblemMalformed: "a call that cannot be read",
	utp.ProblemMissingName: "a call that names no tool", utp.ProblemEmpty: "call markers with nothing between",
	utp.ProblemTooLong: "a call that is too long", utp.ProblemInvalid: "a call whose arguments do not fit",
}
