package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
)

// cutParts shortens the text parts to limit bytes in all and says in the text
// how much is missing. Other parts stay. cut is in bytes.
func cutParts(parts []utp.Part, limit int) (out []utp.Part, cut int) {
	size, room := 0, limit
	for _, p := range parts {
		if t, ok := p.(utp.Text); ok {
			size += len(t.Text)
		}
	}
	if size <= limit {
		return parts, 0
	}
	for _, p := range parts {
		t, ok := p.(utp.Text)
		if ok && room <= 0 {
			cut += len(t.Text)
			continue
		}
		if ok {
			head := cutText(t.Text, room)
			room, cut = room-len(t.Text), cut+len(t.Text)-len(head)
			t.Text, p = head, nil
			p = t
		}
		out = append(out, p)
	}
	note := fmt.Sprintf("[cut: %d of %d bytes are missing here. Ask for less: a smaller range or a narrower question.]", cut, size)
	return append(out, utp.Text{Text: note}), cut
}

// cutText keeps at most n bytes, whole lines where that costs little.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i > n*3/4 {
		return s[:i+1]
	}
	return s[:n]
}
