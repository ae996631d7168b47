package lenient

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

const (
	maxParens     = 32
	maxExpression = 256
)

// evaluate works out arithmetic on number literals as Python does. num is ""
// if s is no such expression; want is set if it is one but has no clear value.
func (r *Reader) evaluate(s string) (num, want string) {
	if len(s) > maxExpression || !strings.ContainsAny(s, "0123456789") {
		return "", ""
	}
	e := expr{s: s}
	v := e.sum()
	if e.blanks(); e.bad || e.i < len(s) || e.ops == 0 && strings.IndexByte(s, '(') < 0 {
		return "", ""
	}
	if looksLikeDate(s) {
		return "", ""
	}
	if e.unclear || !r.o.Python && onlyDashes(s) {
		return "", "a number (this could be a difference or a text: text needs quotes)"
	}
	if e.err != "" {
		return "", e.err
	}
	return v.String(), ""
}

// onlyDashes: 555-1234, 1-5 and 1/2/3 are more often texts than arithmetic.
func onlyDashes(s string) bool {
	return allDigits(strings.Split(s, "-"), 2) || allDigits(strings.Split(s, "/"), 3)
}

// allDigits reports whether there are at least n groups, all of digits.
func allDigits(groups []string, n int) bool {
	for _, g := range groups {
		if g == "" || digits(g) < len(g) {
			return false
		}
	}
	return len(groups) >= n
}

// looksLikeDate: 2024-12-25, 25/12/2024.
func looksLikeDate(s string) bool {
	g := strings.FieldsFunc(s, func(c rune) bool { return c == '-' || c == '/' })
	if len(g) != 3 || !allDigits(g, 3) || len(s) != len(g[0])+len(g[1])+len(g[2])+2 || s[len(g[0])] != s[len(s)-len(g[2])-1] {
		return false
	}
	year, last := len(g[0]), len(g[2])
	return len(g[1]) <= 2 && (year == 4 && last <= 2 || last == 4 && year <= 2)
}

// num is an integer or a float.
type num struct {
	float bool
	i     int64
	f     float64
}

func (n num) asFloat() float64 {
	if n.float {
		return n.f
	}
	return float64(n.i)
}

// String writes the shortest JSON number.
func (n num) String() string {
	if !n.float {
		return strconv.FormatInt(n.i, 10)
	}
	return strconv.FormatFloat(n.f, 'g', -1, 64)
}

// expr is a recursive descent over sum → term → unary → power → atom.
type expr struct {
	s       string
	i       int
	ops     int
	depth   int
	bad     bool   // no expression
	unclear bool   // "1 -2": a difference or two values
	err     string // it has no value
}

func (e *expr) blanks() { e.i += blanks(e.s[e.i:]) }

// take reads one of the operators, the longest first.
func (e *expr) take(ops ...string) string {
	e.blanks()
	gap := e.i > 0 && isBlank(e.s[e.i-1])
	for _, op := range ops {
		if strings.HasPrefix(e.s[e.i:], op) {
			e.i += len(op)
			e.ops++
			if e.depth == 0 && (op == "-" || op == "+") && gap && blanks(e.s[e.i:]) == 0 {
				e.unclear = true
			}
			return op
		}
	}
	return ""
}

func (e *expr) sum() num {
	v := e.term()
	for !e.bad {
		op := e.take("+", "-")
		if op == "" {
			break
		}
		v = e.apply(op, v, e.term())
	}
	return v
}

func (e *expr) term() num {
	v := e.unary()
	for !e.bad && !strings.HasPrefix(e.s[e.i:], "**") {
		op := e.take("//", "*", "/", "%")
		if op == "" {
			break
		}
		v = e.apply(op, v, e.unary())
	}
	return v
}

func (e *expr) unary() num {
	e.blanks()
	if e.i < len(e.s) && (e.s[e.i] == '-' || e.s[e.i] == '+') {
		minus := e.s[e.i] == '-'
		e.i++
		if e.depth++; e.depth > maxExpression {
			e.bad = true
			return num{}
		}
		v := e.unary()
		e.depth--
		if minus {
			v = num{v.float, -v.i, -v.f}
		}
		return v
	}
	return e.power()
}

func (e *expr) power() num {
	v := e.atom()
	if e.bad || e.take("**") == "" {
		return v
	}
	return e.apply("**", v, e.unary())
}

func (e *expr) atom() num {
	e.blanks()
	if e.i < len(e.s) && e.s[e.i] == '(' {
		e.i++
		e.depth++
		v := e.sum()
		e.depth--
		if e.blanks(); e.i == len(e.s) || e.s[e.i] != ')' {
			e.bad = true
			return v
		}
		e.i++
		return v
	}
	from := e.i
	for e.i < len(e.s) && (isDigit(e.s[e.i]) || e.s[e.i] == '.' || e.s[e.i] == '_' || isLetter(e.s[e.i]) ||
		strings.IndexByte("+-", e.s[e.i]) >= 0 && e.i > from && e.s[e.i-1]|0x20 == 'e') {
		e.i++
	}
	lit, _, ok := plainNumber(e.s[from:e.i])
	if !ok || len(e.s[from:e.i]) > 1 && e.s[from] == '0' && isDigit(e.s[from+1]) {
		e.bad = true
		return num{}
	}
	if i, err := strconv.ParseInt(lit, 10, 64); err == nil {
		return num{i: i}
	} else if strings.Trim(lit, "0123456789") == "" {
		e.err = tooLarge
		return num{}
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil {
		e.bad = true
	}
	return num{float: true, f: f}
}

const tooLarge = "a number that can be worked out (this one is too large)"

func (e *expr) apply(op string, a, b num) num {
	if !a.float && !b.float {
		if v, ok := e.integers(op, a.i, b.i); ok {
			return num{i: v}
		}
	}
	x, y := a.asFloat(), b.asFloat()
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		e.err = "a number (this is a division by zero)"
		return num{}
	}
	var f float64
	switch op {
	case "+":
		f = x + y
	case "-":
		f = x - y
	case "*":
		f = x * y
	case "/":
		f = x / y
	case "//":
		f = math.Floor(x / y)
	case "%":
		f = x - y*math.Floor(x/y)
	case "**":
		f = math.Pow(x, y)
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		e.err = tooLarge
	}
	return num{float: true, f: f}
}

// integers works in whole numbers; ok is false where the result is none.
func (e *expr) integers(op string, a, b int64) (v int64, ok bool) {
	switch op {
	case "+":
		v = a + b
		e.limit((v > a) == (b > 0) || b == 0)
	case "-":
		v = a - b
		e.limit((v < a) == (b > 0) || b == 0)
	case "*":
		v = e.multiply(a, b)
	case "//":
		if b == 0 {
			return 0, false
		}
		if v = a / b; a%b != 0 && (a < 0) != (b < 0) {
			v--
		}
	case "%":
		if b == 0 {
			return 0, false
		}
		if v = a % b; v != 0 && (v < 0) != (b < 0) {
			v += b
		}
	case "**":
		if b < 0 {
			return 0, false
		}
		v = e.raise(a, b)
	default:
		return 0, false
	}
	return v, true
}

func (e *expr) limit(ok bool) {
	if !ok {
		e.err = tooLarge
	}
}

func (e *expr) multiply(a, b int64) int64 {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	e.limit(hi == 0 && lo <= math.MaxInt64)
	return a * b
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func (e *expr) raise(a, b int64) int64 {
	if a >= -1 && a <= 1 && b > 2 {
		b = 2 - b&1 // the same power
	}
	v := int64(1)
	for ; b > 0 && e.err == ""; b-- {
		v = e.multiply(v, a)
	}
	return v
}
