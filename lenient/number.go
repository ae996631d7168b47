package lenient

import (
	"strconv"
	"strings"
)

// isNumber reports whether s is a JSON number.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	s = s[n:]
	if strings.HasPrefix(s, ".") {
		if n = digits(s[1:]); n == 0 {
			return false
		}
		s = s[1+n:]
	}
	return s == "" || isExponent(s)
}

func isExponent(s string) bool {
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

func digits(s string) (n int) {
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// plainNumber rewrites a number that JSON writes differently: +1, 007, .5, 5.,
// 1_000, 0x1F, 0o17, 0b11. python says that Python writes it so.
func plainNumber(s string) (num string, python, ok bool) {
	sign, body := "", s
	switch {
	case strings.HasPrefix(s, "-"):
		sign, body = "-", s[1:]
	case strings.HasPrefix(s, "+"):
		body = s[1:]
	}
	python = true
	if len(body) > 2 && body[0] == '0' && strings.IndexByte("xob", body[1]|0x20) >= 0 {
		n, err := strconv.ParseUint(body, 0, 64)
		return sign + strconv.FormatUint(n, 10), true, err == nil
	}
	body = ungroup(body)
	n := digits(body)
	whole, rest := strings.TrimLeft(body[:n], "0"), body[n:]
	python = len(whole) == n || whole == ""
	fraction := ""
	if strings.HasPrefix(rest, ".") {
		k := digits(rest[1:])
		if n+k == 0 {
			return "", false, false
		}
		fraction, rest = "."+rest[1:1+k], rest[1+k:]
		if k == 0 {
			fraction = ".0"
		}
	} else if n == 0 {
		return "", false, false
	}
	if whole == "" {
		whole = "0"
	}
	return sign + whole + fraction + rest, python, rest == "" || isExponent(rest)
}

// ungroup drops underscores between digits.
func ungroup(s string) string {
	if strings.IndexByte(s, '_') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] == '_' && i > 0 && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1]) {
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}
