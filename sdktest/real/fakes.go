package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// fakeChecks send the same requests to the fake, which the tests use, and to the
// server that it plays.
var fakeChecks = []check{
	{"ollama", "the fake answers alike", func(w *world) (string, error) { return alike(w.ollama.url, fakeOllama+limited, ollamaAsks) }},
	{"ollama", "the fake calls alike", func(w *world) (string, error) { return alike(w.ollama.url, fakeOllama+called, ollamaCalls) }},
	{"ollama", "the fake thinks alike", func(w *world) (string, error) { return alike(w.ollama.url, fakeOllama+thought, ollamaThoughts) }},
	{"llama-server", "the fake answers alike", func(w *world) (string, error) { return alike(w.llama["plain"].url, fakeLlama+limited, llamaAsks) }},
	{"llama-server", "the fake calls alike", func(w *world) (string, error) { return alike(w.llama["coder"].url, fakeLlama+called, llamaCalls) }},
}

const (
	fakeOllama = `-- server --
kind: ollama
model: tiny-hermes thinking, tiny-native thinking, tiny-coder, tiny-coderp, tiny-plain no-tools
token: 1
`
	fakeLlama = `-- server --
kind: llamacpp
model: tiny-plain
context: 8192
token: 1
`
	limited = "-- turn --\nrepeat\n-- text --\nHello!\n-- stop length --\n"
	called  = "-- turn --\nrepeat\n-- call read_file --\n{\"path\":\"docs/abc.md\"}\n"
	thought = "-- turn --\nrepeat\n-- think --\nA greeting.\n-- text --\nHello!\n"
	short   = `"messages":[{"role":"user","content":"Hi"}],"max_tokens":3,"options":{"num_predict":3}`
	tool    = `"tools":[{"type":"function","function":{"name":"now","description":"d","parameters":{"type":"object","properties":{}}}}]`
)

var (
	long  = `"messages":[{"role":"user","content":"` + strings.Repeat("a", 9000) + `"}]`
	image = `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}]}]`
)

// ollamaAsks are "METHOD PATH BODY".
var ollamaAsks = []string{
	"GET / ", "GET /nix ", "GET /api/nix ", "GET /api/chat ", "GET /api/version ", "GET /api/tags ", "GET /v1/models ",
	`POST /api/show {"model":"tiny-hermes"}`, `POST /api/show {"model":"tiny-plain:latest"}`, `POST /api/show {"model":"nosuch"}`,
	`POST /api/chat {"model":"tiny-plain","messages":[]}`, "GET /api/ps ",
	`POST /api/chat {"model":"tiny-plain",` + short + `,"stream":false}`,
	`POST /api/chat {"model":"tiny-plain",` + short + `}`,
	`POST /api/generate {"model":"tiny-plain","prompt":"Hi","stream":false,"options":{"num_predict":3}}`,
	`POST /api/generate {"model":"tiny-plain","prompt":"Hi","options":{"num_predict":3}}`,
	`POST /v1/chat/completions {"model":"tiny-plain",` + short + `}`,
	`POST /v1/chat/completions {"model":"tiny-plain",` + short + `,"stream":true,"stream_options":{"include_usage":true}}`,
	`POST /api/chat {"model":"tiny-plain",` + short + `,"think":"high"}`,
	`POST /api/chat {"model":"tiny-plain",` + short + `,"think":true}`,
	`POST /api/chat {"model":"tiny-plain",` + short + `,"think":false,"stream":false}`,
	`POST /api/chat {"model":"tiny-hermes",` + short + `,"think":"high"}`,
	`POST /api/chat {"model":"tiny-hermes",` + short + `,"think":"lots"}`,
	`POST /api/chat {"model":"tiny-hermes",` + short + `,"think":5}`,
	`POST /v1/chat/completions {"model":"tiny-plain",` + short + `,"reasoning_effort":"high"}`,
	`POST /v1/chat/completions {"model":"tiny-hermes",` + short + `,"reasoning_effort":"high"}`,
	`POST /v1/chat/completions {"model":"tiny-hermes",` + short + `,"reasoning_effort":"xhigh"}`,
	`POST /api/chat {"model":"tiny-plain",` + short + `,` + tool + `}`,
	`POST /v1/chat/completions {"model":"tiny-plain",` + short + `,` + tool + `}`,
	`POST /api/chat {"model":"nosuch",` + short + `}`, `POST /v1/chat/completions {"model":"nosuch",` + short + `}`,
	`POST /api/chat {"model":"nosuch","messages":[]}`, `POST /api/generate {"model":"nosuch"}`, `POST /api/chat {"messages":[]}`, `POST /api/chat `,
	`POST /v1/chat/completions {"model":"tiny-plain","messages":[]}`,
	`POST /api/chat {"model":"tiny-plain","messages":[{"role":"user","content":"Hi"}],"options":{"num_ctx":"x"}}`,
	`POST /api/chat {"model":"tiny-plain","messages":[{"role":"user","content":"Hi"}],"options":{"temperature":"x"}}`,
	`POST /api/chat {"model":"tiny-plain","messages":[{"role":"user","content":"Hi"}],"options":{"stop":"x"}}`,
	`POST /api/chat {"model":"tiny-plain",` + short + `,"format":"xml","stream":false}`,
	`POST /api/chat {"model":"tiny-plain",` + long + `,"truncate":false}`,
	`POST /api/chat {"model":"tiny-plain",` + image + `}`,
	`POST /api/chat {"model":"tiny-plain","stream":false,"messages":[{"role":"user","content":"Hi","images":["aGVsbG8="]}],"options":{"num_predict":3}}`,
	`POST /api/embed {"model":"tiny-plain","input":["a","b"]}`, `POST /v1/embeddings {"model":"tiny-plain","input":"a"}`,
	`POST /api/embeddings {"model":"tiny-plain","prompt":"a"}`, `POST /api/embed {"model":"nosuch","input":"a"}`,
	`POST /api/copy {"source":"tiny-plain","destination":"tiny-copied"}`, `DELETE /api/delete {"model":"tiny-copied"}`,
	`DELETE /api/delete {"model":"nosuch"}`, `POST /api/copy {"source":"nosuch","destination":"x"}`,
	`POST /api/generate {"model":"tiny-plain","keep_alive":0}`,
}

var llamaAsks = []string{
	"GET /nix ", "GET /api/tags ", "GET /health ", "GET /v1/models ", "GET /models ", "GET /props ",
	`POST /v1/chat/completions {"model":"any",` + short + `}`,
	`POST /v1/chat/completions {"model":"any",` + short + `,"stream":true}`,
	`POST /v1/chat/completions {"model":"any",` + short + `,"stream":true,"stream_options":{"include_usage":true}}`,
	`POST /v1/chat/completions {` + short + `,"reasoning_effort":"high","user":"` + strings.Repeat("u", 150) + `","service_tier":"flex"}`,
	`POST /v1/chat/completions {"model":"any"}`,
	`POST /v1/chat/completions {` + image + `}`,
	`POST /v1/chat/completions {` + long + `}`,
	`POST /v1/embeddings {"input":"a"}`,
}

const (
	fileAsk = `"messages":[{"role":"user","content":"` + question + `"}],"tools":[{"type":"function","function":{"name":"read_file","description":"d","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}]`
	hello   = `"messages":[{"role":"user","content":"Say hello"}]`
)

var (
	ollamaCalls = []string{
		`POST /api/chat {"model":"tiny-coderp",` + fileAsk + `,"stream":false}`, `POST /api/chat {"model":"tiny-coderp",` + fileAsk + `}`,
		`POST /v1/chat/completions {"model":"tiny-coderp",` + fileAsk + `}`, `POST /v1/chat/completions {"model":"tiny-coderp",` + fileAsk + `,"stream":true}`,
	}
	ollamaThoughts = []string{
		`POST /api/chat {"model":"tiny-hermes",` + hello + `,"think":true,"stream":false}`, `POST /api/chat {"model":"tiny-hermes",` + hello + `}`,
		`POST /v1/chat/completions {"model":"tiny-hermes",` + hello + `}`, `POST /v1/chat/completions {"model":"tiny-hermes",` + hello + `,"stream":true}`,
	}
	llamaCalls = []string{
		`POST /v1/chat/completions {` + fileAsk + `}`, `POST /v1/chat/completions {` + fileAsk + `,"stream":true}`,
	}
)

// unplayed are fields of the real servers that the fake does not have, for nobody
// here reads them.
var unplayed = []string{
	".model_info", ".tensors", ".license", ".system", ".messages", ".timings.", ".default_generation_settings.", ".chat_template", ".ui", ".endpoint_",
	".media_marker", ".model_ftype", ".bos_token", ".eos_token", ".is_sleeping", ".cors_proxy_enabled", ".data[].tags", ".data[].architecture",
	".data[].meta.", ".models[].type", ".models[].description", ".models[].tags", ".models[].parameters", ".models[].modified_at", ".models[].size", ".context",
	".modalities.video", ".total_slots", ".eval_duration", ".prompt_eval", ".total_duration", ".load_duration",
}

// shown is an answer as far as it is compared.
type shown struct {
	status int
	media  string
	fields map[string]string // path to type
	words  string            // of an error, and of plain text
}

func alike(real, script string, requests []string) (string, error) {
	s, err := fake.Parse("fake", []byte(script))
	if err != nil {
		return "", err
	}
	played := httptest.NewServer(fake.New(s))
	defer played.Close()
	return fmt.Sprintf("%d requests", len(requests)), all(requests, func(r string) error {
		there, err := show(real, r)
		if err != nil {
			return err
		}
		here, err := show(played.URL, r)
		if err != nil {
			return err
		}
		return there.differs(here)
	})
}

func show(url, request string) (shown, error) {
	method, rest, _ := strings.Cut(request, " ")
	path, body, _ := strings.Cut(rest, " ")
	req, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		return shown{}, err
	}
	req.Close = true // llama-server ends connections without a word
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return shown{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	out := shown{status: resp.StatusCode, media: media, fields: map[string]string{}}
	for _, frame := range frames(b) {
		shape(out.fields, "", frame)
		out.words += problem(frame)
	}
	if media == "text/plain" {
		out.words = string(bytes.TrimSpace(b))
	}
	return out, err
}

// shape notes the type of every field. Types of a field that is not always there
// come together.
func shape(to map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, one := range v {
			shape(to, at+"."+key, one)
		}
	case []any:
		to[at] = "list"
		for _, one := range v {
			shape(to, at+"[]", one)
		}
	case nil:
		if to[at] == "" {
			to[at] = "null"
		}
	default:
		to[at] = fmt.Sprintf("%T", v)
	}
}

func (there shown) differs(here shown) error {
	var wrong []string
	if there.status != here.status || there.media != here.media {
		wrong = append(wrong, fmt.Sprintf("HTTP %d %s, the fake %d %s", there.status, there.media, here.status, here.media))
	}
	if digits(there.words) != digits(here.words) {
		wrong = append(wrong, fmt.Sprintf("says %q, the fake %q", there.words, here.words))
	}
	for _, path := range slices.Sorted(maps.Keys(there.fields)) {
		kind, had := here.fields[path]
		nobody := slices.ContainsFunc(unplayed, func(p string) bool { return strings.HasPrefix(path, p) })
		if !nobody && (!had || kind != there.fields[path] && kind != "null" && there.fields[path] != "null") {
			wrong = append(wrong, fmt.Sprintf("%s is %s, the fake's %q", path, there.fields[path], kind))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(here.fields)) {
		if _, has := there.fields[path]; !has && !slices.ContainsFunc(unplayed, func(p string) bool { return strings.HasPrefix(path, p) }) {
			wrong = append(wrong, "the fake alone has "+path)
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(wrong, "; "))
}

// digits are no difference: a prompt's length is counted otherwise.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '9'
		}
		return r
	}, s)
}
