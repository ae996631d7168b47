package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/wire"
)

type api int

const (
	ollamaAPI api = iota
	openaiAPI
)

func apiOf(path string) api {
	if strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/api/v0/") {
		return ollamaAPI
	}
	return openaiAPI
}

// player answers one request with one turn.
type player struct {
	script *Script
	turn   *turn
	api    api
	in     *chatRequest
	w      http.ResponseWriter
	number int // of the request, from 1
	calls  int // so far in the reply
}

// errCut breaks the connection.
var errCut = errors.New("cut")

func (p *player) play() {
	t := p.turn
	if t.status != 0 {
		p.refuse()
		return
	}
	var err error
	switch {
	case t.raw:
		p.head(true)
		err = p.write([]byte(t.steps[0].text))
	case p.in.streams(p.api):
		p.head(true)
		err = p.stream()
	default:
		err = p.whole()
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (p *player) refuse() {
	t := p.turn
	if t.retryAfter != "" {
		p.w.Header().Set("Retry-After", t.retryAfter)
	}
	text := t.steps[len(t.steps)-1].text
	if json.Valid([]byte(text)) && strings.HasPrefix(text, "{") {
		p.w.Header().Set("Content-Type", "application/json")
		p.w.WriteHeader(t.status)
		_, _ = p.w.Write([]byte(text))
		return
	}
	writeError(p.w, p.api, t.status, "", text)
}

func (p *player) head(stream bool) {
	media := "application/json"
	switch {
	case stream && p.api == ollamaAPI:
		media = "application/x-ndjson"
	case stream:
		media = "text/event-stream"
	}
	p.w.Header().Set("Content-Type", media)
}

// write sends bytes in the script's pieces and sees to it that they leave.
func (p *player) write(b []byte) error {
	size := p.script.Write
	if size == 0 {
		size = len(b)
	}
	for len(b) > 0 {
		n := min(size, len(b))
		if _, err := p.w.Write(b[:n]); err != nil {
			return err
		}
		if err := http.NewResponseController(p.w).Flush(); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// frame sends v as one frame of the stream.
func (p *player) frame(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.write(p.framing().Append(nil, wire.Frame{Data: data}))
}

func (p *player) framing() wire.Framing {
	if p.api == ollamaAPI {
		return wire.NDJSON
	}
	return wire.SSE
}

// cut breaks the connection, or ends it politely if name is "clean".
func cut(st step) error {
	if st.name == "clean" {
		return nil
	}
	return errCut
}

// pieces cuts text into runs of about size bytes, never inside a character.
func pieces(text string, size int) (out []string) {
	if text == "" {
		return nil
	}
	if size == 0 {
		return []string{text}
	}
	for len(text) > 0 {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// id is the id of the call that comes next.
func (p *player) id(st step) string {
	p.calls++
	switch st.id {
	case "none":
		return ""
	case "":
		return fmt.Sprintf("call_%d_%d", p.number, p.calls)
	}
	return st.id
}

// joined is the reply's text or thinking in one piece.
func (p *player) joined(kind string) string {
	var b strings.Builder
	for _, st := range p.turn.steps {
		if st.kind == kind {
			b.WriteString(st.text)
		}
	}
	return b.String()
}

// ends is the step that ends the reply before its time, if there is one.
func (p *player) ends() (step, bool) {
	for _, st := range p.turn.steps {
		if st.kind == "cut" || st.kind == "stream-error" {
			return st, true
		}
	}
	return step{}, false
}

func (p *player) stream() error {
	if p.api == ollamaAPI {
		return p.ollamaStream()
	}
	return p.openaiStream()
}

// whole sends the reply in one piece. One that is cut is half of it.
func (p *player) whole() error {
	body, err := p.wholeBody()
	if err != nil {
		return err
	}
	st, ends := p.ends()
	if ends && st.kind == "stream-error" {
		writeError(p.w, p.api, http.StatusInternalServerError, "", st.text)
		return nil
	}
	p.head(false)
	if ends {
		if err := p.write(body[:len(body)/2]); err != nil {
			return err
		}
		return cut(st)
	}
	return p.write(body)
}

func (p *player) wholeBody() ([]byte, error) {
	if p.api == ollamaAPI {
		return json.Marshal(p.ollamaWhole())
	}
	return json.Marshal(p.openaiWhole())
}

type errorText struct {
	Error string `json:"error"`
}

type errorObject struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// errorBody is an error in the API's shape.
func errorBody(a api, status int, code, message string) any {
	if a == ollamaAPI {
		return errorText{message}
	}
	e := errorDetail{Message: message, Type: "invalid_request_error"}
	if status >= 500 || status == 0 {
		e.Type = "server_error"
	}
	if code != "" {
		e.Code = &code
	}
	return errorObject{e}
}

func writeError(w http.ResponseWriter, a api, status int, code, message string) {
	writeJSON(w, status, errorBody(a, status, code, message))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
