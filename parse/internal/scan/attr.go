package scan

import (
	"html"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// matchAttrs reads attributes in any order, up to next or "/" before it.
// Of those wanted only type may be missing.
func matchAttrs(s string, want []grammar.Piece, next string, c *Caps) (int, Found) {
	i, missing := 0, required(want)
	for {
		n, open := Skip(s[i:])
		if i += n; open {
			return 0, More
		}
		at := i
		if s[i] == '/' {
			at++
		}
		if _, f := MatchLiteral(s[at:], next); f == More {
			return 0, More
		} else if f == Yes {
			c.Closed = at > i
			break
		}
		n, name, value, f := matchAttr(s[i:])
		if f != Yes {
			return 0, f
		}
		took, ok := c.attr(want, name, value)
		if !ok {
			return 0, No
		}
		missing -= took
		i += n
	}
	if missing > 0 {
		return 0, No
	}
	if c.Closed {
		i++
	}
	return i, Yes
}

// required counts the attributes that may not be missing.
func required(want []grammar.Piece) (n int) {
	for _, w := range want {
		if w.Kind == grammar.Attr && w.Text != "type" {
			n++
		}
	}
	return n
}

// attr keeps an attribute that is wanted; n is 1 if it is a required one.
func (c *Caps) attr(want []grammar.Piece, name, value string) (n int, ok bool) {
	for _, w := range want {
		if w.Kind != grammar.Attr || !strings.EqualFold(w.Name, name) {
			continue
		}
		if !c.set(w.Text, html.UnescapeString(value)) {
			return 0, false
		}
		if w.Text != "type" {
			n++
		}
	}
	return n, true
}

// matchAttr reads one x="y", x='y' or x=y.
func matchAttr(s string) (n int, name, value string, f Found) {
	for n < len(s) && (IsNameByte(s[n]) || s[n] == ':' || s[n] == '.') {
		n++
	}
	if name = s[:n]; n == len(s) {
		return 0, "", "", More
	}
	blanks, open := Skip(s[n:])
	if n += blanks; open && name != "" {
		return 0, "", "", More
	}
	if name == "" || s[n] != '=' {
		return 0, "", "", No
	}
	blanks, open = Skip(s[n+1:])
	if n += 1 + blanks; open {
		return 0, "", "", More
	}
	if q := s[n]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[n+1:], q)
		if end < 0 {
			return 0, "", "", More
		}
		return n + end + 2, name, s[n+1 : n+1+end], Yes
	}
	end := strings.IndexAny(s[n:], " \t\r\n<>|/")
	if end < 0 {
		return 0, "", "", More
	}
	return n + end, name, s[n : n+end], Yes
}
