package backend

import (
	"bytes"
	"io"
	"net/http"
)

// minKey is the length of a key that is secret; shorter ones, as "ollama", are
// for servers that want any.
const minKey = 16

// do sends a request, and once more where the server closes a connection that it
// kept open until then. Where the answer quotes the key, stars stand in its place:
// servers put it into errors, and those go to logs, traces and clients.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header["X-Idempotency-Key"] = nil // net/http: a POST, too, may go out on another connection; not sent
	resp, err := c.http.Do(req)
	if err == nil && len(c.cfg.APIKey) >= minKey {
		key := []byte(c.cfg.APIKey)
		resp.Body = &scrubbed{ReadCloser: resp.Body, key: key, buf: make([]byte, len(key)+4<<10)}
	}
	return resp, err
}

// scrubbed is a body without the key.
type scrubbed struct {
	io.ReadCloser
	key   []byte
	buf   []byte
	ready []byte // of buf: what may be read
	tail  []byte // of buf, behind it: what may be the beginning of the key
	err   error  // of the body
}

func (s *scrubbed) Read(b []byte) (int, error) {
	for len(s.ready) == 0 && s.err == nil {
		s.fill()
	}
	n := copy(b, s.ready)
	if s.ready = s.ready[n:]; len(s.ready) > 0 {
		return n, nil
	}
	return n, s.err
}

func (s *scrubbed) fill() {
	held := copy(s.buf, s.tail)
	n, err := s.ReadCloser.Read(s.buf[held:])
	all := s.buf[:held+n]
	for rest := all; ; {
		at := bytes.Index(rest, s.key)
		if at < 0 {
			break
		}
		copy(rest[at:], bytes.Repeat([]byte("*"), len(s.key)))
		rest = rest[at+len(s.key):]
	}
	keep := min(len(s.key)-1, len(all))
	for err != nil && keep > 0 || !bytes.HasSuffix(all, s.key[:keep]) {
		keep--
	}
	s.ready, s.tail, s.err = all[:len(all)-keep], all[len(all)-keep:], err
}
