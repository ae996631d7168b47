package search

import (
	"slices"
	"strings"
	"unicode"
)

// Wild matches a path against a glob as git does. Source: gitignore(5)
// and glob(7): "*" and "?" stop at a slash, "**/" at the beginning, "/**" at
// the end and "/**/" match any number of directories.
func Wild(glob, name string) bool {
	for glob != "" {
		if rest, ok := strings.CutPrefix(glob, "**/"); ok {
			return anywhere(rest, name)
		}
		if glob == "**" {
			return true
		}
		part, rest, more := strings.Cut(glob, "/")
		have, below, deeper := strings.Cut(name, "/")
		if !segment(part, have) {
			return false
		}
		switch {
		case !more:
			return !deeper
		case !deeper:
			return false
		}
		glob, name = rest, below
	}
	return name == ""
}

// anywhere matches glob against name and what stands below each of its directories.
func anywhere(glob, name string) bool {
	for {
		if Wild(glob, name) {
			return true
		}
		_, below, deeper := strings.Cut(name, "/")
		if !deeper {
			return false
		}
		name = below
	}
}

// segment matches one name. After a mismatch it goes on from the last star,
// one letter later.
func segment(glob, name string) bool {
	star, from := -1, 0
	g, n := 0, 0
	for n < len(name) {
		if g < len(glob) && glob[g] == '*' {
			star, from = g, n
			g++
			continue
		}
		if size := one(glob[g:], name[n]); size > 0 {
			g, n = g+size, n+1
			continue
		}
		if star < 0 {
			return false
		}
		from++
		g, n = star+1, from
	}
	return strings.Trim(glob[g:], "*") == ""
}

// one matches a byte and is how much of glob that takes; 0 is no match.
func one(glob string, c byte) int {
	switch {
	case glob == "":
		return 0
	case glob[0] == '?':
		return 1
	case glob[0] == '[':
		return bracket(glob, c)
	case glob[0] == '\\' && len(glob) == 1:
		return 0
	case glob[0] == '\\' && glob[1] == c:
		return 2
	case glob[0] == c && c != '\\':
		return 1
	}
	return 0
}

// bracket matches a byte against "[…]". One that is not closed matches nothing.
func bracket(glob string, c byte) int {
	i := 1
	not := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if not {
		i++
	}
	in := false
	for first := true; i < len(glob) && (first || glob[i] != ']'); first = false {
		if name, rest, ok := class(glob[i:]); ok {
			if !slices.Contains(classNames, name) {
				return 0
			}
			in = in || inClass(name, c)
			i = len(glob) - len(rest)
			continue
		}
		lo, after, ok := member(glob, i)
		if !ok {
			return 0
		}
		hi := lo
		if after+1 < len(glob) && glob[after] == '-' && glob[after+1] != ']' {
			if hi, after, ok = member(glob, after+1); !ok {
				return 0
			}
		}
		in = in || lo <= c && c <= hi
		i = after
	}
	if i >= len(glob) || in == not {
		return 0
	}
	return i + 1
}

// member is a byte of a set, which a backslash may stand before.
func member(glob string, i int) (c byte, after int, ok bool) {
	if glob[i] == '\\' {
		i++
	}
	if i >= len(glob) {
		return 0, i, false
	}
	return glob[i], i + 1, true
}

func class(s string) (name, rest string, ok bool) {
	if s, ok = strings.CutPrefix(s, "[:"); !ok {
		return "", "", false
	}
	name, rest, ok = strings.Cut(s, ":]")
	return name, rest, ok && !strings.Contains(name, "]")
}

var classNames = []string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"}

// inClass knows ASCII, as git does.
func inClass(name string, c byte) bool {
	r := rune(c)
	if c >= 0x80 {
		return false
	}
	switch name {
	case "alnum":
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	case "alpha":
		return unicode.IsLetter(r)
	case "blank":
		return c == ' ' || c == '\t'
	case "cntrl":
		return unicode.IsControl(r)
	case "digit":
		return unicode.IsDigit(r)
	case "graph":
		return c > ' ' && c < 0x7f
	case "lower":
		return unicode.IsLower(r)
	case "print":
		return c >= ' ' && c < 0x7f
	case "punct":
		return c > ' ' && c < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	case "space":
		return strings.IndexByte(" \t\n\v\f\r", c) >= 0
	case "upper":
		return unicode.IsUpper(r)
	}
	return unicode.Is(unicode.ASCII_Hex_Digit, r)
}
