package tool

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
)

// Whole runs a call of read_file by its rules and gives the file as it is: a
// text as text, anything else as a Blob.
func (s *Set) Whole(ctx context.Context, c utp.Call) (r utp.Result) {
	defer func() {
		if p := recover(); p != nil {
			r = failed(c, fmt.Errorf("tool '%s' panicked: %v", c.Name, p))
		}
	}()
	a, err := arguments[readArgs](c.Args)
	if err == nil && a.Path == "" {
		err = missing("path")
	}
	if err != nil {
		return failed(c, err)
	}
	at, err := s.toRead(ctx, a.Path)
	if err != nil {
		return failed(c, err)
	}
	file, err := s.originalBytes(ctx, at)
	if err != nil {
		return failed(c, err)
	}
	if utf8.Valid(file.data) && !bytes.ContainsRune(file.data, 0) {
		return utp.TextResult(c, utp.StatusOK, string(file.data))
	}
	return utp.Result{CallID: c.ID, Name: c.Name, Status: utp.StatusOK,
		Parts: []utp.Part{utp.Blob{MIME: http.DetectContentType(file.data), Name: at.name, Data: file.data}}}
}
