package wire

import "bytes"

// NDJSONDecoder reads a JSON value a line as the bytes arrive. The zero value
// is ready. Empty lines are skipped; lines may have any length.
type NDJSONDecoder struct {
	Max int // bytes of one line; 0 is MaxFrame

	line lines
}

// Feed takes more bytes and gives the lines that are complete.
func (d *NDJSONDecoder) Feed(b []byte) ([]Frame, error) {
	var out []Frame
	d.line.max = limit(d.Max)
	err := d.line.feed(b, func(line []byte) error {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out = append(out, Frame{Data: bytes.Clone(line)})
		}
		return nil
	})
	return out, err
}

// Close gives a last line that had no line end.
func (d *NDJSONDecoder) Close() ([]Frame, error) {
	if line := bytes.TrimSpace(d.line.rest()); len(line) > 0 {
		return []Frame{{Data: bytes.Clone(line)}}, nil
	}
	return nil, nil
}

// AppendNDJSON appends f as a line.
func AppendNDJSON(dst []byte, f Frame) []byte {
	return append(append(dst, f.Data...), '\n')
}

// Decoder reads the frames of a stream.
type Decoder interface {
	Feed(b []byte) ([]Frame, error)
	Close() ([]Frame, error)
}

var _, _ Decoder = (*SSEDecoder)(nil), (*NDJSONDecoder)(nil)

// Decoder is a new decoder for the framing.
func (f Framing) Decoder() Decoder {
	if f == NDJSON {
		return new(NDJSONDecoder)
	}
	return new(SSEDecoder)
}

// Append appends a frame in this framing.
func (f Framing) Append(dst []byte, frame Frame) []byte {
	if f == NDJSON {
		return AppendNDJSON(dst, frame)
	}
	return AppendSSE(dst, frame)
}
