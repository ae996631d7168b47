package fake_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// A real Ollama of several models, and a llama-server of one.
const (
	ollamaServer = "-- server --\nkind: ollama\nmodel: plain no-tools, thinker thinking, gpt-oss:20b thinking family=gptoss\ntoken: 1\n"
	llamaServer  = "-- server --\nkind: llamacpp\nmodel: plain\ncontext: 2000\ntoken: 1\n"
	anyTurn      = "-- turn --\nrepeat\n-- text --\nok\n"
)

// parsed is a running server of a script.
func parsed(t *testing.T, script string) (*fake.Server, string) {
	t.Helper()
	s, err := fake.Parse("real", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return start(t, s)
}

// ask sends a request and gives the status, the media type and the body.
func ask(t *testing.T, url, method, path, body string) (int, string, string) {
	t.Helper()
	req, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
}

// says is what stands in a JSON body, of an error or another.
func says(body string) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var text string
	var object struct{ Message string }
	if json.Unmarshal([]byte(body), &e) != nil || e.Error == nil {
		return body
	}
	if json.Unmarshal(e.Error, &text) == nil {
		return text
	}
	if json.Unmarshal(e.Error, &object) == nil {
		return object.Message
	}
	return body
}

const (
	user  = `"messages":[{"role":"user","content":"Hi"}]`
	tools = `"tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object"}}}]`
)

// Each text is a real server's: Ollama v0.17.4, llama-server b11434.
func TestRefusesWhatTheRealServersRefuse(t *testing.T) {
	long := `"messages":[{"role":"user","content":"` + strings.Repeat("a", 9000) + `"}]`
	image := `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}]}]`
	for _, c := range []struct {
		server, path, body string
		status             int
		want               string
	}{
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"think":"high"}`, 400, `"plain" does not support thinking`},
		{ollamaServer, "/api/chat", `{"model":"plain:latest",` + user + `,"think":true}`, 400, `"plain:latest" does not support thinking`},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"think":false}`, 200, ""},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"think":null}`, 200, ""},
		{ollamaServer, "/api/chat", `{"model":"thinker",` + user + `,"think":"high"}`, 400, `think value "high" is not supported for this model`},
		{ollamaServer, "/api/chat", `{"model":"thinker",` + user + `,"think":true}`, 200, ""},
		{ollamaServer, "/api/chat", `{"model":"thinker",` + user + `,"think":"max"}`, 400, `invalid think value: "max" (must be "high", "medium", "low", true, or false)`},
		{ollamaServer, "/api/chat", `{"model":"thinker",` + user + `,"think":5}`, 400, `think must be a boolean or string ("high", "medium", "low", true, or false)`},
		{ollamaServer, "/api/chat", `{"model":"gpt-oss:20b",` + user + `,"think":"low"}`, 200, ""},
		{ollamaServer, "/v1/chat/completions", `{"model":"plain",` + user + `,"reasoning_effort":"high"}`, 400, `"plain" does not support thinking`},
		{ollamaServer, "/v1/chat/completions", `{"model":"thinker",` + user + `,"reasoning_effort":"high"}`, 400, `think value "high" is not supported for this model`},
		{ollamaServer, "/v1/chat/completions", `{"model":"thinker",` + user + `,"reasoning_effort":"xhigh"}`, 400, `invalid reasoning value: 'xhigh' (must be "high", "medium", "low", or "none")`},
		{ollamaServer, "/v1/chat/completions", `{"model":"plain",` + user + `,"reasoning_effort":"none"}`, 200, ""},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,` + tools + `}`, 400, "registry.ollama.ai/library/plain:latest does not support tools"},
		{ollamaServer, "/v1/chat/completions", `{"model":"plain",` + user + `,` + tools + `}`, 400, "registry.ollama.ai/library/plain:latest does not support tools"},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"tools":[]}`, 200, ""},
		{ollamaServer, "/api/chat", `{"model":"nosuch",` + user + `}`, 404, "model 'nosuch' not found"},
		{ollamaServer, "/api/chat", `{"model":"nosuch","messages":[]}`, 404, "model 'nosuch' not found"},
		{ollamaServer, "/v1/chat/completions", `{"model":"nosuch",` + user + `}`, 404, "model 'nosuch' not found"},
		{ollamaServer, "/api/chat", `{"messages":[]}`, 400, "model is required"},
		{ollamaServer, "/api/chat", ``, 400, "missing request body"},
		{ollamaServer, "/v1/chat/completions", `{"model":"plain","messages":[]}`, 400, "[] is too short - 'messages'"},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"options":{"num_ctx":"x"}}`, 500, `option "num_ctx" must be of type integer`},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"options":{"temperature":"x"}}`, 500, `option "temperature" must be of type float32`},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"options":{"stop":"x"}}`, 500, `option "stop" must be of type array`},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"options":{"nosuch":3,"num_ctx":4096.5}}`, 200, ""},
		{ollamaServer, "/api/chat", `{"model":"plain",` + user + `,"format":"xml"}`, 500, `invalid format: "\"xml\""; expected "json" or a valid JSON Schema object`},
		{ollamaServer, "/api/chat", `{"model":"plain",` + long + `,"truncate":false}`, 400, "the input length exceeds the context length"},
		{ollamaServer, "/api/chat", `{"model":"plain",` + long + `}`, 200, ""},
		{ollamaServer, "/api/chat", `{"model":"plain",` + image + `}`, 400, "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string"},
		{ollamaServer, "/api/chat", `{"model":"plain","messages":[{"role":"user","content":"Hi","images":["aGVsbG8="]}]}`, 200, ""},
		{llamaServer, "/v1/chat/completions", `{"model":"other",` + user + `}`, 200, ""},
		{llamaServer, "/v1/chat/completions", `{"model":"plain"}`, 400, "'messages' is required"},
		{llamaServer, "/v1/chat/completions", `{` + long + `}`, 400, "request (9019 tokens) exceeds the available context size (2000 tokens), try increasing it"},
		{llamaServer, "/v1/chat/completions", `{` + image + `}`, 500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"},
		{llamaServer + "vision: yes\n", "/v1/chat/completions", `{` + image + `}`, 200, ""},
		{llamaServer + "tools: no\n", "/v1/chat/completions", `{` + user + `,` + tools + `}`, 500, "tools param requires --jinja flag"},
		{llamaServer, "/v1/chat/completions", `{` + user + `,"reasoning_effort":"high","user":"` + strings.Repeat("u", 150) + `"}`, 200, ""},
		{llamaServer, "/v1/embeddings", `{"input":"x"}`, 501, "This server does not support embeddings. Start it with `--embeddings`"},
	} {
		srv, url := parsed(t, c.server+anyTurn)
		status, _, body := ask(t, url, "POST", c.path, c.body)
		if status != c.status || c.want != "" && says(body) != c.want {
			t.Errorf("%s %.120s:\n got %d %s\nwant %d %s", c.path, c.body, status, body, c.status, c.want)
		}
		if got := srv.Requests(); c.status != 200 && len(got) == 1 && (got[0].Turn != 0 || got[0].Note != c.want) {
			t.Errorf("%s %.120s: recorded as turn %d, note %q", c.path, c.body, got[0].Turn, got[0].Note)
		}
	}
}

// OpenAI's words, as its clients report them.
func TestRefusesFields(t *testing.T) {
	server := "-- server --\nkind: openai\nmodel: m\nrefuse: reasoning_effort\nrefuse: parallel_tool_calls Unsupported parameter: 'parallel_tool_calls' is not supported with this model.\nrefuse: tools.function.strict\n"
	for body, want := range map[string]string{
		`"reasoning_effort":"high"`:  "Unrecognized request argument supplied: reasoning_effort",
		`"parallel_tool_calls":true`: "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
		`"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b","strict":true}}]`: "Unrecognized request argument supplied: tools.function.strict",
		`"user":"` + strings.Repeat("u", 150) + `"`: "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 150 instead.",
		`"user":"` + strings.Repeat("u", 64) + `"`:  "",
		`"logprobs":true,` + tools:                  "",
	} {
		_, url := parsed(t, server+anyTurn)
		status, _, answer := ask(t, url, "POST", "/v1/chat/completions", `{"model":"m",`+user+`,`+body+`}`)
		if want == "" && status != 200 || want != "" && (status != 400 || says(answer) != want) {
			t.Errorf("%s:\n got %d %s\nwant %s", body, status, answer, want)
		}
	}
}

// Names have a tag in every list of Ollama's, and are asked for without.
func TestOllamaNamesHaveATag(t *testing.T) {
	srv, url := parsed(t, ollamaServer+anyTurn)
	for _, path := range []string{"/api/tags", "/v1/models"} {
		_, _, body := ask(t, url, "GET", path, "")
		if !strings.Contains(body, `"plain:latest"`) || strings.Contains(body, `"plain"`) || !strings.Contains(body, `"gpt-oss:20b"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	for _, name := range []string{"plain", "plain:latest"} {
		_, _, body := ask(t, url, "POST", "/api/chat", `{"model":"`+name+`","stream":false,`+user+`}`)
		if !strings.Contains(body, `"model":"`+name+`"`) {
			t.Errorf("%s: %s", name, body)
		}
	}
	if status, _, body := ask(t, url, "POST", "/api/chat", `{"model":"new",`+user+`}`); status != 404 {
		t.Errorf("before it is made: %d %s", status, body)
	}
	srv.Add("new no-tools")
	ask(t, url, "POST", "/api/copy", `{"source":"new","destination":"newer"}`)
	for _, name := range []string{"new", "newer"} {
		if status, _, body := ask(t, url, "POST", "/api/chat", `{"model":"`+name+`",`+user+`}`); status != 200 {
			t.Errorf("%s, made after the start: %d %s", name, status, body)
		}
	}
	ask(t, url, "DELETE", "/api/delete", `{"model":"newer"}`)
	if _, _, body := ask(t, url, "GET", "/api/tags", ""); strings.Contains(body, "newer") || !strings.Contains(body, `"new:latest"`) {
		t.Errorf("after it was removed: %s", body)
	}
}

// An entry has what Ollama's own client needs; abilities stand in /api/show alone.
func TestOllamaLists(t *testing.T) {
	_, url := parsed(t, ollamaServer+anyTurn)
	var tags struct{ Models []map[string]any }
	_, _, body := ask(t, url, "GET", "/api/tags", "")
	if err := json.Unmarshal([]byte(body), &tags); err != nil || len(tags.Models) != 3 {
		t.Fatalf("%s: %v", body, err)
	}
	for _, m := range tags.Models {
		details, _ := m["details"].(map[string]any)
		digest, _ := m["digest"].(string)
		_, err := time.Parse(time.RFC3339, fmt.Sprint(m["modified_at"]))
		if len(digest) != 64 || err != nil || m["size"] == nil || details["format"] != "gguf" || details["parameter_size"] == "" || details["quantization_level"] == "" || m["capabilities"] != nil {
			t.Errorf("%v", m)
		}
	}
	var show struct{ Capabilities []string }
	for name, want := range map[string]string{"plain": "completion", "thinker:latest": "completion tools thinking"} {
		_, _, body := ask(t, url, "POST", "/api/show", `{"model":"`+name+`"}`)
		if err := json.Unmarshal([]byte(body), &show); err != nil || strings.Join(show.Capabilities, " ") != want {
			t.Errorf("%s: %s %v", name, body, err)
		}
	}
}

// running is /api/ps.
func running(t *testing.T, url string) (names []string, windows []int) {
	t.Helper()
	var ps struct {
		Models []struct {
			Name, Digest, Expires_at string
			Size                     int64
			Size_vram                *int64
			Context_length           int
		}
	}
	_, _, body := ask(t, url, "GET", "/api/ps", "")
	if err := json.Unmarshal([]byte(body), &ps); err != nil {
		t.Fatal(err)
	}
	for _, m := range ps.Models {
		until, err := time.Parse(time.RFC3339, m.Expires_at)
		if err != nil || !until.After(time.Now()) || len(m.Digest) != 64 || m.Size == 0 || m.Size_vram == nil {
			t.Errorf("%+v %v", m, err)
		}
		names, windows = append(names, m.Name), append(windows, m.Context_length)
	}
	return names, windows
}

// Nothing is in memory at first; a request loads its model, and one without
// messages does nothing else.
func TestOllamaLoadsAndUnloads(t *testing.T) {
	srv, url := parsed(t, ollamaServer+anyTurn)
	if names, _ := running(t, url); len(names) != 0 {
		t.Errorf("at the start: %v", names)
	}
	for _, c := range []struct{ path, body, reason string }{
		{"/api/chat", `{"model":"plain","messages":[]}`, "load"},
		{"/api/chat", `{"model":"plain","messages":[],"keep_alive":0}`, "unload"},
		{"/api/generate", `{"model":"plain:latest"}`, "load"},
		{"/api/generate", `{"model":"plain","prompt":"","keep_alive":"0s"}`, "unload"},
		{"/api/chat", `{"model":"plain","keep_alive":null}`, "load"},
	} {
		status, _, body := ask(t, url, "POST", c.path, c.body)
		names, _ := running(t, url)
		if status != 200 || !strings.Contains(body, `"done":true,"done_reason":"`+c.reason+`"`) || (len(names) == 1) != (c.reason == "load") {
			t.Errorf("%s: %d %s, in memory %v", c.body, status, body, names)
		}
	}
	for i, r := range srv.Requests() {
		if r.Turn != 0 || r.Note != []string{"load", "unload"}[i%2] {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	if got := srv.Loads(); len(got) != 3 || got[0] != (fake.Loaded{Model: "plain:latest", NumCtx: 4096}) {
		t.Errorf("loads: %v", got)
	}
	_, url = parsed(t, "-- server --\nmodel: a, b\nloaded: b 65536\n"+anyTurn)
	if names, windows := running(t, url); len(names) != 1 || names[0] != "b:latest" || windows[0] != 32768 {
		t.Errorf("loaded at the start: %v %v", names, windows)
	}
}

// A model that is made anew while it is loaded is listed twice, the new one first.
func TestOllamaListsAModelMadeAnewTwice(t *testing.T) {
	srv, url := parsed(t, ollamaServer+anyTurn)
	ask(t, url, "POST", "/api/chat", `{"model":"plain",`+user+`,"options":{"num_ctx":8192}}`)
	srv.Add("plain no-tools")
	if names, windows := running(t, url); fmt.Sprint(names, windows) != "[plain:latest] [8192]" {
		t.Errorf("before it is asked: %v %v", names, windows)
	}
	ask(t, url, "POST", "/api/chat", `{"model":"plain",`+user+`}`)
	if names, windows := running(t, url); fmt.Sprint(names, windows) != "[plain:latest plain:latest] [4096 8192]" {
		t.Errorf("%v %v", names, windows)
	}
	if _, _, list := ask(t, url, "GET", "/api/tags", ""); strings.Count(list, `"name":"plain:latest"`) != 1 {
		t.Error(list)
	}
}

// Another window is another process; what asks for none gets the server's.
func TestOllamaReloadsForAnotherWindow(t *testing.T) {
	srv, url := parsed(t, ollamaServer+anyTurn)
	ctx := func(n int) string {
		return fmt.Sprintf(`{"model":"plain",%s,"options":{"num_ctx":%d}}`, user, n)
	}
	for _, body := range []string{`{"model":"plain",` + user + `}`, `{"model":"plain:latest",` + user + `}`, ctx(8192), ctx(8192), `{"model":"plain",` + user + `}`, ctx(1 << 20)} {
		if status, _, answer := ask(t, url, "POST", "/api/chat", body); status != 200 {
			t.Fatalf("%s: %d %s", body, status, answer)
		}
	}
	var got []int
	for _, l := range srv.Loads() {
		got = append(got, l.NumCtx)
	}
	if fmt.Sprint(got) != "[4096 8192 4096 32768]" {
		t.Errorf("windows loaded: %v", got)
	}
}

// A prompt that is too long is cut in silence, and its count is the window's.
func TestOllamaCutsInSilence(t *testing.T) {
	_, url := parsed(t, ollamaServer+anyTurn)
	long := strings.Repeat("a", 9000)
	for n, want := range map[int]string{0: "4096", 2048: "2048", 16384: "40"} {
		options := "{}"
		if n > 0 {
			options = fmt.Sprintf(`{"num_ctx":%d}`, n)
		}
		_, _, body := ask(t, url, "POST", "/api/chat", `{"model":"plain","stream":false,"messages":[{"role":"user","content":"`+long+`"}],"options":`+options+`}`)
		if !strings.Contains(body, `"prompt_eval_count":`+want+`,`) {
			t.Errorf("num_ctx %d: %s, want prompt_eval_count %s", n, body, want)
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	for _, c := range []struct {
		kind, method, path string
		status             int
		media, want        string
	}{
		{"ollama", "GET", "/", 200, "text/plain; charset=utf-8", "Ollama is running"},
		{"ollama", "GET", "/nix", 404, "text/plain; charset=utf-8", "404 page not found"},
		{"ollama", "GET", "/api/chat", 405, "text/plain; charset=utf-8", "405 method not allowed"},
		{"llamacpp", "GET", "/api/tags", 404, "application/json", `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`},
		{"vllm", "GET", "/nix", 404, "application/json", `{"detail":"Not Found"}`},
		{"openai", "POST", "/v1/nix", 404, "application/json", `"code":"unknown_url"`},
	} {
		_, url := parsed(t, "-- server --\nkind: "+c.kind+"\n"+anyTurn)
		if status, media, body := ask(t, url, c.method, c.path, ""); status != c.status || media != c.media || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %s: %d %s %s", c.kind, c.method, c.path, status, media, body)
		}
	}
}

// A llama-server that is loading says so on every path.
func TestLlamaServerWhileLoading(t *testing.T) {
	_, url := parsed(t, llamaServer+"loading: 2\n"+anyTurn)
	for i, path := range []string{"/v1/models", "/v1/chat/completions", "/v1/models"} {
		status, _, body := ask(t, url, map[int]string{0: "GET", 1: "POST", 2: "GET"}[i], path, "{}")
		if i < 2 && (status != 503 || body != `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`) || i == 2 && status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// Its stream: content null, a call's id and name with the first character of the
// arguments and a few more in each frame, usage apart, and its own alias.
func TestLlamaServerStreamsCalls(t *testing.T) {
	_, url := parsed(t, llamaServer+"-- turn --\n-- call read_file --\n{\"path\":\"docs/abc.md\"}\n")
	_, _, body := ask(t, url, "POST", "/v1/chat/completions", `{"model":"other","stream":true,"stream_options":{"include_usage":true},`+user+`,`+tools+`}`)
	frames := strings.Split(strings.TrimSpace(body), "\n\n")
	for i, want := range map[int][]string{
		0:               {`"delta":{"role":"assistant","content":null}`, `"model":"plain"`},
		1:               {`"index":0,"id":"call_1_1"`, `"name":"read_file","arguments":"{\"pa"`},
		2:               {`"tool_calls":[{"index":0,"function":{"arguments":"th\":"}}]`},
		len(frames) - 3: {`"finish_reason":"tool_calls"`},
		len(frames) - 2: {`"choices":[],`, `"usage":{`, `"timings":{`},
		len(frames) - 1: {"data: [DONE]"},
	} {
		for _, w := range want {
			if !strings.Contains(frames[i], w) {
				t.Errorf("frame %d: %s, want %s", i, frames[i], w)
			}
		}
	}
	_, _, list := ask(t, url, "GET", "/v1/models", "")
	for _, want := range []string{`"models":[{"name":"plain"`, `"data":[{"id":"plain"`, `"meta":{`, `"n_ctx":2000`} {
		if !strings.Contains(list, want) {
			t.Errorf("%s: want %s", list, want)
		}
	}
}

// Its connections end with an error, with the hundredth request, and without a word
// behind a stream; Ollama's stay.
func TestLlamaServerClosesConnections(t *testing.T) {
	closes := func(server, path, body string) (conn net.Conn, in *bufio.Reader, said bool) {
		_, url := parsed(t, server+anyTurn)
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		in = bufio.NewReader(conn)
		return conn, in, sent(t, conn, in, path, body)
	}
	const chat = "/v1/chat/completions"
	if _, _, said := closes(llamaServer, chat, "{}"); !said {
		t.Error("an error does not end the connection")
	}
	if _, _, said := closes(ollamaServer, chat, "{}"); said {
		t.Error("Ollama's error ends the connection")
	}
	for server, ends := range map[string]bool{llamaServer: true, ollamaServer: false} {
		conn, in, said := closes(server, chat, `{"model":"plain","stream":true,`+user+`}`)
		_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := in.ReadByte(); said || errors.Is(err, io.EOF) != ends {
			t.Errorf("behind a stream: said %v, %v", said, err)
		}
	}
	conn, in, said := closes(llamaServer, chat, `{`+user+`}`)
	for n := 2; n <= 100 && !said; n++ {
		if said = sent(t, conn, in, chat, `{`+user+`}`); said != (n == 100) {
			t.Errorf("request %d: the connection ends: %v", n, said)
		}
	}
}

// sent sends a request on a connection, reads the answer, and reports whether it
// says that the connection ends.
func sent(t *testing.T, conn net.Conn, in *bufio.Reader, path, body string) bool {
	t.Helper()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.Close
}

// Ollama's calls come whole, and its /v1 says reasoning.
func TestOllamaStreamsOpenAIsForm(t *testing.T) {
	_, url := parsed(t, ollamaServer+"-- turn --\n-- think --\nHm.\n-- call read_file --\n{\"path\":\"docs/abc.md\"}\n")
	_, _, body := ask(t, url, "POST", "/v1/chat/completions", `{"model":"thinker","stream":true,`+user+`,`+tools+`}`)
	for _, want := range []string{`"delta":{"reasoning":"Hm."}`, `"arguments":"{\"path\":\"docs/abc.md\"}"`, `"system_fingerprint":"fp_ollama"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s: want %s", body, want)
		}
	}
}

// Faults: a delay, a stream cut after so many bytes, a body of another kind.
func TestFaults(t *testing.T) {
	_, url := parsed(t, "-- server --\nkind: ollama\ndelay: /api/ps 30ms\ndelay: /api/tags 1h\n"+
		"-- turn --\n-- text --\nHello there\n-- cut after=20 --\n-- turn --\n-- raw 200 text/html --\n<html>busy</html>\n-- turn --\n-- raw 200 --\n-- turn --\n-- error 429 retry-after=7 --\nslow down\n")
	began := time.Now()
	ask(t, url, "GET", "/api/ps", "")
	if d := time.Since(began); d < 30*time.Millisecond {
		t.Errorf("/api/ps answered after %v", d)
	}
	chat := `{"model":"m",` + user + `}`
	resp, err := http.Post(url+"/api/chat", "application/json", strings.NewReader(chat))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err == nil || len(b) != 20 || !bytes.HasPrefix(b, []byte(`{"model":"m"`)) {
		t.Errorf("cut after 20: %q, %v", b, err)
	}
	if status, media, body := ask(t, url, "POST", "/api/chat", chat); status != 200 || media != "text/html" || body != "<html>busy</html>\n" {
		t.Errorf("%d %s %q", status, media, body)
	}
	if status, _, body := ask(t, url, "POST", "/api/chat", chat); status != 200 || body != "" {
		t.Errorf("an empty body: %d %q", status, body)
	}
	resp, err = http.Post(url+"/api/chat", "application/json", strings.NewReader(chat))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "7" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

func TestEmbeddings(t *testing.T) {
	_, url := parsed(t, ollamaServer+anyTurn)
	vectors := map[string]string{}
	for path, body := range map[string]string{
		"/api/embed": `{"model":"plain","input":["a","b"]}`, "/v1/embeddings": `{"model":"plain","input":["a","b"]}`, "/api/embeddings": `{"model":"plain","prompt":"a"}`,
	} {
		status, _, answer := ask(t, url, "POST", path, body)
		if status != 200 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
		vectors[path] = answer
	}
	var native struct{ Embeddings [][]float64 }
	var one struct{ Embedding []float64 }
	var openai struct {
		Data []struct{ Embedding []float64 }
	}
	for path, to := range map[string]any{"/api/embed": &native, "/api/embeddings": &one, "/v1/embeddings": &openai} {
		if err := json.Unmarshal([]byte(vectors[path]), to); err != nil {
			t.Fatal(err)
		}
	}
	if len(native.Embeddings) != 2 || len(openai.Data) != 2 || fmt.Sprint(native.Embeddings[0]) != fmt.Sprint(one.Embedding) ||
		fmt.Sprint(native.Embeddings[1]) != fmt.Sprint(openai.Data[1].Embedding) || fmt.Sprint(native.Embeddings[0]) == fmt.Sprint(native.Embeddings[1]) {
		t.Errorf("%v", vectors)
	}
	if status, _, body := ask(t, url, "POST", "/api/embed", `{"model":"nosuch","input":"a"}`); status != 404 || says(body) != `model "nosuch" not found, try pulling it first` {
		t.Errorf("%d %s", status, body)
	}
}
