package prompt

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// fitting is a text that matches a pattern: text itself, if it does, or one
// made of the pattern. A pattern that Go cannot read is not looked at.
func fitting(pattern, text string) (fit string, matches bool) {
	if pattern == "" {
		return text, true
	}
	re, err := regexp.Compile(pattern)
	if err != nil || re.MatchString(text) {
		return text, true
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return text, true
	}
	var b strings.Builder
	write(&b, tree.Simplify())
	return b.String(), false
}

// write writes a shortest text of a pattern.
func write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(readable(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus:
		write(b, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			write(b, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[0])
	}
}

// readable is a letter or a digit of a class, else its first character.
func readable(ranges []rune) rune {
	for _, want := range "aA1" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
