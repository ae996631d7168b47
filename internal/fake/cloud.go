package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// cloudRoutes are those of Anthropic's, Gemini's and OpenAI's Responses API. What
// they take and send is written by the codecs of package wire, which the vendors'
// own clients check; here it is the conversation that counts.
func (s *Server) cloudRoutes() {
	switch s.script.Kind {
	case "anthropic":
		s.mux.HandleFunc("POST /v1/messages", s.pose(anthropic.Front{}))
		s.get("/v1/models", s.listOf(anthropic.Front{}))
	case "gemini":
		s.mux.HandleFunc("POST /v1beta/models/", s.pose(gemini.Front{}))
		s.get("/v1beta/models", s.listOf(gemini.Front{}))
	case "openai":
		s.mux.HandleFunc("POST /v1/responses", s.pose(responses.Front{}))
	}
}

func (s *Server) listOf(front wire.Front) func() any {
	return func() any {
		var models []wire.Model
		for _, m := range s.list() {
			models = append(models, wire.Model{ID: m.name, Context: m.context, Chat: true, Created: createdUnix})
		}
		return json.RawMessage(front.Models(models))
	}
}

// pose plays the next turn in the API of a front.
func (s *Server) pose(front wire.Front) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		refuse := func(status int, retryAfter, message string) {
			after, _ := strconv.Atoi(retryAfter)
			if after > 0 {
				w.Header().Set("Retry-After", retryAfter)
			}
			status, body := front.Error(&wire.Error{Status: status, Message: message, RetryAfter: time.Duration(after) * time.Second})
			writeJSON(w, status, json.RawMessage(body))
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			refuse(http.StatusBadRequest, "", err.Error())
			return
		}
		asked, _, err := front.Read(wire.HTTPRequest{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header, Body: body})
		if err != nil {
			s.note(r.URL.Path, body, err.Error())
			refuse(http.StatusBadRequest, "", err.Error())
			return
		}
		in := chatOf(asked)
		_ = json.Unmarshal(body, &in.fields)
		if no := s.refusesField(in); no != nil {
			s.note(r.URL.Path, body, no.message)
			refuse(no.status, "", no.message)
			return
		}
		t, number, failed := s.turn(r.URL.Path, openaiVoice, body, in)
		p := &player{script: s.script, turn: t, voice: openaiVoice, path: r.URL.Path, in: in, w: w, number: number}
		switch {
		case failed != "":
			refuse(http.StatusBadRequest, "", "the mock script says: "+failed)
		case t.status != 0:
			refuse(t.status, t.retryAfter, t.steps[len(t.steps)-1].text)
		case t.raw:
			p.must(p.raw(t.steps[0]))
		default:
			p.must(p.posed(front, asked))
		}
	}
}

func (p *player) must(err error) {
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// chatOf is a request as the script's lines ask about it.
func chatOf(r *utp.Request) *chatRequest {
	in := &chatRequest{Model: r.Model, Stream: &r.Stream}
	for _, m := range r.Messages {
		in.Messages = append(in.Messages, message{Role: string(m.Role)})
	}
	for _, t := range r.Tools {
		in.Tools = append(in.Tools, offeredTool{offeredName{t.Name}})
	}
	return in
}

// posed sends the turn's reply, whole or as a stream.
func (p *player) posed(front wire.Front, asked *utp.Request) error {
	stamp := wire.Stamp{ID: fmt.Sprint("reply_", p.number), Model: asked.Model, Unix: createdUnix}
	reply, err := p.reply()
	if err != nil {
		return err
	}
	last, ends := p.ends()
	if !asked.Stream {
		body, _, err := front.Whole(asked, reply, stamp)
		if err != nil {
			return err
		}
		if p.head(false); ends {
			body = body[:len(body)/2]
		}
		if err := p.write(body); err != nil || !ends {
			return err
		}
		return cut(last)
	}
	p.head(true)
	writer := front.Writer(asked, stamp)
	for _, e := range utp.Replay(reply) {
		if ends && e.Kind == utp.EventFinish {
			break
		}
		if err := p.frames(writer.Write(e)); err != nil {
			return err
		}
	}
	switch {
	case ends && last.kind == "stream-error":
		return p.frames(writer.Close(&wire.Error{Message: last.text}))
	case ends:
		return cut(last)
	}
	return p.frames(writer.Close(nil))
}

func (p *player) frames(frames []wire.Frame) error {
	for _, f := range frames {
		if err := p.write(wire.SSE.Append(nil, f)); err != nil {
			return err
		}
	}
	return nil
}

// reply is the turn as one.
func (p *player) reply() (r utp.Reply, err error) {
	r.Role = utp.RoleAssistant
	r.Stop = utp.StopEnd
	for _, st := range p.turn.steps {
		switch st.kind {
		case "text":
			r.Parts = append(r.Parts, utp.Text{Text: st.text})
		case "think":
			r.Parts = append(r.Parts, utp.Think{Text: st.text})
		case "call":
			if !json.Valid([]byte(st.text)) {
				return r, fmt.Errorf("%s: the arguments of %s are no JSON: this API sends none such", p.script.name, st.name)
			}
			r.Parts = append(r.Parts, utp.Call{ID: p.id(st), Name: st.name, Args: json.RawMessage(st.text), Source: "native"})
			r.Stop = utp.StopTool
		}
	}
	if p.turn.stop == "length" {
		r.Stop = utp.StopLength
	}
	u := p.turn.usage
	r.Usage = utp.Usage{Input: u.prompt - u.cached, CacheRead: u.cached, Output: u.completion, Reasoning: u.reasoning}
	return r, nil
}
