package codec

// object follows JSON text that should be one object, a byte at a time, to find
// where it ends. It does not validate.
type object struct {
	depth   int
	inText  bool
	escaped bool
	seen    int // bytes
	start   int // of the object; -1 before it
	end     int // behind the object; -1 inside
	other   bool
}

func newObject() object { return object{start: -1, end: -1} }

func (o *object) feed(s string) {
	for i := 0; i < len(s); i++ {
		if o.end < 0 && !o.other {
			o.byte(s[i])
		}
		o.seen++
	}
}

func (o *object) byte(c byte) {
	switch {
	case o.start < 0:
		o.begin(c)
	case o.escaped:
		o.escaped = false
	case o.inText:
		o.escaped, o.inText = c == '\\', c != '"'
	case c == '"':
		o.inText = true
	case c == '{', c == '[':
		o.depth++
	case c == '}', c == ']':
		if o.depth--; o.depth == 0 {
			o.end = o.seen + 1
		}
	}
}

func (o *object) begin(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
	case '{':
		o.start, o.depth = o.seen, 1
	default:
		o.other = true
	}
}

// closed reports whether the object is complete.
func (o *object) closed() bool { return o.end >= 0 }
