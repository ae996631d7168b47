package gateway

import (
	"encoding/json"
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

// The APIs, as backends name theirs.
const (
	openaiAPI    = "openai"
	responsesAPI = "responses"
	anthropicAPI = "anthropic"
	geminiAPI    = "gemini"
	ollamaAPI    = "ollama"
)

// door is an API at which clients knock.
type door struct {
	api    string
	front  wire.Front
	prefix string // of the ids of replies
	// framing is how a stream goes out; nil is server-sent events.
	framing func(*utp.Request) (f wire.Framing, contentType string)
	count   func(tokens int) []byte
	// ping is a frame that says nothing, for the time in which there is nothing
	// to say; nil is a comment.
	ping    []byte
	pinging func(*exchange) []byte // in place of ping, where it depends on the request
	// forgets says that the API has no place for what other providers want to see
	// again of a call.
	forgets bool
	flat    bool // a reply of the API has one text
}

var (
	chatDoor      = &door{api: openaiAPI, front: openai.Front{}, prefix: "chatcmpl-", forgets: true, flat: true}
	responsesDoor = &door{api: responsesAPI, front: responses.Front{Stored: true}, prefix: "resp_", count: responses.CountReply, forgets: true}
	messagesDoor  = &door{api: anthropicAPI, front: anthropic.Front{}, prefix: "msg_", count: anthropic.CountReply, forgets: true,
		ping: []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n")}
	// Google's Go SDK takes a comment for an error; two empty lines are nothing to anyone.
	geminiDoor = &door{api: geminiAPI, front: gemini.Front{}, count: gemini.CountReply, framing: geminiFraming, ping: []byte("\n\n")}
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
	g.handle("GET /v1/models", g.list)
	g.handle("GET /v1/models/{model...}", g.list)
	g.handle("GET /v1beta/models", g.list)
	g.handle("GET /v1beta/models/{model...}", g.list)
	g.ollamaPaths()
	g.handle("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("bx serve is running\n")) })
	g.handle("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, []byte(`{"status":"ok"}`)) })
	g.handle("GET /readyz", g.ready)
	g.handle("GET /metrics", g.scraped)
	g.handle("/", g.pass)
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
		g.pass(w, r)
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// doorOf tells from a request which API its client speaks.
func doorOf(r *http.Request) *door {
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/v1beta/"), strings.HasPrefix(path, "/v1/models/") && r.Method == http.MethodPost:
		return geminiDoor
	case strings.HasPrefix(path, "/v1/messages"), r.Header.Get("anthropic-version") != "":
		return messagesDoor
	case path == "/v1/models" && r.Header.Get("x-goog-api-key") != "": // Google's npm SDK says /v1
		return geminiDoor
	case strings.HasPrefix(path, "/v1/responses"):
		return responsesDoor
	case strings.HasPrefix(path, "/api/"):
		return ollamaDoor
	}
	return chatDoor
}

// list answers with the models in the client's form, or with one of them.
func (g *Gateway) list(w http.ResponseWriter, r *http.Request) {
	d := doorOf(r)
	models, err := visitOf(r).models(r.Context())
	if err != nil {
		d.refuse(w, err)
		return
	}
	want := r.PathValue("model")
	if want == "" {
		reply(w, http.StatusOK, d.front.Models(models))
		return
	}
	for _, m := range models {
		if m.ID == want {
			reply(w, http.StatusOK, only(d.front.Models([]wire.Model{m})))
			return
		}
	}
	d.refuse(w, &wire.Error{Status: http.StatusNotFound, Code: "model_not_found", Message: fmt.Sprintf("there is no model %q", want)})
}

// only is the one model of a list.
func only(list []byte) []byte {
	var j struct{ Data, Models []json.RawMessage }
	if json.Unmarshal(list, &j) == nil {
		for _, m := range append(j.Data, j.Models...) {
			return m
		}
	}
	return list
}

// ready tells whether any backend answers.
func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) {
	if !visitOf(r).answers(r.Context()) {
		reply(w, http.StatusServiceUnavailable, []byte(`{"status":"no backend answers"}`))
		return
	}
	reply(w, http.StatusOK, []byte(`{"status":"ready"}`))
}

func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}
