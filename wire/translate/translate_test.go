package translate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/translate"
)

const conversations = "../testdata/"

// texts are the files of the conversations that a name of an API and an ending
// say. Servers have those of their API.
func texts(t *testing.T, api translate.API, ending string) []string {
	t.Helper()
	kind := string(api)
	if strings.HasPrefix(kind, "api.") {
		kind = "openai"
	}
	paths, err := filepath.Glob(conversations + "*/" + kind + ending)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func text(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every text of every conversation is translated for every API.
func TestEveryTextForEveryAPI(t *testing.T) {
	n := 0
	for _, from := range translate.APIs() {
		for _, to := range translate.APIs() {
			p := translate.Pair{From: from, To: to, Model: "m"}
			for _, path := range texts(t, from, ".request.json") {
				x, err := p.Request(text(t, path))
				if err != nil || !json.Valid(x.Body) || x.Path == "" {
					t.Errorf("%s to %s: %v", path, to, err)
				}
				n++
			}
			a, err := p.Answer()
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range texts(t, from, ".reply.json") {
				if out, _, err := a.Reply(text(t, path)); err != nil || !json.Valid(out) {
					t.Errorf("%s to %s: %v: %.200s", path, to, err, out)
				}
				n++
			}
			for _, path := range append(texts(t, from, ".sse"), texts(t, from, ".ndjson")...) {
				if out, err := streamed(a.Stream(), text(t, path), 1<<20); err != nil || len(out) == 0 {
					t.Errorf("%s to %s: %v: %.200s", path, to, err, out)
				}
				n++
			}
		}
	}
	if n < 3000 {
		t.Errorf("%d texts", n)
	}
}

// streamed feeds a stream in pieces of so many bytes.
func streamed(s *translate.Stream, text []byte, size int) ([]byte, error) {
	var out []byte
	for i := 0; i < len(text); i += size {
		out = append(out, s.Feed(text[i:min(i+size, len(text))])...)
	}
	end, err := s.Close()
	return append(out, end...), err
}

// said is a stream as its own API's reader understands it.
func said(t *testing.T, b wire.Back, stream []byte) utp.Reply {
	t.Helper()
	x, err := b.Open(&utp.Request{Model: "m", Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	var evs []utp.Event
	for e, err := range wire.Events(x, bytes.NewReader(stream)) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	return utp.Collect(evs)
}

// However a stream is cut into pieces, what the client reads is the same, and it
// names the model that the server named.
func TestStreamCutAnywhere(t *testing.T) {
	for _, from := range translate.APIs()[:5] {
		for _, to := range translate.APIs()[:5] {
			a, err := translate.Pair{From: from, To: to}.Answer()
			if err != nil {
				t.Fatal(err)
			}
			back := backs[to]
			for _, dir := range []string{"interleaved_calls", "thinking", "unicode"} {
				for _, path := range append(texts(t, from, ".sse"), texts(t, from, ".ndjson")...) {
					if filepath.Base(filepath.Dir(path)) != dir {
						continue
					}
					in := text(t, path)
					whole, err := streamed(a.Stream(), in, len(in))
					if err != nil {
						t.Fatal(err)
					}
					want := said(t, back, whole)
					for _, size := range []int{1, 7, 100} {
						pieces, err := streamed(a.Stream(), in, size)
						if got := said(t, back, pieces); err != nil || !equal(t, got, want) {
							t.Errorf("%s to %s in %ds: %v\n%s\n%s", path, to, size, err, pieces, whole)
						}
					}
					if want.Model == "" || want.Model == "m" {
						t.Errorf("%s to %s: the model is %q", path, to, want.Model)
					}
				}
			}
		}
	}
}

func equal(t *testing.T, a, b utp.Reply) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// An exchange knows what was asked: a tool whose name the server does not take
// has its own name again in the answer.
func TestTheAnswerHasTheClientsNames(t *testing.T) {
	x, err := translate.Pair{From: translate.OpenAI, To: translate.Gemini}.Request([]byte(
		`{"model":"gemini-3","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"1.look up","parameters":{"type":"object"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var asked struct {
		Tools []struct{ FunctionDeclarations []struct{ Name string } }
	}
	if err := json.Unmarshal(x.Body, &asked); err != nil || len(asked.Tools) != 1 {
		t.Fatalf("%v: %s", err, x.Body)
	}
	sent := asked.Tools[0].FunctionDeclarations[0].Name
	if sent == "1.look up" {
		t.Fatalf("sent as it is: %s", x.Body)
	}
	out, _, err := x.Reply([]byte(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"` + sent + `","args":{}}}]},"finishReason":"STOP"}]}`))
	if err != nil || !strings.Contains(string(out), `"name":"1.look up"`) {
		t.Errorf("%v: %s", err, out)
	}
}

// An answer of another API than the one that is named is an error, and never an empty
// reply. A whole one of Ollama's reads like a message of OpenAI's that stands alone.
func TestAnswersOfAnotherAPI(t *testing.T) {
	for _, named := range translate.APIs()[:5] {
		for _, is := range translate.APIs()[:5] {
			if named == is {
				continue
			}
			a, err := translate.Pair{From: named, To: translate.OpenAI}.Answer()
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range texts(t, is, ".reply.json") {
				if out, _, err := a.Reply(text(t, path)); err == nil && !(is == translate.Ollama && named == translate.OpenAI) {
					t.Errorf("%s as %s: %.300s", path, named, out)
				}
			}
			for _, path := range append(texts(t, is, ".sse"), texts(t, is, ".ndjson")...) {
				if out, err := streamed(a.Stream(), text(t, path), 1<<20); err == nil {
					t.Errorf("%s as %s: %.300s", path, named, out)
				}
			}
		}
	}
}

// What a server sends in place of a stream is read too, and what it says of an error
// is what the client reads.
func TestStreamOfWhatIsNone(t *testing.T) {
	for _, c := range []struct {
		from           translate.API
		text           string
		client, broken string // what the client and the caller read
	}{
		{translate.OpenAI, `{"id":"c","model":"m","choices":[{"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}`, `"text":"Hello."`, ""},
		{translate.OpenAI, `{"error":{"message":"no such model","type":"invalid_request_error"}}`, "no such model", "no such model"},
		{translate.OpenAI, "<html><h1>502 Bad Gateway</h1></html>", "502 Bad Gateway", "502 Bad Gateway"},
		{translate.Ollama, `{"error":"no such model"}`, "no such model", "no such model"},
		{translate.Gemini, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"MALFORMED_FUNCTION_CALL\"}]}\n\n", "event: error", "could not read"},
	} {
		a, err := translate.Pair{From: c.from, To: translate.Anthropic}.Answer()
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 1 << 20} {
			out, err := streamed(a.Stream(), []byte(c.text), size)
			if !strings.Contains(string(out), c.client) || (err == nil) != (c.broken == "") || err != nil && !strings.Contains(err.Error(), c.broken) {
				t.Errorf("%s: %v\n%s", c.text, err, out)
			}
		}
	}
}

func TestBrokenTexts(t *testing.T) {
	p := translate.Pair{From: translate.OpenAI, To: translate.Anthropic}
	if _, err := (translate.Pair{From: translate.Ollama, To: translate.OpenAI}).Request([]byte(`{"model":"m","input":"Hi","stream":false}`)); err == nil || !strings.Contains(err.Error(), "no messages") {
		t.Errorf("a request of another API: %v", err)
	}
	for _, body := range []string{`{"messages":5}`, `{"messages":[],"tools":[{"function":{"name":"f"}},{"function":{"name":"f"}}]}`} {
		if x, err := p.Request([]byte(body)); err == nil || x != nil {
			t.Errorf("%s: %v", body, x)
		}
	}
	a, err := p.Answer()
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"error":{"message":"no"}}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]},"finish_reason":"tool_calls"}]}`} {
		out, _, err := a.Reply([]byte(body))
		if err == nil || len(out) > 0 {
			t.Errorf("%s: %s", body, out)
		}
		if status, words := a.Error(err); status < 400 || !strings.Contains(string(words), `"type":"error"`) {
			t.Errorf("%s: %d %s", body, status, words)
		}
	}
	for _, stream := range []string{"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", ""} {
		s := a.Stream()
		out, err := streamed(s, []byte(stream), 10)
		if err == nil || !strings.Contains(string(out), "event: error") {
			t.Errorf("%q: %v: %s", stream, err, out)
		}
		if more := s.Feed([]byte("data: {}\n\n")); more != nil {
			t.Errorf("%q goes on behind its end: %s", stream, more)
		}
	}
	if _, err := (translate.Pair{From: "nowhere", To: translate.OpenAI}).Request(nil); err == nil || !strings.Contains(err.Error(), "anthropic, gemini") {
		t.Error(err)
	}
	if _, err := (translate.Pair{From: translate.OpenAI, To: "nowhere"}).Answer(); err == nil {
		t.Error("an answer for nobody")
	}
}
