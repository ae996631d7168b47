package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// asked is a request in no API's words.
type asked struct {
	model  string
	text   string
	stream bool
	tools  bool
	max    int
	more   map[string]any // fields of the API's own
}

// answer is a reply in no API's words.
type answer struct {
	status  int
	header  http.Header
	text    string
	thought string
	calls   []string // NAME ARGUMENTS
	stop    string
	prompt  float64 // tokens
	problem string  // the error's message
	raw     string
	first   time.Duration // until the first byte
}

// api is one in which clients ask.
type api struct {
	name   string
	path   func(asked) string
	body   func(asked) map[string]any
	read   func(a *answer, frame any)
	effort map[string]any // how a client asks for much thinking
}

func (a api) String() string { return a.name }

var apis = []api{
	{"chat", path("/v1/chat/completions"), chatBody, readChat, map[string]any{"reasoning_effort": "high"}},
	{"responses", path("/v1/responses"), responsesBody, readResponses, map[string]any{"reasoning": map[string]any{"effort": "high"}}},
	{"messages", path("/v1/messages"), messagesBody, readMessages, map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048}},
	{"gemini", geminiPath, geminiBody, readGemini, map[string]any{"generationConfig": map[string]any{"thinkingConfig": map[string]any{"thinkingBudget": 1024}}}},
	{"ollama", path("/api/chat"), chatBody, readOllama, map[string]any{"think": "high"}},
}

func path(p string) func(asked) string { return func(asked) string { return p } }

func geminiPath(q asked) string {
	if q.stream {
		return "/v1beta/models/" + q.model + ":streamGenerateContent?alt=sse"
	}
	return "/v1beta/models/" + q.model + ":generateContent"
}

type function struct {
	name, about, argument string
}

var functions = []function{{"read_file", "Reads a file", "path"}, {"get_weather", "Weather of a city", "city"}}

func (f function) schema() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{f.argument: map[string]any{"type": "string"}}, "required": []string{f.argument}}
}

// offer lists the functions, each as a map of its fields.
func offer(one func(function) map[string]any) (list []any) {
	for _, f := range functions {
		list = append(list, one(f))
	}
	return list
}

func (q asked) with(body map[string]any, tools any) map[string]any {
	if q.tools {
		body["tools"] = tools
	}
	maps.Copy(body, q.more)
	return body
}

func messages(q asked) []any {
	return []any{map[string]any{"role": "user", "content": q.text}}
}

func chatBody(q asked) map[string]any {
	body := map[string]any{"model": q.model, "stream": q.stream, "messages": messages(q)}
	if q.max > 0 {
		body["max_tokens"] = q.max
	}
	return q.with(body, offer(func(f function) map[string]any {
		return map[string]any{"type": "function", "function": map[string]any{"name": f.name, "description": f.about, "parameters": f.schema()}}
	}))
}

func responsesBody(q asked) map[string]any {
	return q.with(map[string]any{"model": q.model, "stream": q.stream, "input": q.text}, offer(func(f function) map[string]any {
		return map[string]any{"type": "function", "name": f.name, "description": f.about, "parameters": f.schema()}
	}))
}

func messagesBody(q asked) map[string]any {
	body := map[string]any{"model": q.model, "stream": q.stream, "messages": messages(q), "max_tokens": max(q.max, 500)}
	return q.with(body, offer(func(f function) map[string]any {
		return map[string]any{"name": f.name, "description": f.about, "input_schema": f.schema()}
	}))
}

func geminiBody(q asked) map[string]any {
	body := map[string]any{"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": q.text}}}}}
	return q.with(body, []any{map[string]any{"functionDeclarations": offer(func(f function) map[string]any {
		return map[string]any{"name": f.name, "description": f.about, "parameters": f.schema()}
	})}})
}

// ask sends a request and reads the whole answer.
func (a api) ask(base string, q asked) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	began := time.Now()
	resp, err := a.send(ctx, base, q)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", a.name, err)
	}
	defer resp.Body.Close()
	out := answer{status: resp.StatusCode, header: resp.Header}
	r := bufio.NewReader(resp.Body)
	if _, err := r.Peek(1); err == nil {
		out.first = time.Since(began)
	}
	raw, err := io.ReadAll(r)
	out.raw = string(raw)
	if err != nil {
		return out, fmt.Errorf("%s: %w after %q", a.name, err, cut(out.raw, 300))
	}
	for _, frame := range frames(raw) {
		out.problem += problem(frame)
		a.read(&out, frame)
	}
	return out, nil
}

func (a api) send(ctx context.Context, base string, q asked) (*http.Response, error) {
	body, err := json.Marshal(a.body(q))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+a.path(q), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("anthropic-version", "2023-06-01")
	return http.DefaultClient.Do(req)
}

// frames are the objects of a body: one, one a line, or one an event.
func frames(raw []byte) (out []any) {
	if v := decode(raw); v != nil {
		return []any{v}
	}
	for line := range bytes.Lines(raw) {
		if v := decode(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:"))); v != nil {
			out = append(out, v)
		}
	}
	return out
}

func decode(b []byte) (v any) {
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	return v
}

// dig follows keys and indexes into a JSON value.
func dig(v any, way ...any) any {
	for _, step := range way {
		switch key := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

func text(v any, way ...any) string { s, _ := dig(v, way...).(string); return s }

func list(v any, way ...any) []any { l, _ := dig(v, way...).([]any); return l }

func problem(frame any) string {
	if s := text(frame, "error"); s != "" {
		return s
	}
	return text(frame, "error", "message")
}

// call adds to the calls; one without a name continues the last one.
func (a *answer) call(name, args string) {
	if name != "" {
		a.calls = append(a.calls, name+" ")
	}
	if len(a.calls) > 0 {
		a.calls[len(a.calls)-1] += args
	}
}

func compact(v any) string { b, _ := json.Marshal(v); return string(b) }

func readChat(a *answer, frame any) {
	choice := dig(frame, "choices", 0)
	for _, key := range []string{"delta", "message"} {
		a.text += text(choice, key, "content")
		a.thought += text(choice, key, "reasoning_content")
		for _, c := range list(choice, key, "tool_calls") {
			a.call(text(c, "function", "name"), text(c, "function", "arguments"))
		}
	}
	a.stop += text(choice, "finish_reason")
	if n, ok := dig(frame, "usage", "prompt_tokens").(float64); ok {
		a.prompt = n
	}
}

func readResponses(a *answer, frame any) {
	if kind := text(frame, "type"); kind == "response.completed" || kind == "response.incomplete" || kind == "response.failed" {
		frame = dig(frame, "response")
	}
	a.stop += text(frame, "status")
	for _, item := range list(frame, "output") {
		a.call(text(item, "name"), text(item, "arguments"))
		for _, part := range list(item, "content") {
			a.text += text(part, "text")
		}
	}
}

func readMessages(a *answer, frame any) {
	blocks := list(frame, "content")
	if b := dig(frame, "content_block"); b != nil {
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		a.text += text(b, "text")
		a.thought += text(b, "thinking")
		if text(b, "type") == "tool_use" {
			args := ""
			if input, _ := dig(b, "input").(map[string]any); len(input) > 0 {
				args = compact(input)
			}
			a.call(text(b, "name"), args)
		}
	}
	a.text += text(frame, "delta", "text")
	a.thought += text(frame, "delta", "thinking")
	if args := text(frame, "delta", "partial_json"); args != "" {
		a.call("", args)
	}
	a.stop += text(frame, "stop_reason") + text(frame, "delta", "stop_reason")
}

func readGemini(a *answer, frame any) {
	candidate := dig(frame, "candidates", 0)
	for _, p := range list(candidate, "content", "parts") {
		if dig(p, "thought") == true {
			a.thought += text(p, "text")
			continue
		}
		a.text += text(p, "text")
		if name := text(p, "functionCall", "name"); name != "" {
			a.call(name, compact(dig(p, "functionCall", "args")))
		}
	}
	a.stop += text(candidate, "finishReason")
}

func readOllama(a *answer, frame any) {
	a.text += text(frame, "message", "content")
	a.thought += text(frame, "message", "thinking")
	for _, c := range list(frame, "message", "tool_calls") {
		a.call(text(c, "function", "name"), compact(dig(c, "function", "arguments")))
	}
	a.stop += text(frame, "done_reason")
	if n, ok := dig(frame, "prompt_eval_count").(float64); ok {
		a.prompt = n
	}
}

// marks are what a dialect leaves in a text that should hold no call.
var marks = []string{"<tool_call>", "<function=", "```json", "Action Input:"}

// good says what is wrong with an answer that should be the one call of the question.
func (a *answer) good() error {
	want := `read_file {"path":"docs/abc.md"}`
	for _, m := range marks {
		if strings.Contains(a.text, m) {
			return fmt.Errorf("the text holds %s: %q", m, a.text)
		}
	}
	if len(a.calls) != 1 || strings.ReplaceAll(a.calls[0], `": "`, `":"`) != want {
		return fmt.Errorf("HTTP %d %s: calls %q, text %q, want %s", a.status, a.problem, a.calls, cut(a.text, 200), want)
	}
	return nil
}
