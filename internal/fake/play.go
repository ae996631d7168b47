package fake

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// player answers one request with one turn.
type player struct {
	script *Script
	turn   *turn
	voice  voice
	path   string
	in     *chatRequest
	w      http.ResponseWriter
	number int // of the request, from 1
	calls  int // so far in the reply
	sent   int // bytes of the body
}

// drawn is the turn as it is played for the request of a number: broken, where
// its seed draws it. A broken text ends in its middle, a broken call has a name
// that no tool has.
func (t *turn) drawn(number int) *turn {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", t.seed, number))
	if float64(binary.BigEndian.Uint32(sum[:])) >= t.breaks*(1<<32) {
		return t
	}
	broken := *t
	broken.steps = slices.Clone(t.steps)
	for i := range broken.steps {
		switch st := &broken.steps[i]; st.kind {
		case "text":
			for _, half := range pieces(st.text, max(1, len(st.text)/2)) {
				st.text = half
				break
			}
		case "call":
			st.name = "no_such_tool"
		}
	}
	return &broken
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
		err = p.raw(t.steps[0])
	case p.in.streams(p.voice):
		p.head(true)
		if err = p.stream(); err == nil && p.voice == llamacppVoice {
			hangUp(p.w)
		}
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
	(&refusal{status: t.status, message: text}).write(p.w, p.voice)
}

// raw sends a body word for word, as a stream unless the section says as what.
func (p *player) raw(st step) error {
	p.head(p.in.streams(p.voice) || st.name == "")
	status, media, _ := strings.Cut(st.name, " ")
	if media != "" {
		p.w.Header().Set("Content-Type", media)
	}
	if code, err := strconv.Atoi(status); err == nil {
		p.w.WriteHeader(code)
	}
	if st.text == "" {
		return http.NewResponseController(p.w).Flush()
	}
	return p.write([]byte(st.text))
}

func (p *player) head(stream bool) {
	media := "application/json"
	switch {
	case stream && p.voice == ollamaVoice:
		media = "application/x-ndjson"
	case stream:
		media = "text/event-stream"
	}
	p.w.Header().Set("Content-Type", media)
}

// write sends bytes in the script's pieces and sees to it that they leave. A
// turn that is cut after so many bytes sends no more.
func (p *player) write(b []byte) error {
	if end := p.turn.cutAfter; end != nil && p.sent+len(b) > *end {
		b = b[:*end-p.sent]
		if err := p.send(b); err != nil {
			return err
		}
		return errCut
	}
	return p.send(b)
}

func (p *player) send(b []byte) error {
	p.sent += len(b)
	if len(b) == 0 {
		return http.NewResponseController(p.w).Flush()
	}
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
	if p.voice == ollamaVoice {
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
	if p.voice == ollamaVoice {
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
		(&refusal{status: http.StatusInternalServerError, message: st.text}).write(p.w, p.voice)
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
	if p.voice == ollamaVoice {
		return json.Marshal(p.ollamaWhole())
	}
	return json.Marshal(p.openaiWhole())
}
