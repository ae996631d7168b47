package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// api is a provider's API in both directions: back is the client of the
// gateway, front the server behind it.
type api struct {
	name    string
	back    wire.Back
	front   wire.Front
	framing wire.Framing
}

var apis = []api{
	{"openai", openai.Back{}, openai.Front{}, wire.SSE},
	{"responses", responses.Back{}, responses.Front{}, wire.SSE},
	{"anthropic", anthropic.Back{}, anthropic.Front{}, wire.SSE},
	{"gemini", gemini.Back{}, gemini.Front{}, wire.SSE},
	{"ollama", ollama.Back{}, ollama.Front{}, wire.NDJSON},
}

func apiNamed(name string) api {
	for _, a := range apis {
		if a.name == name {
			return a
		}
	}
	panic(name)
}

// newModel is a server behind the gateway that says what it is told to.
func newModel(a api, say func(turn int, r *utp.Request) []utp.Event) *fake.API {
	return &fake.API{Front: a.front, Framing: a.framing, Say: say}
}

// says makes events of a text in pieces, and of calls.
func says(text string, calls ...utp.Call) (evs []utp.Event) {
	part := 0
	for len(text) > 0 {
		n := min(5, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		evs = append(evs, utp.Event{Kind: utp.EventText, Text: text[:n]})
		text, part = text[n:], 1
	}
	for i := range calls {
		c := &calls[i]
		evs = append(evs, utp.Event{Kind: utp.EventCallStart, Part: part, Call: &utp.Call{ID: c.ID, Name: c.Name, Source: utp.SourceNative}},
			utp.Event{Kind: utp.EventCallDelta, Part: part, Text: string(c.Args)}, utp.Event{Kind: utp.EventCallEnd, Part: part, Call: c})
		part++
	}
	end := &utp.End{Stop: utp.StopEnd, Usage: utp.Usage{Input: 7, Output: 3}}
	if len(calls) > 0 {
		end.Stop = utp.StopTool
	}
	return append(evs, utp.Event{Kind: utp.EventFinish, Part: part, End: end})
}

// natively offers tools in the provider's own field without asking the server.
var natively = []format.Layer{{Tools: "native"}}

// start puts a gateway in front of a handler.
func start(t testing.TB, up http.Handler, c backend.Config, change ...func(*gateway.Config)) (url string) {
	t.Helper()
	server := httptest.NewServer(up)
	t.Cleanup(server.Close)
	c.URL, c.OnlyOffered, c.Parse.Policy.Unknown = server.URL, true, parse.TextUnknown
	c.HTTP = server.Client()
	client, err := backend.New(c)
	if err != nil {
		t.Fatal(err)
	}
	conf := gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Name: "up", Backend: client, Retries: c.Retries}}}}, NewID: func() string { return "1" }}
	for _, f := range change {
		f(&conf)
	}
	return listen(t, conf)
}

func listen(t testing.TB, c gateway.Config) (url string) {
	t.Helper()
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if c.Ledger != nil {
		if err := g.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		go g.Tend(t.Context())
	}
	down := httptest.NewServer(g)
	t.Cleanup(down.Close)
	return down.URL
}

// ask asks the gateway as a client of the API does.
func (a api) ask(t testing.TB, url string, q *utp.Request) (utp.Reply, error) {
	t.Helper()
	resp, body := a.post(t, url, q)
	return a.read(t, q, resp, body)
}

// post sends a request and gives what came back.
func (a api) post(t testing.TB, url string, q *utp.Request, header ...string) (*http.Response, string) {
	t.Helper()
	x, err := a.back.Open(q)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+x.Path, bytes.NewReader(x.Body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range x.Header {
		req.Header.Set(k, v)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		body = append(body, dropped...)
	case err != nil:
		t.Fatalf("%s: %v", a.name, err)
	}
	return resp, string(body)
}

// dropped stands behind a body whose connection broke off.
const dropped = "<the connection broke off>"

// read makes a reply of what came back.
func (a api) read(t testing.TB, q *utp.Request, resp *http.Response, body string) (utp.Reply, error) {
	t.Helper()
	x, err := a.back.Open(q)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		return utp.Reply{}, fmt.Errorf("%s: %s", resp.Status, body)
	case q.Stream:
		return a.streamed(t, x, []byte(body))
	}
	return x.Read([]byte(body), nil)
}

func (a api) streamed(t testing.TB, x *wire.Exchange, body []byte) (utp.Reply, error) {
	t.Helper()
	decoder := x.Framing.Decoder()
	frames, err := decoder.Feed(bytes.TrimSuffix(body, []byte(dropped)))
	if err != nil {
		t.Fatal(err)
	}
	rest, err := decoder.Close()
	if err != nil {
		t.Fatal(err)
	}
	reader := x.Reader(nil)
	var evs []utp.Event
	for _, f := range append(frames, rest...) {
		evs = append(evs, reader.Feed(f)...)
	}
	evs = append(evs, reader.Close()...)
	return utp.Collect(evs), reader.Err()
}

// textOf is all that a request says, tools aside.
func textOf(q *utp.Request) string {
	var b strings.Builder
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case utp.Text:
				b.WriteString(p.Text + "\n")
			case utp.Result:
				b.WriteString(p.Text() + "\n")
			}
		}
	}
	return b.String()
}
