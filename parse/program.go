package parse

import "strings"

// programWords begin lines of a program. Calls beside them are its own, and are not
// written to be run.
var programWords = []string{"import ", "def ", "return", "assert ", "with ", "class ", "async "}

// maxProgram is how much of a line is looked at.
const maxProgram = 256

// programLine notes whether the line that v begins with is one of a program.
func (p *Parser) programLine(v view) found {
	if p.program {
		return yes
	}
	waits := no
	for _, word := range programWords {
		switch _, f := matchLiteral(v.s, word); {
		case f == more:
			waits = max(waits, v.ask())
		case f == yes && strings.HasPrefix(v.s, word):
			waits = max(waits, isProgram(v, word))
		}
	}
	p.program = waits == yes
	return waits
}

// isProgram reports whether a line goes on as its first word does in a program:
// prose has the same words.
func isProgram(v view, word string) found {
	line, _, whole := strings.Cut(v.s[len(word):], "\n")
	if !whole && len(v.s) < maxProgram && v.ask() == more {
		return more
	}
	line = strings.TrimRight(line, " \t\r")
	switch word {
	case "import ":
		return either(!strings.Contains(line, " ") || strings.Contains(line, " as ") || strings.Contains(line, ", "))
	case "with ", "def ", "class ", "async ":
		return either(strings.HasSuffix(line, ":"))
	case "return":
		return either(line == "" || line[0] == ' ' && (strings.Count(line, " ") == 1 || strings.ContainsAny(line, "()[]{}=+*\"'_")))
	}
	return either(strings.ContainsAny(line, "()=<>"))
}

func either(ok bool) found {
	if ok {
		return yes
	}
	return no
}

// startsName reports whether s begins with a name, as a call in a program does.
func startsName(s string) bool { return s != "" && isNameByte(s[0]) }
