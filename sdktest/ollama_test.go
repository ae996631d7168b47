package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/ollama/ollama/api"

	"github.com/unifiedtoolprotocol/utp"
)

var ollamaSDK = &sdk{
	name: "go ollama", api: "ollama", begin: beginOllama, counts: all,
	stops:  map[utp.Stop]string{utp.StopEnd: "stop", utp.StopTool: "stop", utp.StopLength: "length", utp.StopSequence: "stop", utp.StopFilter: "stop"},
	params: func(p *utp.Params) {},
	lacks: map[string]string{
		"image_result": "a result has text only", "choice_required": noChoice, "choice_one": noChoice, "choice_none": noChoice, "custom_tool": noCustom,
	},
	models: ollamaModels, fault: ollamaFault, mute: map[int]bool{401: true}, loose: true,
}

const noChoice = "no field says it"

type ollamaSession struct {
	client *api.Client
	params api.ChatRequest
	calls  []api.ToolCall
	err    error
}

func ollamaAPI(address string) (*api.Client, error) {
	base, err := url.Parse(address)
	return api.NewClient(base, http.DefaultClient), err
}

func beginOllama(address string, r *utp.Request) session {
	s := &ollamaSession{}
	s.client, s.err = ollamaAPI(address)
	s.params = api.ChatRequest{Model: r.Model, Format: r.Params.Schema, Options: ollamaOptions(r.Params)}
	for _, m := range r.Messages {
		s.params.Messages = append(s.params.Messages, s.messages(m)...)
	}
	for _, t := range r.Tools {
		tool := api.Tool{Type: "function", Function: api.ToolFunction{Name: t.Name, Description: t.Description}}
		schema := t.Schema
		if len(schema) == 0 {
			schema = noArguments
		}
		s.err = errors.Join(s.err, json.Unmarshal(schema, &tool.Function.Parameters))
		s.params.Tools = append(s.params.Tools, tool)
	}
	if r.Params.Effort != "" {
		s.params.Think = &api.ThinkValue{Value: r.Params.Effort}
	}
	return s
}

func ollamaOptions(p utp.Params) map[string]any {
	o := map[string]any{}
	put := func(name string, v any, given bool) {
		if given {
			o[name] = v
		}
	}
	put("num_predict", p.MaxTokens, p.MaxTokens != nil)
	put("temperature", p.Temperature, p.Temperature != nil)
	put("top_p", p.TopP, p.TopP != nil)
	put("top_k", p.TopK, p.TopK != nil)
	put("seed", p.Seed, p.Seed != nil)
	put("stop", p.Stop, p.Stop != nil)
	put("num_ctx", p.Context, p.Context != nil)
	return o
}

func (s *ollamaSession) messages(m utp.Message) (out []api.Message) {
	for _, r := range m.Results() {
		out = append(out, api.Message{Role: "tool", Content: r.Text(), ToolName: r.Name, ToolCallID: r.CallID})
	}
	if m.Role == utp.RoleTool {
		return out
	}
	text, files := words(m)
	msg := api.Message{Role: string(m.Role), Content: text}
	for _, f := range files {
		msg.Images = append(msg.Images, f.Data)
	}
	for _, c := range m.Calls() {
		call := api.ToolCall{ID: c.ID, Function: api.ToolCallFunction{Name: c.Name}}
		s.err = errors.Join(s.err, json.Unmarshal(c.Args, &call.Function.Arguments))
		msg.ToolCalls = append(msg.ToolCalls, call)
	}
	return append(out, msg)
}

func (s *ollamaSession) ask(stream bool) (a answer, err error) {
	if s.err != nil {
		return a, s.err
	}
	s.params.Stream = &stream
	var last api.ChatResponse
	reply := api.Message{Role: "assistant"}
	err = s.client.Chat(context.Background(), &s.params, func(r api.ChatResponse) error {
		last = r
		reply.Content += r.Message.Content
		reply.Thinking += r.Message.Thinking
		reply.ToolCalls = append(reply.ToolCalls, r.Message.ToolCalls...)
		return nil
	})
	if err != nil {
		return a, err
	}
	if !last.Done {
		return a, errors.New("the stream had no end")
	}
	return s.keep(reply, last)
}

func (s *ollamaSession) keep(reply api.Message, last api.ChatResponse) (answer, error) {
	a := answer{Text: reply.Content, Think: reply.Thinking, Stop: last.DoneReason, In: last.PromptEvalCount, Out: last.EvalCount}
	for _, c := range reply.ToolCalls {
		a.Calls = append(a.Calls, call{c.Function.Name, c.Function.Arguments.ToMap()})
	}
	s.calls = reply.ToolCalls
	s.params.Messages = append(s.params.Messages, reply)
	return a, nil
}

func (s *ollamaSession) give(texts []string) {
	for i, text := range texts {
		s.params.Messages = append(s.params.Messages, api.Message{Role: "tool", Content: text, ToolName: s.calls[i].Function.Name, ToolCallID: s.calls[i].ID})
	}
}

func ollamaModels(address string) (ids []string, err error) {
	client, err := ollamaAPI(address)
	if err != nil {
		return nil, err
	}
	list, err := client.List(context.Background())
	if err != nil {
		return nil, err
	}
	for _, m := range list.Models {
		ids = append(ids, m.Name)
	}
	return ids, nil
}

func ollamaFault(err error) (fault, bool) {
	var status api.StatusError
	var key api.AuthorizationError
	switch {
	case errors.As(err, &status):
		return fault{status.StatusCode, "", status.ErrorMessage}, true
	case errors.As(err, &key):
		return fault{Status: key.StatusCode}, true
	}
	return fault{}, false
}
