package body

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// Scalar is the length of a number or word that stands where a call is due.
func Scalar(v scan.View) (int, scan.Found) {
	n := scan.Word(v.S)
	switch {
	case n == 0 || n > scan.MaxSlot:
		return 0, scan.No
	case n == len(v.S) && v.End:
		return n, scan.Yes
	case n == len(v.S):
		return 0, v.Ask()
	case v.S[n] == ',' || v.S[n] == ']':
		return n, scan.Yes
	}
	return 0, scan.No
}

// ObjectBegins accepts what stands after the brace of an object in ordinary text.
func ObjectBegins(v scan.View) scan.Found {
	_, v = v.Blanks()
	switch {
	case v.S == "":
		return v.Ask()
	case v.S[0] == '"', v.S[0] == '\'', v.S[0] == '}':
		return scan.Yes
	}
	return scan.No
}

// ListBegins accepts what stands after the bracket of a list in ordinary text.
func ListBegins(v scan.View) scan.Found {
	_, v = v.Blanks()
	switch {
	case v.S == "":
		return v.Ask()
	case strings.IndexByte("{[\"'-0123456789]", v.S[0]) >= 0:
		return scan.Yes
	}
	return scan.No
}

// Ticks finds the backquotes that make code of an object, and a language's
// name after three of them. head is how far the object is.
func Ticks(v scan.View) (head, ticks int, f scan.Found) {
	for head < len(v.S) && v.S[head] == '`' {
		head++
	}
	if ticks = head; ticks == 3 {
		head += scan.Word(v.S[head:])
	}
	blanks, rest := v.From(head).Blanks()
	switch {
	case rest.S == "" && ticks > 0 && rest.Ask() == scan.More:
		return 0, 0, scan.More
	case (ticks == 1 || ticks == 3) && rest.S != "" && rest.S[0] == '{':
		return head + blanks, ticks, scan.Yes
	}
	return 0, 0, scan.No
}

// ID is the length of an id in brackets that stands before an object: [call_1]{…}.
func ID(v scan.View) (int, scan.Found) {
	if v.S == "" || v.S[0] != '[' || len(v.S) > 1 && !scan.IsASCIILetter(v.S[1]) {
		return 0, scan.No
	}
	n := 1 + scan.Word(v.S[1:])
	switch {
	case n >= len(v.S) && n <= scan.MaxSlot:
		return 0, v.Ask()
	case n >= len(v.S) || v.S[n] != ']':
		return 0, scan.No
	}
	blanks, rest := v.From(n + 1).Blanks()
	if rest.S == "" {
		return 0, rest.Ask()
	}
	return n + 1 + blanks, scan.Either(rest.S[0] == '{')
}
