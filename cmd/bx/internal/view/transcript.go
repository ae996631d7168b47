package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// eventVersion is "v" in docs/events.md.
const eventVersion = 1

type event struct {
	V       int    `json:"v"`
	Session string `json:"session,omitempty"`
	transcript.Entry
}

// Entry prints an entry of a log as one line of JSON.
func Entry(w io.Writer, session string, e transcript.Entry) error {
	return line(w, event{eventVersion, session, e})
}

// Outcome is the last event: what --json prints.
type Outcome struct {
	V       int    `json:"v"`
	Session string `json:"session,omitempty"`
	Kind    string `json:"kind"`
	Answer  Reply  `json:"answer"`
}

// PrintOutcome prints the last event of a turn.
func PrintOutcome(w io.Writer, r Reply) error {
	return line(w, Outcome{eventVersion, r.SessionID, "answer", r})
}

func line(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Transcript prints a log for people; whole has reasoning and results in full.
func Transcript(w io.Writer, log []transcript.Entry, whole bool) {
	p := paper{w: w, whole: whole}
	for _, e := range log {
		p.entry(e)
	}
	p.gap()
	if n := len(log); n > 0 && log[n-1].Kind != transcript.End && log[n-1].Kind != transcript.Message {
		fmt.Fprintln(w, "(broken off here)")
	}
}

// paper prints the entries of a log.
type paper struct {
	w     io.Writer
	whole bool
	words bool            // the last thing printed was a piece of a reply
	said  strings.Builder // the pieces of the reply that is under way
}

// gap ends the pieces of a reply.
func (p *paper) gap() {
	if p.words {
		fmt.Fprintln(p.w)
	}
	p.words = false
}

func (p *paper) line(format string, a ...any) {
	p.gap()
	fmt.Fprintln(p.w, Clean(fmt.Sprintf(format, a...)))
}

func (p *paper) entry(e transcript.Entry) {
	switch e.Kind {
	case transcript.Question:
		p.line("\n> %s\n", strings.ReplaceAll(strings.TrimSpace(e.Message.Text()), "\n", "\n> "))
	case transcript.Request:
		p.said.Reset()
	case transcript.Text:
		p.said.WriteString(e.Text)
		p.words = true
		io.WriteString(p.w, Clean(e.Text))
	case transcript.Thinking:
		if p.whole {
			p.line("  thinking: %s", e.Text)
		}
	case transcript.Reply, transcript.Message:
		p.message(*e.Message)
	case transcript.Call:
		p.line("  %s %s%s  [%s: %s]", e.Call.Name, short(string(e.Call.Args), 200), origin(*e.Call), e.Decision, first(e.By, "the user"))
	case transcript.Result:
		p.result(*e.Result)
	case transcript.Problem:
		p.line("  a tool call could not be read: %s", e.Problem.Error())
	case transcript.Warning, transcript.Forced, transcript.Summary:
		p.line("  %s: %s", e.Kind, e.Text)
	case transcript.End:
		p.end(e)
	}
}

// message prints what its pieces did not.
func (p *paper) message(m utp.Message) {
	text := strings.TrimSpace(m.Text())
	if text != "" && text != strings.TrimSpace(p.said.String()) {
		p.line("%s", text)
	}
	p.said.Reset()
	for _, r := range m.Results() {
		p.result(r)
	}
}

func (p *paper) result(r utp.Result) {
	text := fmt.Sprintf("%s, %s", outcome(r), Size(r.Text()))
	switch {
	case p.whole:
		text = fmt.Sprintf("%s\n    %s", outcome(r), strings.ReplaceAll(strings.TrimSpace(r.Text()), "\n", "\n    "))
	case r.Status != utp.StatusOK:
		text = fmt.Sprintf("%s: %s", outcome(r), short(r.Text(), 300))
	}
	p.line("  %s: %s", r.Name, text)
}

func (p *paper) end(e transcript.Entry) {
	switch e.Reason {
	case transcript.Stopped:
		p.line("(stopped by the user)")
	case transcript.Failed:
		p.line("(no answer: %s)", e.Text)
	}
	p.gap()
}

// Markdown prints a session as a document.
func Markdown(w io.Writer, s store.Info, log []transcript.Entry) {
	fmt.Fprintf(w, "# %s\n\n%s, %s, session %s\n", Short(s.First), s.Updated.Format("2006-01-02 15:04"), Clean(s.Model), s.ID)
	for _, m := range transcript.Messages(log) {
		switch m.Role {
		case utp.RoleUser:
			fmt.Fprintf(w, "\n## Question\n\n%s\n", Clean(m.Text()))
		case utp.RoleAssistant:
			if text := strings.TrimSpace(m.Text()); text != "" {
				fmt.Fprintf(w, "\n%s\n", Clean(text))
			}
			for _, c := range m.Calls() {
				fmt.Fprintf(w, "\n- `%s %s`\n", Clean(c.Name), Clean(string(c.Args)))
			}
		}
	}
}
