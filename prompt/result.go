package prompt

import (
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Result prints a tool result for the message that answers the call. A failure
// says so before its text; a part that is no text is named in brackets. The
// text cannot close its wrapper: a closer inside it gets a backslash.
func Result(g *grammar.Grammar, r utp.Result) string {
	f := g.Results()
	slots := fields{name: r.Name, id: r.CallID}
	return lenientFill(f.Open, slots) + fenceIn(resultText(r), f.Close) + lenientFill(f.Close, slots)
}

// lenientFill writes a wrapper's marker; a value that a slot cannot hold is
// left out, for a result must never fail to be told.
func lenientFill(marker string, slots fields) string {
	if text, err := fill(marker, slots); err == nil {
		return text
	}
	return strings.NewReplacer("{name}", "", "{id}", "").Replace(marker)
}

var statusWords = map[utp.Status]string{utp.StatusFailed: "ERROR: ", utp.StatusDenied: "DENIED: "}

func resultText(r utp.Result) string {
	var words []string
	for _, p := range r.Parts {
		switch p := p.(type) {
		case utp.Text:
			words = append(words, p.Text)
		case utp.Blob:
			words = append(words, fmt.Sprintf("[%s]", strings.TrimSpace(or(p.MIME, "file")+" "+or(p.Name, p.URL))))
		}
	}
	text := strings.Join(words, "\n")
	head := statusWords[r.Status]
	if word, _, _ := strings.Cut(head, ":"); word != "" && strings.HasPrefix(strings.ToUpper(text), word) {
		head = ""
	}
	return head + text
}

// fenceIn breaks every closer inside text after its first character.
func fenceIn(text, closer string) string {
	closer = strings.TrimSpace(closer)
	if len(closer) < 2 {
		return text
	}
	return strings.ReplaceAll(text, closer, closer[:1]+`\`+closer[1:])
}
