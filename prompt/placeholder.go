package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// placeholder is where a system prompt wants the tools.
var placeholder = regexp.MustCompile(`\{\{[ \t]*tools[ \t]*\}\}`)

// misspelt is a placeholder that lacks a brace.
var misspelt = regexp.MustCompile(`\{\{[ \t]*tools[ \t]*(\}([^}\n]|$)|\}?(\n|$))|(^|[^{])\{[ \t]*tools[ \t]*\}\}`)

// CheckPlaceholder reports a {{tools}} in a system prompt that lacks a brace.
func CheckPlaceholder(text string) error {
	if m := misspelt.FindString(text); m != "" {
		return fmt.Errorf("placeholder %q: want {{tools}}", strings.TrimSpace(m))
	}
	return nil
}

// FillPlaceholder puts words in the place of {{tools}}, for a prompt whose tools
// are told elsewhere.
func FillPlaceholder(text, words string) string {
	return placeholder.ReplaceAllLiteralString(text, words)
}

// NoTools are the words in the place of {{tools}} where there are none.
func NoTools() string { return strings.TrimSpace(say("none", "")) }

// addTools puts the list at the first placeholder of a system message, else at
// the end of the first one, else into a new one.
func (w Writer) addTools(messages []utp.Message, list string) ([]utp.Message, error) {
	p := filler{list: list}
	for i, m := range messages {
		if m.Role != utp.RoleSystem || w.Append {
			continue
		}
		if err := p.fill(m.Parts); err != nil {
			return nil, fmt.Errorf("prompt: messages[%d]: %w", i, err)
		}
	}
	if p.found || list == "" {
		return messages, nil
	}
	for i, m := range messages {
		if m.Role == utp.RoleSystem {
			messages[i].Parts = append(m.Parts, utp.Text{Text: list})
			return messages, nil
		}
	}
	return slices.Insert(messages, 0, utp.NewText(utp.RoleSystem, list)), nil
}

// filler fills the first placeholder with the list; the others point at it.
type filler struct {
	list  string
	found bool
}

func (p *filler) fill(parts []utp.Part) error {
	for i, part := range parts {
		t, ok := part.(utp.Text)
		if !ok {
			continue
		}
		if err := CheckPlaceholder(t.Text); err != nil {
			return err
		}
		t.Text = p.text(t.Text)
		parts[i] = t
	}
	return nil
}

func (p *filler) text(text string) string {
	at := placeholder.FindStringIndex(text)
	switch {
	case at == nil:
		return text
	case p.found || p.list == "":
		p.found = true
		return placeholder.ReplaceAllLiteralString(text, strings.TrimSpace(say("none", p.list)))
	}
	p.found = true
	after := placeholder.ReplaceAllLiteralString(text[at[1]:], strings.TrimSpace(say("none", p.list)))
	if strings.Trim(after, " ") != "" && !strings.HasPrefix(after, "\n") {
		after = "\n" + strings.TrimLeft(after, " ")
	}
	return p.lead(text, at[0]) + after
}

// lead is the text up to the placeholder and the list. A prompt that holds
// nothing else gets a sentence before it.
func (p *filler) lead(text string, at int) string {
	switch before := text[:at]; {
	case strings.TrimSpace(placeholder.ReplaceAllLiteralString(text, "")) == "":
		return before + say("lead", nil) + p.list
	case before != "" && !strings.HasSuffix(before, "\n"):
		return before + "\n" + p.list
	default:
		return before + p.list
	}
}
