package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// door is an API at which clients knock.
type door struct {
	name  string
	front wire.Front
	// framing is how a stream goes out; nil is server-sent events.
	framing func(*utp.Request) (f wire.Framing, contentType string)
	count   func(tokens int) []byte
	// ping is a frame that says nothing, for the time in which there is nothing
	// to say; nil is a comment.
	ping []byte
}

var (
	chatDoor      = &door{name: "openai", front: openai.Front{}}
	responsesDoor = &door{name: "responses", front: responses.Front{}, count: responses.CountReply}
	messagesDoor  = &door{name: "anthropic", front: anthropic.Front{}, count: anthropic.CountReply,
		ping: []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n")}
	// Google's Go SDK takes a comment for an error; two empty lines are nothing to anyone.
	geminiDoor = &door{name: "gemini", front: gemini.Front{}, count: gemini.CountReply, framing: geminiFraming, ping: []byte("\n\n")}
)

func geminiFraming(r *utp.Request) (wire.Framing, string) {
	if (gemini.Front{}).Framing(r) == wire.NDJSON {
		return wire.NDJSON, "application/json"
	}
	return wire.SSE, "text/event-stream"
}

// streamed is how the stream for a request goes out.
func (d *door) streamed(r *utp.Request) (wire.Framing, string) {
	if d.framing == nil {
		return wire.SSE, "text/event-stream"
	}
	return d.framing(r)
}

// doors are the paths.
func (g *Gateway) doors() {
	g.handle("POST /v1/chat/completions", g.chat(chatDoor))
	g.handle("POST /v1/responses", g.chat(responsesDoor))
	g.handle("POST /v1/responses/input_tokens", g.tokens(responsesDoor))
	g.handle("POST /v1/messages", g.chat(messagesDoor))
	g.handle("POST /v1/messages/count_tokens", g.tokens(messagesDoor))
	for _, version := range []string{"/v1beta", "/v1"} {
		g.handle("POST "+version+"/models/{model...}", g.generate)
	}
	g.handle("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("anthropic-version") != "":
			g.list(messagesDoor)(w, r)
		case r.Header.Get("x-goog-api-key") != "": // Google's npm SDK says /v1
			g.list(geminiDoor)(w, r)
		default:
			g.list(chatDoor)(w, r)
		}
	})
	g.handle("GET /v1beta/models", g.list(geminiDoor))
	g.handle("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, []byte(`{"status":"ok"}`)) })
	g.handle("GET /readyz", g.ready)
	g.handle("/", g.unknown)
}

func (g *Gateway) handle(pattern string, h http.HandlerFunc) { g.mux.HandleFunc(pattern, h) }

// generate is Gemini's: the method stands behind the model's name, which may
// hold slashes.
func (g *Gateway) generate(w http.ResponseWriter, r *http.Request) {
	_, method, _ := cutLast(r.PathValue("model"), ":")
	switch method {
	case "generateContent", "streamGenerateContent":
		g.chat(geminiDoor)(w, r)
	case "countTokens":
		g.tokens(geminiDoor)(w, r)
	default:
		geminiDoor.refuse(w, &wire.Error{Status: 404, Message: fmt.Sprintf("no method %q: there are generateContent, streamGenerateContent and countTokens", method)})
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// doorOf guesses from a path which API's errors a client will understand.
func doorOf(path string) *door {
	switch {
	case strings.HasPrefix(path, "/v1beta/"):
		return geminiDoor
	case strings.HasPrefix(path, "/v1/messages"):
		return messagesDoor
	}
	return chatDoor
}

func (g *Gateway) unknown(w http.ResponseWriter, r *http.Request) {
	doorOf(r.URL.Path).refuse(w, &wire.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%s %s is nothing that this gateway has", r.Method, r.URL.Path)})
}

// list answers with the models in the door's form.
func (g *Gateway) list(d *door) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		models, err := g.models(r.Context())
		if err != nil {
			d.refuse(w, err)
			return
		}
		reply(w, http.StatusOK, d.front.Models(models))
	}
}

// ready tells whether any backend answers.
func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) {
	if _, err := g.models(r.Context()); err != nil {
		chatDoor.refuse(w, err)
		return
	}
	reply(w, http.StatusOK, []byte(`{"status":"ready"}`))
}

func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}
