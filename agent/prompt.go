package agent

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp/internal/template"
)

//go:embed system.md
var systemText string

//go:embed lines.md
var linesText string

var systemTemplate = sync.OnceValue(func() template.Set { return template.Must(template.New("system.md", systemText)) })

// What the model is told on the way, from lines.md.
var (
	forcedLine   = line("forced")
	emptyLine    = line("empty")
	repeatLine   = line("repeat")
	correctLine  = line("correct")
	besideLine   = line("beside")
	urgeLine     = line("urge")
	memberLine   = line("member")
	guideLine    = line("guide")
	questionLine = line("question")
	stoppedLine  = line("stopped")
	summaryLine  = line("summary")
	summedLine   = line("summed")
	unsummedLine = line("unsummed")
)

// Reminder is what Config.Insist tells a model.
func Reminder() string { return urgeLine }

// line finds the paragraph under a heading of lines.md.
func line(name string) string {
	_, rest, ok := strings.Cut(linesText, "# "+name+"\n")
	if !ok {
		panic("agent: lines.md has no heading " + name)
	}
	text, _, _ := strings.Cut(rest, "\n# ")
	return strings.TrimSpace(text)
}

// SystemData fills the system prompt.
type SystemData struct {
	Root    string // name of the repository or directory; may be empty
	Tools   bool   // tools are on offer
	Explain bool   // show the steps
	Extra   string // the user's own instructions; may be empty
}

// System makes the system prompt.
func System(d SystemData) (string, error) {
	text, err := systemTemplate().Execute("system.md", d)
	if err != nil {
		return "", fmt.Errorf("agent: system prompt: %w", err)
	}
	return strings.TrimSpace(text), nil
}
