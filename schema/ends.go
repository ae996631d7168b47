package schema

// ends are the last two letters of all names that may be meant, folded. Most words
// that are asked for are words of a text, and end otherwise.
type ends map[[2]byte]bool

// add notes the end of a folded name.
func (e ends) add(folded string) {
	switch n := len(folded); n {
	case 0:
	case 1:
		e[[2]byte{0, folded[0]}] = true
	default:
		e[[2]byte{folded[n-2], folded[n-1]}] = true
	}
}

// may reports whether a written name can be one of the names: it is taken for none
// only where it ends in a letter of ASCII after another letter or digit, which stay
// what they are in every spelling.
func (e ends) may(name string) bool {
	n := len(name) - 1
	if n < 1 {
		return true
	}
	last, before := lowerByte(name[n]), lowerByte(name[n-1])
	if last < 'a' || last > 'z' || (before < 'a' || before > 'z') && (before < '0' || before > '9') {
		return true
	}
	return e[[2]byte{before, last}] || e[[2]byte{0, last}]
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
