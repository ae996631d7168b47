package backend

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// leftovers looks for calls that a model tried to write in a dialect whose
// openers are ordinary text, and which the parse had to leave: of a tool that
// does not exist, or with arguments that are no object. It reads the whole
// reply at its end, so that the model can be told; the text stays.
type leftovers struct {
	g     *grammar.Grammar
	tools *schema.Set
	said  strings.Builder
}

// leftovers makes the search for a reply; nil: the model was told no such dialect.
func (p *plan) leftovers() *leftovers {
	if p.told == nil || !p.told.Line || p.parse.Tools.Len() == 0 {
		return nil
	}
	return &leftovers{g: p.told, tools: p.parse.Tools}
}

// maxSaid bounds the text that is kept for the search.
const maxSaid = 1 << 20

func (l *leftovers) add(e utp.Event) {
	if e.Kind == utp.Mark || e.Kind == utp.TextDelta || e.Kind == utp.ThinkDelta {
		if text := e.Raw + plainText(e); l.said.Len()+len(text) <= maxSaid {
			l.said.WriteString(text)
		}
	}
}

// plainText is the text of an event that covers none of the model's.
func plainText(e utp.Event) string {
	if e.Raw != "" {
		return ""
	}
	return e.Text
}

// problem words the first try; nil: there is none.
func (l *leftovers) problem() *utp.Problem {
	text := l.said.String()
	for _, open := range tries(l.g) {
		at := open.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		name := text[at[2]:at[3]]
		p := &utp.Problem{Kind: utp.UnknownTool, Grammar: l.g.Name, Name: name, Offset: at[2], Raw: l.try(text[at[0]:])}
		if own, _, ok := l.tools.Resolve(name); ok {
			p.Kind, p.Name = utp.Malformed, own
			p.Message = "the arguments are not a JSON object of their own"
			p.Want = strings.TrimSpace(strings.ReplaceAll(l.g.Call.Open, "{name}", own)) + " {…}"
		}
		return p
	}
	return nil
}

// try is the text of a try at the beginning of s: up to an empty line, a result
// that is invented, or the final answer.
func (l *leftovers) try(s string) string {
	end := len(s)
	for _, mark := range append(prompt.Stops(l.g), "\n\n", "\n"+strings.TrimSpace(l.g.Think.Close)) {
		if i := strings.Index(s, mark); i > 0 && mark != "\n" {
			end = min(end, i)
		}
	}
	return strings.TrimRight(s[:end], " \t\r\n")
}

// tries are patterns of the openers of a dialect that are words before and
// behind the name, which is the first group: with all that belongs to them, or
// with a parenthesis behind the name.
func tries(g *grammar.Grammar) (out []*regexp.Regexp) {
	for _, open := range append([]string{g.Call.Open}, g.Also["call.open"]...) {
		before, after, _ := strings.Cut(open, "{name}")
		if hasWord(before) && hasWord(after) {
			head := "(?mi)^[ \t]*" + loose(before) + "([\\w.:/-]+)"
			out = append(out, regexp.MustCompile(head+loose(after)), regexp.MustCompile(head+"[ \t]*\\("))
		}
	}
	return out
}

func hasWord(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// loose is a pattern of a marker with any white space in it.
func loose(marker string) string {
	words := strings.Fields(marker)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return "\\s*" + strings.Join(words, "\\s+") + "\\s*"
}
