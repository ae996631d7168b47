package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// api is a provider's API in both directions.
type api struct {
	name    string
	back    wire.Back
	front   wire.Front
	framing wire.Framing
	legal   func(frames []wire.Frame) string // what is wrong with a stream, or ""
	failure string                           // what the last frame begins with, or its event, if the reply broke
}

var apis = []api{
	{"anthropic", anthropic.Back{}, anthropic.Front{}, wire.SSE, legalAnthropic, "error"},
	{"gemini", gemini.Back{}, gemini.Front{}, wire.SSE, legalGemini, `{"error":{`},
	{"responses", responses.Back{}, responses.Front{}, wire.SSE, legalResponses, "response.failed"},
	{"openai", openai.Back{}, openai.Front{}, wire.SSE, legalOpenAI, `{"error":{`},
	{"ollama", ollama.Back{}, ollama.Front{}, wire.NDJSON, legalOllama, `{"error":"`},
}

// servers are the APIs with servers that take more or less than others.
var servers = append([]api{
	{"api.openai.com", openai.Back{Server: openai.OpenAI}, openai.Front{}, wire.SSE, legalOpenAI, `{"error":{`},
	{"api.mistral.ai", openai.Back{Server: openai.Mistral}, openai.Front{}, wire.SSE, legalOpenAI, `{"error":{`},
}, apis...)

// ext is what the names of files with streams of the API end in.
func (p api) ext() string {
	if p.framing == wire.NDJSON {
		return ".ndjson"
	}
	return ".sse"
}

// fails reports whether a stream's last frame says that the reply broke.
func (p api) fails(last wire.Frame) bool {
	return last.Event == p.failure || last.Event == "" && strings.HasPrefix(string(last.Data), p.failure)
}

// conversation is utp.json: what is asked and what every provider's reply says.
type conversation struct {
	Request utp.Request `json:"request"`
	Reply   utp.Reply   `json:"reply"`
}

// A folder of testdata is one conversation: utp.json, and of each provider X
// what Open writes (X.request.json and, with losses, X.loss.json) and what it
// answers, whole (X.reply.json) and streamed (X.sse, X.ndjson). eachAPI runs f
// for each of them and each codec.
func eachAPI(t *testing.T, f func(t *testing.T, dir string, c conversation, p api)) {
	files, err := filepath.Glob("testdata/*/utp.json")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d conversations, want at least 40 (%v)", len(files), err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		for _, p := range apis {
			t.Run(filepath.Base(dir)+"/"+p.name, func(t *testing.T) {
				f(t, dir, load(t, dir), p)
			})
		}
	}
}

func load(t *testing.T, dir string) (c conversation) {
	t.Helper()
	if err := json.Unmarshal(compact(t, read(t, filepath.Join(dir, "utp.json"))), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// compact takes the white space out, which would count inside arguments.
func compact(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// contract: F-01 F-03 F-04 F-07 F-08 F-09 F-10 F-11 F-13 N-08 N-10
func TestOpenWritesTheRequest(t *testing.T) {
	eachAPI(t, func(t *testing.T, dir string, c conversation, p api) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		want(t, filepath.Join(dir, p.name+".request.json"), indent(t, x.Body))
		var losses []byte
		if len(x.Losses) > 0 {
			losses, err = shape.Marshal(x.Losses)
		}
		if err != nil {
			t.Fatal(err)
		}
		want(t, filepath.Join(dir, p.name+".loss.json"), indent(t, losses))
	})
}

func indent(t *testing.T, b []byte) []byte {
	t.Helper()
	if len(b) == 0 {
		return nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return append(out.Bytes(), '\n')
}

// want compares got with a file; with -update it writes the file. Nothing and
// no file are the same.
func want(t *testing.T, file string, got []byte) {
	t.Helper()
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	switch {
	case bytes.Equal(have, got):
	case golden.Update() && len(got) == 0:
		_ = os.Remove(file)
	case golden.Update():
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s (-want +got, go test -update writes it):\n%s", file, cmp.Diff(string(have), string(got)))
	}
}

func counter() func() string {
	n := 0
	return func() string { n++; return "new_" + strconv.Itoa(n) }
}

// contract: P-01 P-02 P-04 P-06 P-07 T-03 CON-08 CON-39 Z-02 Z-07 Z-13 Z-14
func TestReadsTheReplyHoweverItIsCut(t *testing.T) {
	eachAPI(t, func(t *testing.T, dir string, c conversation, p api) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Read(read(t, filepath.Join(dir, p.name+".reply.json")), counter())
		if err != nil {
			t.Fatal(err)
		}
		c.Reply = p.saying(c.Reply)
		sameReply(t, c.Reply, got)
		stream := read(t, filepath.Join(dir, p.name+p.ext()))
		frames := decode(t, x.Framing, stream)
		sameReply(t, c.Reply, replyOf(t, x, frames))
		for n := range stream {
			sameFrames(t, frames, decode(t, x.Framing, stream[:n], stream[n:]))
		}
		var bytewise [][]byte
		for i := range stream {
			bytewise = append(bytewise, stream[i:i+1])
		}
		sameFrames(t, frames, decode(t, x.Framing, bytewise...))
	})
}

func collect(t *testing.T, p api, r *utp.Request, pieces ...[]byte) utp.Reply {
	t.Helper()
	x, err := p.back.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return replyOf(t, x, decode(t, x.Framing, pieces...))
}

func decode(t *testing.T, f wire.Framing, pieces ...[]byte) (frames []wire.Frame) {
	t.Helper()
	decoder := f.Decoder()
	for _, piece := range pieces {
		more, err := decoder.Feed(piece)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, more...)
	}
	last, err := decoder.Close()
	if err != nil {
		t.Fatal(err)
	}
	return append(frames, last...)
}

// sameFrames is enough for the same reply: a Reader is given nothing else.
func sameFrames(t *testing.T, want, got []wire.Frame) {
	t.Helper()
	same := func(a, b wire.Frame) bool { return a.Event == b.Event && a.ID == b.ID && bytes.Equal(a.Data, b.Data) }
	if !slices.EqualFunc(want, got, same) {
		t.Fatalf("cut otherwise, the frames are %q, want %q", got, want)
	}
}

func replyOf(t *testing.T, x *wire.Exchange, frames []wire.Frame) utp.Reply {
	t.Helper()
	reader := x.Reader(counter())
	var evs []utp.Event
	for _, f := range frames {
		evs = append(evs, reader.Feed(f)...)
	}
	evs = append(evs, reader.Close()...)
	if reader.Err() != nil {
		t.Fatal(reader.Err())
	}
	deltasAreArguments(t, evs)
	return utp.Collect(evs)
}

// deltasAreArguments checks the promise of the events: after EventCallStart nothing
// changes but appends.
func deltasAreArguments(t *testing.T, evs []utp.Event) {
	t.Helper()
	deltas := map[int]string{}
	for _, e := range evs {
		switch e.Kind {
		case utp.EventCallDelta:
			deltas[e.Part] += e.Text
		case utp.EventCallEnd:
			if deltas[e.Part] != string(e.Call.Args) {
				t.Fatalf("deltas %q, arguments %q", deltas[e.Part], e.Call.Args)
			}
		}
	}
}

// sameReply compares what every provider can say. Extras, signatures, ids and
// models of replies are a provider's own.
func sameReply(t *testing.T, want, got utp.Reply) {
	t.Helper()
	if diff := cmp.Diff(bare(t, want), bare(t, got)); diff != "" {
		t.Fatalf("reply (-want +got):\n%s", diff)
	}
}

func bare(t *testing.T, r utp.Reply) string {
	t.Helper()
	r.End.Extra, r.Message.Extra = nil, nil
	parts := make([]utp.Part, 0, len(r.Parts))
	for _, p := range r.Parts {
		switch q := p.(type) {
		case utp.Call:
			q.Extra = nil
			q.Args = compact(t, q.Args)
			p = q
		case utp.Text:
			q.Extra = nil
			p = q
		}
		parts = append(parts, p)
	}
	r.Parts = parts
	return plain(t, r)
}

func plain(t *testing.T, r utp.Reply) string {
	t.Helper()
	r.ID, r.Model = "", ""
	parts := make([]utp.Part, len(r.Parts))
	for i, p := range r.Parts {
		switch q := p.(type) {
		case utp.Think:
			p = utp.Think{Text: q.Text}
		case utp.Call:
			q.RawArgs = ""
			p = q
		}
		parts[i] = p
	}
	r.Parts = parts
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
