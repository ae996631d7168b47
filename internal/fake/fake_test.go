package fake_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

func start(t *testing.T, s *fake.Script) (*fake.Server, string) {
	t.Helper()
	srv := fake.New(s)
	h := httptest.NewServer(srv)
	t.Cleanup(h.Close)
	return srv, h.URL
}

func load(t *testing.T, name string) *fake.Script {
	t.Helper()
	s, err := fake.Load(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// post sends what the codec writes and gives the answer.
func post(t *testing.T, back wire.Back, url string, r *utp.Request) (*wire.Exchange, *http.Response) {
	t.Helper()
	x, err := back.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+x.Path, "application/json", bytes.NewReader(x.Body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return x, resp
}

// read collects a reply, streamed or whole.
func read(t *testing.T, x *wire.Exchange, resp *http.Response, stream bool) (utp.Reply, error) {
	t.Helper()
	body, cut := io.ReadAll(resp.Body)
	if !stream {
		reply, err := x.Read(body, nil)
		return reply, err
	}
	decoder, reader := x.Framing.Decoder(), x.Reader(nil)
	frames, err := decoder.Feed(body)
	if err != nil {
		t.Fatal(err)
	}
	if cut == nil {
		rest, _ := decoder.Close()
		frames = append(frames, rest...)
	}
	var evs []utp.Event
	for _, f := range frames {
		evs = append(evs, reader.Feed(f)...)
	}
	evs = append(evs, reader.Close()...)
	return utp.Collect(evs), reader.Err()
}

var hi = []utp.Message{utp.NewText(utp.RoleUser, "hi")}

var backs = map[string]wire.Back{"ollama": ollama.Back{}, "openai": openai.Back{}}

// speaks lists the codecs that a script's kind of server understands.
func speaks(s *fake.Script) []string {
	switch s.Kind {
	case "ollama":
		return []string{"ollama"}
	case "":
		return []string{"ollama", "openai"}
	}
	return []string{"openai"}
}

// Every script gives the same first reply whole and streamed, in pieces of any size.
//
// contract: Z-07
func TestPiecesDoNotMatter(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("scripts: %d, want at least 10 (%v)", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, api := range speaks(load(t, name)) {
			t.Run(name+"/"+api, func(t *testing.T) {
				want := first(t, name, api, true, 0, 0)
				for _, chunk := range []int{0, 1, 3} {
					for _, write := range []int{0, 1} {
						if got := first(t, name, api, true, chunk, write); got != want {
							t.Fatalf("chunk %d, write %d: got\n%s\nwant\n%s", chunk, write, got, want)
						}
					}
				}
				if strings.Contains(want, "error") || strings.HasPrefix(name, "raw") || strings.HasPrefix(name, "stream") {
					return
				}
				if got := first(t, name, api, false, 0, 1); got != want {
					t.Fatalf("whole: got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// first is the first reply of a script, as JSON.
func first(t *testing.T, name, api string, stream bool, chunk, write int) string {
	t.Helper()
	s := load(t, name)
	s.Chunk, s.Write = chunk, write
	srv, url := start(t, s)
	r := utp.Request{Model: "qwen3:8b", Stream: stream, Messages: hi}
	if len(s.Models) > 0 {
		r.Model = s.Models[0]
	}
	for _, tool := range []string{"search_code", "get_weather"} {
		r.Tools = append(r.Tools, utp.Tool{Name: tool})
	}
	x, resp := post(t, backs[api], url, &r)
	reply, err := read(t, x, resp, stream)
	if n := len(srv.Requests()); n != 1 {
		t.Fatalf("%d requests were recorded", n)
	}
	b, jerr := json.Marshal(reply)
	if jerr != nil {
		t.Fatal(jerr)
	}
	return fmt.Sprintf("%d %s %v", resp.StatusCode, b, err)
}

func TestEveryScriptNamesItsShape(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		s, err := fake.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.Comment, "Shape: ") {
			t.Errorf("%s: the comment does not say from which documented shape it was written", file)
		}
	}
}

func TestBadScripts(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"", `s.txtar: it has no turn`},
		{"-- text --\nhi\n", `s.txtar:1: section "text" stands before the first turn`},
		{"about\n-- turn --\n-- txet --\n", `s.txtar:3: unknown section "txet": want server, turn, text`},
		{"-- turn --\n", "s.txtar:1: the turn has no answer"},
		{"-- turn --\n-- turn --\n-- text --\n", "s.txtar:1: the turn has no answer"},
		{"-- turn --\nwants x\n-- text --\n", `s.txtar:2: "wants x": unknown line: want contains TEXT`},
		{"-- turn --\ncontains\n-- text --\n", `s.txtar:2: "contains": unknown line`},
		{"-- turn --\n-- call --\n{}\n", `s.txtar:2: section "call": the tool's name is missing`},
		{"-- turn --\n-- call a b --\n{}\n", `a second name, "b"`},
		{"-- turn --\n-- error --\n", "want an HTTP status from 400 to 599"},
		{"-- turn --\n-- error 429 after=1 --\n", "want retry-after=N"},
		{"-- turn --\n-- stop --\n", "want a reason"},
		{"-- turn --\n-- cut off --\n", "want cut, cut after=N, or cut clean"},
		{"-- turn --\n-- text --\n-- usage tokens=1 --\n", `s.txtar:3: section "usage tokens=1": "tokens=1": want prompt=N`},
		{"-- turn --\n-- text --\n-- raw --\n", "mixes raw with other sections"},
		{"-- server --\n\n# fine\nkind: gpt\n-- turn --\n-- text --\n", `s.txtar:4: "kind: gpt": unknown kind: want ollama, openai, vllm, llamacpp, lmstudio`},
		{"-- server --\ntoken: 0\n", "want a number, 1 or more"},
		{"-- server --\nmodel: a blue\n", `unknown word "blue" of a model: want tools, no-tools`},
		{"-- server --\nmodel: a, , b\n", "want NAME [WORD …], …"},
		{"-- server --\nmodel: a context=x\n", "want a number, 0 or more"},
		{"-- server --\ndelay: soon\n", "want a duration, such as 300ms, or a path and a duration"},
		{"-- server --\nload: -1s\n", "want a duration, such as 300ms"},
		{"-- server --\nrefuse:\n", "want FIELD, or FIELD TEXT"},
		{"-- server --\nloaded: a b\n", "want a number, 0 or more"},
		{"-- turn --\n-- text --\n-- cut after=x --\n", "want a number, 0 or more"},
		{"-- turn --\n-- raw html --\n", "want raw, raw STATUS, or raw STATUS TYPE"},
		{"-- server --\nchunk: -1\n", "want a number, 0 or more"},
		{"-- server --\ntools: maybe\n", "want yes or no"},
		{"-- server --\nkind ollama\n", "want KEY: VALUE"},
		{"-- server --\ncolour: red\n", "unknown key: want chunk, context, delay"},
	} {
		_, err := fake.Parse("s.txtar", []byte(c.script))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.script, err, c.want)
		}
	}
	if _, err := fake.Load("testdata/none.txtar"); err == nil || !strings.Contains(err.Error(), "none.txtar") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestRequestsAreChecked(t *testing.T) {
	r := &utp.Request{Model: "m", Stream: true, Messages: []utp.Message{utp.NewText(utp.RoleUser, "a <b> question")}}
	for line, want := range map[string]string{
		"contains a <b>": "", "lacks other": "", "no tools": "", "last user": "", "stream": "",
		"contains other": "does not contain it", "lacks question": "contains it", "tools": "offers no tools",
		"last tool": "another role", "no stream": "does not ask for a whole reply",
	} {
		s, err := fake.Parse("s", []byte("-- turn --\n"+line+"\n-- text --\nok\n"))
		if err != nil {
			t.Fatal(err)
		}
		srv, url := start(t, s)
		_, resp := post(t, ollama.Back{}, url, r)
		body, _ := io.ReadAll(resp.Body)
		switch {
		case want == "" && (resp.StatusCode != 200 || srv.Err() != nil):
			t.Errorf("%s: %d %s %v", line, resp.StatusCode, body, srv.Err())
		case want != "" && (resp.StatusCode != 400 || !strings.Contains(string(body), want) || !strings.Contains(fmt.Sprint(srv.Err()), want)):
			t.Errorf("%s: %d %s %v", line, resp.StatusCode, body, srv.Err())
		}
	}
}

// Who leaves stream out gets a stream of Ollama and a whole reply of OpenAI.
func TestAStreamThatIsNotNamed(t *testing.T) {
	for path, want := range map[string]map[string]int{
		"/api/chat":            {"stream": 200, "no stream": 400},
		"/v1/chat/completions": {"stream": 400, "no stream": 200},
	} {
		for line, status := range want {
			s, err := fake.Parse("s", []byte("-- turn --\n"+line+"\n-- text --\nok\n"))
			if err != nil {
				t.Fatal(err)
			}
			_, url := start(t, s)
			resp, err := http.Post(url+path, "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != status {
				t.Errorf("%s, %q: %d, want %d", path, line, resp.StatusCode, status)
			}
		}
	}
}

func TestTheScriptsEnd(t *testing.T) {
	var log bytes.Buffer
	srv, url := start(t, load(t, "length"))
	srv.Log = &log
	if err := srv.Err(); err == nil || !strings.Contains(err.Error(), "the turn was not played") {
		t.Errorf("before: %v", err)
	}
	r := &utp.Request{Model: "m", Messages: hi}
	post(t, openai.Back{}, url, r)
	if err := srv.Err(); err != nil {
		t.Errorf("after: %v", err)
	}
	_, resp := post(t, openai.Back{}, url, r)
	if resp.StatusCode != 400 || srv.Err() == nil {
		t.Errorf("one too many: %d %v", resp.StatusCode, srv.Err())
	}
	if got := strings.Count(log.String(), "\n"); got != 2 || !strings.HasPrefix(log.String(), `{"turn":1,"path":"/v1/chat/completions","request":{"model":"m"`) {
		t.Errorf("log of %d lines: %s", got, &log)
	}
}

func TestRepeat(t *testing.T) {
	srv, url := start(t, load(t, "endless"))
	for range 3 {
		if _, resp := post(t, ollama.Back{}, url, &utp.Request{Model: "m", Messages: hi}); resp.StatusCode != 200 {
			t.Fatal(resp.Status)
		}
	}
	if err := srv.Err(); err != nil || len(srv.Requests()) != 3 {
		t.Errorf("%d requests, %v", len(srv.Requests()), err)
	}
}

func TestKey(t *testing.T) {
	s, err := fake.Parse("s", []byte("-- server --\nkey: secret\n-- turn --\n-- text --\nok\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, url := start(t, s)
	if _, resp := post(t, openai.Back{}, url, &utp.Request{Model: "m", Messages: hi}); resp.StatusCode != 401 {
		t.Error(resp.Status)
	}
}

func TestQuestions(t *testing.T) {
	for kind, questions := range map[string][]string{
		"ollama":   {"GET /api/tags", "GET /api/ps", "GET /api/version", "POST /api/show", "GET /v1/models"},
		"vllm":     {"GET /v1/models", "GET /version"},
		"llamacpp": {"GET /v1/models", "GET /props"},
		"lmstudio": {"GET /v1/models", "GET /api/v0/models"},
	} {
		s, err := fake.Parse("s", []byte("-- server --\nmodel: a, b\ncontext: 4096\nkind: "+kind+"\n-- turn --\n-- text --\nok\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, url := start(t, s)
		for _, q := range questions {
			method, path, _ := strings.Cut(q, " ")
			req, _ := http.NewRequest(method, url+path, strings.NewReader(`{"model":"a"}`))
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 200 || !json.Valid(body) {
				t.Errorf("%s %s: %s %s", kind, q, resp.Status, body)
			}
		}
	}
}

// A turn that waits for no others breaks so many of its replies, and the same ones
// for the same seed.
func TestRepliesAreBrokenAtARate(t *testing.T) {
	play := func(seed int) (broken []int) {
		s, err := fake.Parse("breaks", fmt.Appendf(nil, "-- turn --\nany\nbreaks 20%% seed=%d\n-- text --\nwhole\n", seed))
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(fake.New(s))
		defer srv.Close()
		for i := range 200 {
			r, err := http.Post(srv.URL+"/api/chat", "application/json", strings.NewReader(`{"model":"m","stream":false,"messages":[{"role":"user","content":"hi"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			if err := errors.Join(err, r.Body.Close()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(body), `"whole"`) {
				broken = append(broken, i)
			}
		}
		return broken
	}
	one, same, other := play(1), play(1), play(2)
	if len(one) < 25 || len(one) > 55 || !slices.Equal(one, same) || slices.Equal(one, other) {
		t.Errorf("%v, %v, %v", one, same, other)
	}
	for _, bad := range []string{"breaks", "breaks 20", "breaks 120%", "breaks 20% 3"} {
		if _, err := fake.Parse("bad", []byte("-- turn --\n"+bad+"\n-- text --\nx\n")); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
