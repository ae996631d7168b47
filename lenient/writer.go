package lenient

// Writer makes compact JSON text of tokens. The zero Writer is ready.
type Writer struct {
	b []byte
}

// Token writes one token. Positional writes nothing: give such a value a Key
// of your own, or the text is not JSON. More, Done and Fail write nothing.
func (w *Writer) Token(t Token) {
	switch t.Kind {
	case ObjectOpen:
		w.open('{')
	case ArrayOpen:
		w.open('[')
	case StringOpen:
		w.open('"')
	case ObjectClose:
		w.b = append(w.b, '}')
	case ArrayClose:
		w.b = append(w.b, ']')
	case StringClose:
		w.b = append(w.b, '"')
	case StringPart:
		w.b = append(w.b, t.Text...)
	case Scalar:
		w.comma()
		w.b = append(w.b, t.Text...)
	case Key:
		w.open('"')
		w.b = append(appendContent(w.b, t.Text), '"', ':')
	}
}

func (w *Writer) open(c byte) {
	w.comma()
	w.b = append(w.b, c)
}

// comma stands in front of all but the first thing in a container and a value
// after its key.
func (w *Writer) comma() {
	if n := len(w.b); n > 0 {
		switch w.b[n-1] {
		case '{', '[', ':':
		default:
			w.b = append(w.b, ',')
		}
	}
}

// Bytes is the text so far; valid until Reset.
func (w *Writer) Bytes() []byte { return w.b }

// Len is the length of the text so far.
func (w *Writer) Len() int { return len(w.b) }

// Reset empties the Writer and keeps its memory.
func (w *Writer) Reset() { w.b = w.b[:0] }
