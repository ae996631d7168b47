package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// programWords begin lines of a program, by their first letter in any case. Calls
// beside them are its own, and are not written to be run.
var programWords = func() (t [256][]string) {
	for _, word := range []string{"import ", "def ", "return", "with ", "class ", "assert ", "async "} {
		t[word[0]] = append(t[word[0]], word)
		t[scan.Upper(word[0])] = t[word[0]]
	}
	return t
}()

// maxProgram is how much of a line is looked at.
const maxProgram = 256

// programLine notes whether the line that v begins with is one of a program.
func (p *Parser) programLine(v scan.View) scan.Found {
	if p.now.program {
		return scan.Yes
	}
	waits := scan.No
	for _, word := range programWords[v.S[0]] {
		if len(v.S) > 1 && scan.Lower(v.S[1]) != word[1] {
			continue
		}
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
