package schema

import (
	"strconv"
	"strings"
)

// maxDigits bounds the digits that an exponent may be spelt out to.
const maxDigits = 40

// integral spells a number literal without fraction or exponent, if its value
// is an integer: 7.0 is 7, 1e3 is 1000.
func integral(lit string) (string, bool) {
	sign := ""
	if strings.HasPrefix(lit, "-") {
		sign, lit = "-", lit[1:]
	}
	mantissa, exp := lit, 0
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		n, err := strconv.Atoi(lit[i+1:])
		if err != nil || n > maxDigits || n < -maxDigits {
			return "", false
		}
		mantissa, exp = lit[:i], n
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := whole + strings.TrimRight(frac, "0")
	exp -= len(strings.TrimRight(frac, "0"))
	if exp < 0 { // trailing zeros may still make it whole: 10e-1
		cut := len(digits) + exp
		if cut < 0 || strings.Trim(digits[cut:], "0") != "" {
			if strings.Trim(digits, "0") == "" {
				return "0", true
			}
			return "", false
		}
		digits, exp = digits[:cut], 0
	}
	digits = strings.TrimLeft(digits+strings.Repeat("0", exp), "0")
	if digits == "" {
		return "0", true
	}
	return sign + digits, true
}

// number reads text as a number and gives its JSON literal. Beside JSON's own
// form it takes a plus sign, leading zeros and a missing zero before the point.
func number(text string) (string, bool) {
	s := strings.TrimSpace(text)
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	for len(s) > 1 && s[0] == '0' && isDigit(s[1]) {
		s = s[1:]
	}
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if !isNumber(s) {
		return "", false
	}
	return sign + s, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNumber tests JSON's form of a number without a sign.
func isNumber(s string) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if strings.HasPrefix(s, "0") {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if strings.HasPrefix(s, ".") {
		if s = s[1:]; !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		return digits() && s == ""
	}
	return s == ""
}

var booleanWords = map[string]bool{
	"true": true, "yes": true, "on": true, "1": true,
	"false": false, "no": false, "off": false, "0": false,
}

// boolean reads text as true or false. Words other than those two count only
// if nothing but a boolean is wanted.
func boolean(text string, only bool) (value, ok bool) {
	word := strings.ToLower(strings.TrimSpace(text))
	if !only && word != "true" && word != "false" {
		return false, false
	}
	value, ok = booleanWords[word]
	return value, ok
}

// isNull tells the words that models write for null.
func isNull(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "null", "none", "nil":
		return true
	}
	return false
}
