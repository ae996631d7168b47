package extract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/te"
)

// How much an answer shows.
const (
	maxPlaces = 8
	maxLines  = 12 // of the best match
	maxWidth  = 160
)

// moreLines is how many further lines the places after the best one get.
var moreLines = []int{4, 4, 2, 0}

// finding is a result of search_code, read.
type finding struct {
	places []place
	total  int
	left   []te.Tally
	hint   string
	failed string // what went wrong; "" is nothing
}

type place struct {
	path string
	line int
	text string
	more []te.Line
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.path, p.line) }

type plainJSON struct {
	Results []struct {
		Path    string `json:"path"`
		Lines   string `json:"lines"`
		Snippet string `json:"snippet"`
	} `json:"results"`
	Error string `json:"error"`
}

// findingOf reads the tool envelope, or the plain JSON that search_code gives
// without it.
func findingOf(r utp.Result) (f finding) {
	text := r.Text()
	if r.Status != utp.StatusOK && r.Status != "" {
		return finding{failed: text}
	}
	if e, err := te.Parse(cutNotes(text)); err == nil {
		return fromEnvelope(e)
	}
	var j plainJSON
	if err := json.Unmarshal([]byte(text), &j); err != nil || j.Error != "" {
		return finding{failed: clip(text)}
	}
	for _, hit := range j.Results {
		first, _, _ := strings.Cut(hit.Lines, "-")
		n, _ := strconv.Atoi(first)
		line, _, _ := strings.Cut(hit.Snippet, "\n")
		f.places = append(f.places, place{path: hit.Path, line: n, text: line})
	}
	f.total = len(f.places)
	return f
}

// cutNotes takes off what was said to the model in front of the envelope.
func cutNotes(text string) string {
	if i := strings.Index(text, "# TE_BEGIN_META\n"); i > 0 {
		return text[i:]
	}
	return text
}

func fromEnvelope(e te.Envelope) finding {
	f := finding{total: e.Meta.Matches, left: e.Omitted, hint: e.Meta.Hint}
	if e.Meta.Error != "" {
		f.failed = e.Meta.Error + ": " + e.Text
	}
	for _, m := range e.Matches {
		f.places = append(f.places, place{m.Path, m.N, m.Text, m.More})
	}
	return f
}

// answer says what was found, and that no model read it.
func (v *view) answer() string { return v.report() + "\n" + advice }

func (v *view) report() string {
	var b strings.Builder
	b.WriteString("No language model answered this; it is what a search found")
	if v.words != "" {
		fmt.Fprintf(&b, " for: %s", v.words)
	}
	b.WriteString("\n\n")
	switch {
	case v.found != nil && v.found.failed != "":
		b.WriteString("The search failed: " + clip(v.found.failed) + "\n")
	case v.found != nil && len(v.found.places) > 0:
		v.places(&b)
	default:
		b.WriteString(v.nothing())
	}
	return b.String()
}

const advice = "For an answer in words, start a model server on this machine (Ollama, LM Studio, llama.cpp or vLLM) or name one in a profile, and ask again."

// nothing says why there is nothing to show, and what to try.
func (v *view) nothing() string {
	switch {
	case v.words == "":
		return "The question has no word to search for. Ask with a name from the code, or with what it does.\n"
	case v.found == nil:
		return "The tool search_code is not offered here, so nothing was searched.\n"
	}
	return "Nothing was found. Try fewer or other words: a name from the code, a part of a file's name, or a word from an error message.\n"
}

func (v *view) places(b *strings.Builder) {
	f := v.found
	best := f.places[0]
	fmt.Fprintf(b, "Best match: %s\n", best)
	for _, line := range v.excerpt(best) {
		b.WriteString("    " + clip(line) + "\n")
	}
	if len(f.places) > 1 {
		b.WriteString("\nOther places:\n")
	}
	for i, p := range f.places[1:] {
		fmt.Fprintf(b, "- %s: %s\n", p, clip(strings.TrimSpace(p.text)))
		for _, l := range p.more[:min(len(p.more), moreLines[min(i, len(moreLines)-1)])] {
			fmt.Fprintf(b, "    %d: %s\n", l.N, clip(l.Text))
		}
	}
	if rest := f.rest(); rest != "" {
		b.WriteString("\n" + rest + "\n")
	}
	if f.hint != "" {
		b.WriteString("\nNote: " + f.hint + "\n")
	}
}

// rest counts what the search left out.
func (f *finding) rest() string {
	var words []string
	for _, t := range f.left {
		where := t.Dir
		if where == "" {
			where = "other directories"
		}
		words = append(words, fmt.Sprintf("%d in %s", t.N, where))
	}
	if len(words) == 0 {
		return ""
	}
	return "More matches: " + strings.Join(words, ", ")
}

var numberedLine = regexp.MustCompile(`^[0-9]+: `)

// excerpt is the definition around the best match, or its own lines.
func (v *view) excerpt(best place) (lines []string) {
	for line := range strings.Lines(v.shown) {
		if numberedLine.MatchString(line) {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("%d: %s", best.line, best.text)}
		for _, l := range best.more {
			lines = append(lines, fmt.Sprintf("%d: %s", l.N, l.Text))
		}
	}
	if cut := len(lines) - maxLines; cut > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("… %d more lines", cut))
	}
	return lines
}

// clip shortens a line for people.
func clip(s string) string {
	s = strings.ReplaceAll(strings.TrimRight(s, " \t\r\n"), "\n", " ")
	if runes := []rune(s); len(runes) > maxWidth {
		return string(runes[:maxWidth]) + "…"
	}
	return s
}
