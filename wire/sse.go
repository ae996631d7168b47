package wire

import (
	"bytes"
	"fmt"
)

// MaxFrame is the longest frame that the decoders take by default, in bytes.
const MaxFrame = 32 << 20

// SSEDecoder reads server-sent events as their bytes arrive. The zero value is
// ready. Lines may end in LF, CRLF or CR and have any length.
// Source: HTML Living Standard, "Server-sent events".
type SSEDecoder struct {
	Max int // bytes of one event; 0 is MaxFrame

	line lines
	next Frame
	data []byte
	some bool // a data field was seen
	id   string
}

// Feed takes more bytes and gives the events that are complete.
func (d *SSEDecoder) Feed(b []byte) ([]Frame, error) {
	var out []Frame
	d.line.max, d.line.cr = limit(d.Max), true
	err := d.line.feed(b, func(line []byte) error {
		if len(line) > 0 {
			return d.field(line)
		}
		if f, ok := d.flush(); ok {
			out = append(out, f)
		}
		return nil
	})
	return out, err
}

// Close gives the event that the end of the stream completes. The standard
// would drop it; servers that forget the last empty line would lose their end.
func (d *SSEDecoder) Close() ([]Frame, error) {
	if rest := d.line.rest(); len(rest) > 0 {
		if err := d.field(rest); err != nil {
			return nil, err
		}
	}
	if f, ok := d.flush(); ok {
		return []Frame{f}, nil
	}
	return nil, nil
}

func (d *SSEDecoder) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if d.some {
			d.data = append(d.data, '\n')
		}
		d.some = true
		d.data = append(d.data, value...)
		if len(d.data) > limit(d.Max) {
			return tooLong(limit(d.Max))
		}
	case "event":
		d.next.Event = string(value)
	case "id":
		d.id = string(value)
	}
	return nil
}

func (d *SSEDecoder) flush() (Frame, bool) {
	f, some := Frame{Event: d.next.Event, Data: d.data, ID: d.id}, d.some
	d.next, d.data, d.some = Frame{}, nil, false
	return f, some
}

// AppendSSE appends f as server-sent event.
func AppendSSE(dst []byte, f Frame) []byte {
	if f.Event != "" {
		dst = append(append(append(dst, "event: "...), f.Event...), '\n')
	}
	if f.ID != "" {
		dst = append(append(append(dst, "id: "...), f.ID...), '\n')
	}
	for data, more := f.Data, true; more; {
		var line []byte
		line, data, more = bytes.Cut(data, []byte("\n"))
		dst = append(append(append(dst, "data: "...), line...), '\n')
	}
	return append(dst, '\n')
}

// Done reports whether f is the end mark of OpenAI's streams, "[DONE]".
func (f Frame) Done() bool { return string(bytes.TrimSpace(f.Data)) == "[DONE]" }

func limit(max int) int {
	if max <= 0 {
		return MaxFrame
	}
	return max
}

func tooLong(max int) error {
	return fmt.Errorf("wire: a frame of the stream is longer than %d bytes", max)
}

// lines cuts a byte stream into lines; each byte is looked at once.
type lines struct {
	max   int
	cr    bool // a lone CR ends a line too
	buf   []byte
	begun bool // past the byte order mark
	skip  bool // the last byte was a CR: an LF after it belongs to it
}

func (l *lines) feed(b []byte, emit func([]byte) error) error {
	for len(b) > 0 {
		if l.skip && b[0] == '\n' {
			b, l.skip = b[1:], false
			continue
		}
		l.skip = false
		n := l.end(b)
		if n < 0 {
			l.buf = append(l.buf, b...)
			break
		}
		line := b[:n]
		if len(l.buf) > 0 {
			line = append(l.buf, line...)
		}
		l.skip, b = b[n] == '\r', b[n+1:]
		l.buf = l.buf[:0]
		if err := l.emit(line, emit); err != nil {
			return err
		}
	}
	if len(l.buf) > l.max {
		return tooLong(l.max)
	}
	return nil
}

// stretch is how far is looked ahead for one of two bytes, so that text with but
// one of them is not looked through to its end for the other.
const stretch = 512

func (l *lines) end(b []byte) int {
	if !l.cr {
		return bytes.IndexByte(b, '\n')
	}
	for at := 0; at < len(b); at += stretch {
		head := b[at:min(at+stretch, len(b))]
		n := bytes.IndexByte(head, '\n')
		if n >= 0 {
			head = head[:n]
		}
		if cr := bytes.IndexByte(head, '\r'); cr >= 0 {
			n = cr
		}
		if n >= 0 {
			return at + n
		}
	}
	return -1
}

func (l *lines) emit(line []byte, emit func([]byte) error) error {
	if len(line) > l.max {
		return tooLong(l.max)
	}
	return emit(l.unmark(line))
}

// unmark drops a byte order mark from the first line.
func (l *lines) unmark(line []byte) []byte {
	if !l.begun {
		l.begun = true
		return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

func (l *lines) rest() []byte {
	line := l.unmark(l.buf)
	l.buf = nil
	return line
}
