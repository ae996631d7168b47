package gateway

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// The names of the APIs, as backends report them.
const (
	openaiAPI    = "openai"
	responsesAPI = "responses"
	anthropicAPI = "anthropic"
	geminiAPI    = "gemini"
	ollamaAPI    = "ollama"
)

// door is an API that clients speak.
type door struct {
	api    string
	front  wire.Front
	prefix string // of the ids of replies
	id     string // the header in which SDKs look for the id of a request; "": none do
	// framing is the framing of streams; nil is server-sent events.
	framing func(*utp.Request) (f wire.Framing, contentType string)
	count   func(tokens int) []byte
	// ping is a frame without content that keeps a quiet stream alive; nil is a comment.
	ping    []byte
	pinging func(*exchange) []byte // in place of ping, where it depends on the request
	// forgets says that the API has no field for what other providers expect back with
	// a call.
	forgets bool
	drops   bool   // its clients retry when a stream breaks off, and give up when it ends in an error
	talk    string // the field of the conversation, which must not be empty; "": it may be
}

var (
	chatDoor      = &door{api: openaiAPI, front: openai.Front{}, id: "X-Request-Id", prefix: "chatcmpl-", forgets: true, drops: true, talk: "messages"}
	responsesDoor = &door{api: responsesAPI, front: responses.Front{Stored: true}, id: "X-Request-Id", prefix: "resp_", count: responses.CountReply, forgets: true, talk: "input"}
	messagesDoor  = &door{api: anthropicAPI, front: anthropic.Front{}, id: "Request-Id", prefix: "msg_", count: anthropic.CountReply, forgets: true, drops: true, talk: "messages",
		ping: []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n")}
	// Google's Go SDK takes a comment for an error; every client ignores empty lines.
	geminiDoor = &door{api: geminiAPI, front: gemini.Front{}, count: gemini.CountReply, framing: geminiFraming, ping: []byte("\n\n"), talk: "contents"}
)

func geminiFraming(r *utp.Request) (wire.Framing, string) {
	if (gemini.Front{}).Framing(r) == wire.NDJSON {
		return wire.NDJSON, "application/json"
	}
	return wire.SSE, "text/event-stream"
}

// streamed returns the framing and the content type of the stream for a request.
func (d *door) streamed(r *utp.Request) (wire.Framing, string) {
	if d.framing == nil {
		return wire.SSE, "text/event-stream"
	}
	return d.framing(r)
}

// What a request is for.
const (
	opChat   = "chat"
	opTokens = "count_tokens"
	opEmbed  = "embed"
	opList   = "list"    // models, and what is known of one
	opPass   = "pass"    // what a backend of the client's API does
	opProbe  = "probe"   // whether it lives, and what it has counted
	opNone   = "nothing" // no path of the gateway
)

// doors registers the paths. An unknown path goes to a backend of the API with its
// prefix. Where two APIs share a path, the headers decide.
func (g *Gateway) doors() {
	g.handle("POST /v1/chat/completions", chatDoor, opChat, (*exchange).chat)
	g.handle("POST /v1/responses", responsesDoor, opChat, (*exchange).chat)
	g.handle("POST /v1/responses/input_tokens", responsesDoor, opTokens, (*exchange).tokens)
	g.handle("POST /v1/messages", messagesDoor, opChat, (*exchange).chat)
	g.handle("POST /v1/messages/count_tokens", messagesDoor, opTokens, (*exchange).tokens)
	g.handle("POST /v1/embeddings", nil, opEmbed, (*exchange).embed)
	for _, version := range []string{"/v1beta", "/v1"} {
		g.handle("POST "+version+"/models/{model...}", geminiDoor, opPass, (*exchange).generate)
	}
	g.handle("GET /v1/models", nil, opList, (*exchange).list)
	g.handle("GET /v1/models/{model...}", nil, opList, (*exchange).list)
	g.handle("GET /v1beta/models", geminiDoor, opList, (*exchange).list)
	g.handle("GET /v1beta/models/{model...}", geminiDoor, opList, (*exchange).list)
	g.ollamaPaths()
	g.handle("/v1/", nil, opPass, (*exchange).pass)
	g.handle("/v1/messages/", messagesDoor, opPass, (*exchange).pass)
	g.handle("/v1/responses/", responsesDoor, opPass, (*exchange).kept)
	g.handle("/v1beta/", geminiDoor, opPass, (*exchange).pass)
	g.handle("/api/", ollamaDoor, opPass, (*exchange).pass)
	g.probes()
	g.handle("/", nil, opNone, (*exchange).nowhere)
}

// versioned returns a path of OpenAI's or Anthropic's API with its version, which
// clients leave out if their base address lacks it.
func versioned(path string) string {
	for _, own := range []string{"/chat/completions", "/completions", "/responses", "/messages", "/models", "/embeddings"} {
		if rest, ok := strings.CutPrefix(path, own); ok && (rest == "" || rest[0] == '/') {
			return "/v1" + path
		}
	}
	return path
}

// handle registers serve for a pattern, with answers in the form of a door; nil is the
// one that the headers name. Other methods are refused.
func (g *Gateway) handle(pattern string, d *door, op string, serve func(*exchange) error) {
	g.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		own := d
		if own == nil {
			own = spoken(r)
		}
		g.exchange(own, op, w, r).run(serve)
	})
	if method, path, found := strings.Cut(pattern, " "); found && !strings.Contains(pattern, "{") && !strings.HasSuffix(pattern, "/models") {
		g.handle(path, d, op, func(x *exchange) error {
			x.w.Header().Set("Allow", method)
			return denied(http.StatusMethodNotAllowed, "method", "%s is for %s, not for %s", path, method, x.r.Method)
		})
	}
}

// spoken tells from the headers which API a client speaks.
func spoken(r *http.Request) *door {
	switch {
	case r.Header.Get("Anthropic-Version") != "":
		return messagesDoor
	case strings.HasPrefix(r.URL.Path, "/v1/models") && r.Header.Get("X-Goog-Api-Key") != "": // Google's SDKs for npm and Python say /v1
		return geminiDoor
	}
	return chatDoor
}

// generate serves Gemini's API, where the method follows the model's name, which may
// contain slashes.
func (x *exchange) generate() error {
	_, method, _ := cutLast(x.r.PathValue("model"), ":")
	switch method {
	case "generateContent", "streamGenerateContent":
		x.report.Operation = opChat
		return x.chat()
	case "countTokens":
		x.report.Operation = opTokens
		return x.tokens()
	case "embedContent", "batchEmbedContents":
		x.report.Operation = opEmbed
		return x.embed()
	}
	return x.pass()
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// list answers with the models in the client's form, or with one of them.
func (x *exchange) list() error {
	models, err := x.models(x.r.Context())
	if err != nil {
		return err
	}
	models = x.allowed(models)
	want := x.r.PathValue("model")
	if want == "" {
		x.answer(x.door.front.Models(models))
		return nil
	}
	if m := named(models, want); m != nil {
		x.answer(only(x.door.front.Models([]wire.Model{*m})))
		return nil
	}
	return x.unknown(want)
}

// kept refuses requests for a reply by its id: the ids are the gateway's own, so no
// backend knows them.
func (x *exchange) kept() error {
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodDelete {
		return x.pass()
	}
	x.w.Header().Set("Allow", http.MethodPost)
	return denied(http.StatusMethodNotAllowed, "method", "the gateway keeps replies for previous_response_id alone: %s %s is not there", x.r.Method, x.r.URL.Path)
}

// nowhere is for paths of no API.
func (x *exchange) nowhere() error {
	return denied(http.StatusNotFound, "no_path", "this gateway has no %s %s", x.r.Method, x.r.URL.Path)
}

// only returns the one model of a list.
func only(list []byte) []byte {
	var j struct{ Data, Models []json.RawMessage }
	if json.Unmarshal(list, &j) == nil {
		for _, m := range append(j.Data, j.Models...) {
			return m
		}
	}
	return list
}
