package history

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Files fits the files of a history to a provider. why says why a file cannot be
// sent, or "". Such a file is sent as a text if it is one; any other leaves a note
// in its place, so that the model knows of it.
func Files(messages []Sent, why func(utp.Blob) string, lose Lose) []Sent {
	f := files{why, lose}
	for i, m := range messages {
		if m.Role != utp.RoleUser && m.Role != utp.RoleTool {
			continue
		}
		if parts := f.parts(m.Parts, m.At); parts != nil {
			messages[i].Parts = parts
		}
	}
	return messages
}

type files struct {
	why  func(utp.Blob) string
	lose Lose
}

// parts are the parts with those files changed; nil if there are none.
func (f files) parts(parts []utp.Part, at []string) (changed []utp.Part) {
	for k, p := range parts {
		now := p
		switch q := p.(type) {
		case utp.Blob:
			text, ok := f.file(q, at[k])
			if !ok {
				continue
			}
			now = text
		case utp.Result:
			inner := f.parts(q.Parts, inside(at[k], q.Parts))
			if inner == nil {
				continue
			}
			q.Parts = inner
			now = q
		default:
			continue
		}
		if changed == nil {
			changed = slices.Clone(parts)
		}
		changed[k] = now
	}
	return changed
}

// inside are the places of a result's parts; nil if none of them is a file.
func inside(at string, parts []utp.Part) []string {
	if !slices.ContainsFunc(parts, func(p utp.Part) bool { _, file := p.(utp.Blob); return file }) {
		return nil
	}
	places := make([]string, len(parts))
	for k := range parts {
		places[k] = partOf(at, k)
	}
	return places
}

// file is what to send in place of a file, if something else must be.
func (f files) file(b utp.Blob, at string) (t utp.Text, ok bool) {
	switch why := f.why(b); {
	case why == "":
	case isText(b):
		f.lose(at, "rewritten as a text", why)
		return document(b), true
	default:
		f.lose(at, wire.Noted, why)
		return utp.Text{Text: "(a file that cannot be shown" + strings.TrimRight(": "+strings.TrimSpace(b.Name+" "+b.MIME), ": ") + ")"}, true
	}
	return t, false
}

// textual are the types of texts that do not begin with "text/".
var textual = []string{"application/json", "application/xml", "application/yaml", "application/toml", "application/javascript", "application/sql"}

func isText(b utp.Blob) bool {
	kind, _, _ := strings.Cut(b.MIME, ";")
	if len(b.Data) == 0 || !utf8.Valid(b.Data) {
		return false
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || slices.Contains(textual, kind)
}

// document is a file of text as a text, with its title.
func document(b utp.Blob) utp.Text {
	head := "<document>"
	if b.Name != "" {
		head = fmt.Sprintf("<document title=%q>", b.Name)
	}
	return utp.Text{Text: head + "\n" + strings.TrimSuffix(string(b.Data), "\n") + "\n</document>", Extra: b.Extra}
}
