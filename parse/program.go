package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// programWords begin lines of a program. Calls beside them are its own, and are not
// written to be run.
var programWords = [...]string{"import ", "def ", "return", "with ", "class ", "assert ", "async "}

// programStarts are their first letters, in their order.
const programStarts = "idrwcaa"

// maxProgram is how much of a line is looked at.
const maxProgram = 256

// programLine notes whether the line that v begins with is one of a program.
func (p *Parser) programLine(v scan.View) scan.Found {
	if p.now.program {
		return scan.Yes
	}
	waits := scan.No
	first := scan.Lower(v.S[0])
	at := strings.IndexByte(programStarts, first)
	for ; at >= 0 && at < len(programStarts) && programStarts[at] == first; at++ {
		word := programWords[at]
		switch _, f := scan.MatchLiteral(v.S, word); {
		case f == scan.More:
			waits = max(waits, v.Ask())
		case f == scan.Yes && strings.HasPrefix(v.S, word):
			waits = max(waits, isProgram(v, word))
		}
	}
	p.now.program = waits == scan.Yes
	return waits
}

// isProgram reports whether a line goes on as its first word does in a program:
// prose has the same words.
func isProgram(v scan.View, word string) scan.Found {
	line, _, whole := strings.Cut(v.S[len(word):], "\n")
	if !whole && len(v.S) < maxProgram && v.Ask() == scan.More {
		return scan.More
	}
	line = strings.TrimRight(line, " \t\r")
	switch word {
	case "import ":
		return scan.Either(!strings.Contains(line, " ") || strings.Contains(line, " as ") || strings.Contains(line, ", "))
	case "with ", "def ", "class ", "async ":
		return scan.Either(strings.HasSuffix(line, ":"))
	case "return":
		return scan.Either(line == "" || line[0] == ' ' && (strings.Count(line, " ") == 1 || strings.ContainsAny(line, "()[]{}=+*\"'_")))
	}
	return scan.Either(strings.ContainsAny(line, "()=<>"))
}

// startsName reports whether s begins with a name, as a call in a program does.
func startsName(s string) bool { return s != "" && scan.IsNameByte(s[0]) }
