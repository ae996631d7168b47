package lenient

import "strings"

// commentOpen reads the beginning of a comment: m is 0 if there is none.
func (r *Reader) commentOpen(c byte, w string) (m int, more bool) {
	if r.o.Quote != "" && r.state <= sItem {
		return 0, false // a bare word
	}
	to, m := sLine, 1
	if c == '/' {
		next, ok := r.following(w)
		switch {
		case !ok:
			return 0, true
		case next == '*':
			to = sBlock
		case next != '/':
			return 0, false
		}
		m = 2
	}
	r.foreign = true
	if c == '#' && r.o.Python || r.mend(inside, comment, w[:m], "") {
		r.resume, r.state, r.star = r.state, to, false
	}
	return m, false
}

// comment reads a comment up to its end.
func (r *Reader) comment(w string) int {
	if r.state == sLine {
		i := strings.IndexByte(w, '\n')
		if i < 0 {
			return len(w)
		}
		r.state = r.resume
		return i + 1
	}
	for i := 0; i < len(w); i++ {
		if r.star && w[i] == '/' {
			r.state = r.resume
			return i + 1
		}
		r.star = w[i] == '*'
	}
	return len(w)
}

// backslash reads what JSON that was escaped once more has outside strings:
// \n for a line end, \" for a quote.
func (r *Reader) backslash(w string) (int, bool) {
	next, ok := r.following(w)
	switch {
	case !ok:
		return 0, true
	case next == 'n' || next == 'r' || next == 't':
		r.mendOnce(escapedBlank, w[:2], " ")
		return 2, false
	case next == '"' && r.mayText():
		r.open(escaped, 2)
		r.mendText(escapedQuotes, w[:2], `"`)
		return 2, false
	}
	return r.fail(r.due()), false
}

// mayText reports whether a value or key may begin here.
func (r *Reader) mayText() bool { return r.state <= sArg && !(r.o.Args && len(r.stack) == 0) }
