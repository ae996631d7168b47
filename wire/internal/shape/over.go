package shape

import (
	"encoding/binary"
	"math/bits"
)

// over is where the JSON value at i ends, or -1 if it is none or has more levels
// than may be; what is wrong is not said.
func over(b []byte, i, levels int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; c {
	case '"':
		return overString(b, i+1)
	case '{', '[':
		if levels == 0 {
			return -1
		}
		return overAll(b, i+1, c == '{', levels-1)
	}
	s := scanner{b: b, i: i}
	if s.wrong() != nil {
		return -1
	}
	return s.i
}

// overAll is where an object or an array ends, whose inside begins at i.
func overAll(b []byte, i int, named bool, levels int) int {
	closer := byte(']')
	if named {
		closer = '}'
	}
	if i = overBlanks(b, i); i < len(b) && b[i] == closer {
		return i + 1
	}
	for {
		if named {
			if i = overKey(b, i); i < 0 {
				return -1
			}
		}
		if i = over(b, i, levels); i < 0 {
			return -1
		}
		switch i = overBlanks(b, i); {
		case i >= len(b):
			return -1
		case b[i] == closer:
			return i + 1
		case b[i] != ',':
			return -1
		}
		i = overBlanks(b, i+1)
	}
}

// overKey is where the value begins whose name is at i.
func overKey(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	if i = overString(b, i+1); i < 0 {
		return -1
	}
	if i = overBlanks(b, i); i >= len(b) || b[i] != ':' {
		return -1
	}
	return overBlanks(b, i+1)
}

func overBlanks(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// overString is the place behind the quote that ends a string.
func overString(b []byte, i int) int {
	for i < len(b) {
		if len(b)-i >= 8 {
			m := marks(binary.LittleEndian.Uint64(b[i:]))
			if i += bits.TrailingZeros64(m) / 8; m == 0 {
				continue // all eight mean themselves
			}
		}
		from := i
		for i+1 < len(b) && b[i] == '\\' && escapes[b[i+1]] != 0 {
			i += 2
		}
		switch {
		case i > from:
		case b[i] == '"':
			return i + 1
		case b[i] >= ' ' && b[i] != '\\':
			i++
		case hex4(b[i:]) >= 0:
			i += len(`\u00XX`)
		default:
			return -1
		}
	}
	return -1
}
