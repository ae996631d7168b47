package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

// Event prints one step of a turn.
func (p *Printer) Event(e agent.Event) {
	p.progress(e)
	switch e.Kind {
	case agent.Round:
		p.forced = p.forced && e.Round > 1
		p.endStream()
		p.streamed.Reset()
		p.endMarkdown()
		p.Line(Debug, "debug: request %d", e.Round)
	case agent.Text:
		p.stream(e.Text)
	case agent.Think:
		p.think(e.Text)
	case agent.Parsed:
		p.parsed(e)
	case agent.Problem:
		p.problem(e)
	case agent.Started:
		p.repairs(*e.Call)
		p.Line(Debug, "debug: running %s", e.Call.Name)
	case agent.Approved:
		p.Line(Verbose, "%s: approved", e.Call.Name)
	case agent.Succeeded, agent.Failed, agent.Denied:
		p.done(e)
	case agent.Result:
		p.result(e)
	case agent.Warning:
		p.Warn("%s", e.Text)
	case agent.Forced:
		p.forced = true
		p.Line(Normal, "asking for an answer without tools: %s", e.Text)
	case agent.Suggestion:
		p.Line(Normal, "the model says that it will use %s, and did not call it: to have it called, say so: bx \"Call %s.\"", e.Tool.Name, e.Tool.Name)
	case agent.Summed:
		p.Line(Verbose, "summary: %s", e.Text)
	case agent.Final:
		p.Totals(*e.Answer)
	}
}

// progress says what goes on after an event.
func (p *Printer) progress(e agent.Event) {
	if p.Progress == nil {
		return
	}
	switch e.Kind {
	case agent.Round:
		p.Progress.Busy(strings.TrimSpace("waiting for " + first(e.Request.Model, "the model") + " " + Filled(e.Tokens, e.Window)))
	case agent.Summing:
		p.Progress.Busy(strings.TrimSpace("summing up what does not fit the window " + Filled(e.Tokens, e.Window)))
	case agent.Think:
		p.Progress.Busy("thinking")
	case agent.Started:
		p.Progress.Busy(e.Call.Name + " is running")
	case agent.Stream:
	default:
		p.Progress.Busy("")
	}
}

// parsed tells of a call that is to run; of one that is not, a warning tells.
func (p *Printer) parsed(e agent.Event) {
	if p.forced {
		p.Line(Verbose, "not run: %s %s", e.Call.Name, short(string(e.Call.Args), 200))
		return
	}
	from := origin(*e.Call)
	if p.Unmarked {
		from = ""
	}
	p.Line(Normal, "%s %s%s", e.Call.Name, short(string(e.Call.Args), 200), from)
	p.repairs(*e.Call)
	p.Line(Debug, "debug: call %s id=%s source=%s", e.Call.Name, e.Call.ID, e.Call.Source)
}

// repairs tells the fixes of a call that were not told yet.
func (p *Printer) repairs(c utp.Call) {
	for _, f := range c.Fixes[min(p.told[c.ID], len(c.Fixes)):] {
		p.Line(Verbose, "  repaired %s", fix(f))
	}
	if p.told == nil {
		p.told = map[string]int{}
	}
	p.told[c.ID] = len(c.Fixes)
}

// origin marks a call that was found in text.
func origin(c utp.Call) string {
	if !c.FromText() {
		return ""
	}
	return "  [found in text: " + c.Dialect() + repaired(c) + "]"
}

func repaired(c utp.Call) string {
	if len(c.Fixes) == 0 {
		return ""
	}
	return ", repaired"
}

func fix(f utp.Fix) string {
	s := f.Why
	if f.Path != "" {
		s = f.Path + ": " + s
	}
	if f.Was != "" || f.Now != "" {
		s += fmt.Sprintf(" (%s → %s)", short(f.Was, 60), short(f.Now, 60))
	}
	return s
}

func (p *Printer) problem(e agent.Event) {
	p.Warn("a tool call could not be read: %s: %q", e.Problem.Error(), short(first(e.Problem.Raw, e.Raw), 100))
}

func (p *Printer) done(e agent.Event) {
	took := ""
	if ms := e.Duration.Round(time.Millisecond); ms > 0 {
		took = " (" + ms.String() + ")"
	}
	if e.Kind == agent.Succeeded {
		p.Line(Normal, "  %s: ok, %s%s", e.Call.Name, Size(e.Result.Text()), took)
		return
	}
	p.Line(Normal, "  %s %s: %s%s", e.Call.Name, outcome(*e.Result), short(e.Result.Text(), 300), took)
	if e.Refusal != "" {
		p.Line(Debug, "debug: refused: %s", e.Refusal)
	}
}

// outcome is the word for what became of a call, the same while it runs and in the log.
func outcome(r utp.Result) string {
	if r.Status == utp.StatusFailed {
		return "failed"
	}
	return string(r.Status)
}

// Size is how long a text is, in words.
func Size(text string) string {
	n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	if n == 1 {
		return Count(len(text), "byte")
	}
	return Count(n, "line")
}

func (p *Printer) result(e agent.Event) {
	if e.Cached {
		p.Line(Verbose, "  the same call had run: its result is used again")
	}
	p.Line(Verbose, "  %s", short(e.Result.Text(), 200))
}

// stream shows text as it comes, where someone is looking.
func (p *Printer) stream(text string) {
	if !p.Live || text == "" {
		return
	}
	p.endThink()
	p.streamed.WriteString(text)
	p.words(Clean(text))
}

// words prints text of the model's.
func (p *Printer) words(text string) {
	if p.Markdown != nil {
		io.WriteString(p.Markdown, text)
		return
	}
	io.WriteString(p.Out, text)
}

// endMarkdown ends a text, also where its code is not closed.
func (p *Printer) endMarkdown() {
	if p.Markdown != nil {
		_ = p.Markdown.Reset()
	}
}

// endStream puts the next line on its own.
func (p *Printer) endStream() {
	p.endThink()
	if p.Markdown != nil {
		_ = p.Markdown.Break()
		return
	}
	if s := p.streamed.String(); s != "" && !strings.HasSuffix(s, "\n") {
		p.streamed.WriteString("\n")
		io.WriteString(p.Out, "\n")
	}
}

func (p *Printer) think(text string) {
	if p.Level < Verbose || text == "" || p.name != "" {
		return
	}
	if !p.thinking {
		p.endStream()
		io.WriteString(p.Err, "thinking: ")
		p.thinking = true
	}
	io.WriteString(p.Err, Clean(text))
}

func (p *Printer) endThink() {
	if p.thinking {
		p.thinking = false
		io.WriteString(p.Err, "\n")
	}
}

// Answer prints the answer, unless it was streamed already.
func (p *Printer) Answer(text string) {
	p.endStream()
	if p.Live && strings.TrimSpace(p.streamed.String()) == strings.TrimSpace(text) {
		return
	}
	if p.Live {
		text = Clean(text)
	}
	p.words(strings.TrimRight(text, "\n") + "\n")
	p.endMarkdown()
}

// Partial prints what there is of an answer that did not come: its beginning,
// unless it was streamed, or else what the tools found.
func (p *Printer) Partial(text, found string) {
	p.endStream()
	text = strings.TrimSpace(text)
	if text != "" && !(p.Live && strings.Contains(p.streamed.String(), text)) {
		p.words(Clean(text) + "\n")
	}
	if text != "" {
		p.Line(Normal, "the answer is cut off here")
	}
	if found != "" {
		p.words(strings.TrimRight(Clean(found), "\n") + "\n")
	}
	p.endMarkdown()
}

// Totals prints what a turn took.
func (p *Printer) Totals(a agent.Answer) {
	p.Line(Verbose, "requests: %d, tool calls: %d, tokens: %d in, %d out, stop: %s",
		a.Requests, len(a.Calls), a.Usage.Prompt(), a.Usage.Completion(), a.Stop)
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// Trace prints how a piece of a reply was understood.
func (p *Printer) Trace(dialect, raw, decision string, mismatch bool) {
	if mismatch {
		decision += " (the model was offered native tools and wrote text)"
	}
	p.Line(Debug, "debug: dialect=%s decision=%s raw=%q", first(dialect, "unknown"), decision, raw)
}
