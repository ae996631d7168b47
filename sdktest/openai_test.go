package sdktest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/unifiedtoolprotocol/utp"
)

var chatSDK = &sdk{
	name: "go openai", api: "openai", begin: beginChat, counts: all,
	stops:  map[utp.Stop]string{utp.StopEnd: "stop", utp.StopTool: "tool_calls", utp.StopLength: "length", utp.StopSequence: "stop", utp.StopFilter: "content_filter"},
	params: func(p *utp.Params) { p.TopK, p.Context = nil, nil },
	lacks:  map[string]string{"image_result": "a tool message has text only", "custom_tool": "the pieces of a stream have no custom calls"},
	models: openaiModels, fault: openaiFault, kinds: openaiKinds,
}

type chatSession struct {
	client openai.Client
	params openai.ChatCompletionNewParams
	calls  []string // ids of the calls in the last reply
}

func openaiAPI(url string) openai.Client {
	return openai.NewClient(option.WithAPIKey("key"), option.WithBaseURL(url+"/v1"), option.WithMaxRetries(0))
}

func beginChat(url string, r *utp.Request) session {
	s := &chatSession{client: openaiAPI(url)}
	s.params.Model = r.Model
	for _, m := range r.Messages {
		s.params.Messages = append(s.params.Messages, chatMessages(m)...)
	}
	for _, t := range r.Tools {
		s.params.Tools = append(s.params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: object(t.Schema),
		}))
	}
	s.settings(r.Params)
	switch r.Choice.Mode {
	case utp.ChoiceRequired, utp.ChoiceNone:
		s.params.ToolChoice.OfAuto = openai.String(string(r.Choice.Mode))
	}
	if r.Choice.Parallel != nil {
		s.params.ParallelToolCalls = openai.Bool(*r.Choice.Parallel)
	}
	return s
}

func (s *chatSession) settings(p utp.Params) {
	set(&s.params.Temperature, p.Temperature)
	set(&s.params.TopP, p.TopP)
	set(&s.params.Seed, p.Seed)
	s.params.MaxCompletionTokens = whole(p.MaxTokens)
	s.params.ReasoningEffort = shared.ReasoningEffort(p.Effort)
	if p.Stop != nil {
		s.params.Stop.OfStringArray = p.Stop
	}
	if p.Schema != nil {
		s.params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: object(p.Schema)},
		}
	}
}

var noArguments = json.RawMessage(`{"type":"object","properties":{}}`)

// set copies a value that may be missing into a field that may be omitted.
func set[T comparable](field *param.Opt[T], v *T) {
	if v != nil {
		*field = param.NewOpt(*v)
	}
}

func whole(n *int) (field param.Opt[int64]) {
	if n != nil {
		field = param.NewOpt(int64(*n))
	}
	return field
}

// object reads a JSON object; none is a schema without arguments, and one that
// cannot be read is told in the request.
func object(raw json.RawMessage) map[string]any {
	m := map[string]any{}
	if len(raw) == 0 {
		raw = noArguments
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		m["error"] = err.Error()
	}
	return m
}

func chatMessages(m utp.Message) (out []openai.ChatCompletionMessageParamUnion) {
	text, files := words(m)
	switch m.Role {
	case utp.RoleSystem:
		return append(out, openai.SystemMessage(text))
	case utp.RoleAssistant:
		return append(out, chatAssistant(m))
	case utp.RoleTool:
		for _, r := range m.Results() {
			out = append(out, openai.ToolMessage(r.Text(), r.CallID))
		}
		return out
	}
	if files == nil {
		return append(out, openai.UserMessage(text))
	}
	parts := []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(text)}
	for _, f := range files {
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: address(f)}))
	}
	return append(out, openai.UserMessage(parts))
}

// address is a file's URL, or its content as one.
func address(b utp.Blob) string {
	if b.URL != "" {
		return b.URL
	}
	return fmt.Sprintf("data:%s;base64,%s", b.MIME, base64.StdEncoding.EncodeToString(b.Data))
}

func chatAssistant(m utp.Message) openai.ChatCompletionMessageParamUnion {
	a := &openai.ChatCompletionAssistantMessageParam{}
	if text := m.Text(); text != "" {
		a.Content.OfString = openai.String(text)
	}
	for _, c := range m.Calls() {
		a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(c.Args)},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: a}
}

func (s *chatSession) ask(stream bool) (answer, error) {
	if stream {
		return s.askStream()
	}
	reply, err := s.client.Chat.Completions.New(context.Background(), s.params)
	if err != nil {
		return answer{}, err
	}
	if err := expected(reply, inChat...); err != nil {
		return answer{}, err
	}
	return s.keep(reply, reasoning(reply.Choices[0].Message.JSON.ExtraFields["reasoning_content"].Raw()))
}

func (s *chatSession) askStream() (answer, error) {
	s.params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := s.client.Chat.Completions.NewStreaming(context.Background(), s.params)
	defer stream.Close()
	var acc openai.ChatCompletionAccumulator
	think := ""
	for stream.Next() {
		chunk := stream.Current()
		if err := expected(chunk, inChat...); err != nil {
			return answer{}, err
		}
		if !acc.AddChunk(chunk) {
			return answer{}, fmt.Errorf("the accumulator refuses %s", chunk.RawJSON())
		}
		for _, c := range chunk.Choices {
			think += reasoning(c.Delta.JSON.ExtraFields["reasoning_content"].Raw())
		}
	}
	if err := stream.Err(); err != nil {
		return answer{}, err
	}
	if len(acc.Choices) == 0 {
		return answer{}, errors.New("the stream had no choice")
	}
	return s.keep(&acc.ChatCompletion, think)
}

// inChat are fields of other servers: where many put reasoning, where OpenRouter
// does, where Google puts what belongs to a call, and vLLM the stop sequence.
var inChat = []string{"reasoning_content", "reasoning_details", "extra_content", "stop_reason"}

func reasoning(raw string) string {
	if raw == "" {
		return ""
	}
	text, _ := value([]byte(raw)).(string)
	return text
}

func (s *chatSession) keep(reply *openai.ChatCompletion, think string) (answer, error) {
	m := reply.Choices[0].Message
	a := answer{Text: m.Content, Think: think, Stop: reply.Choices[0].FinishReason, In: int(reply.Usage.PromptTokens), Out: int(reply.Usage.CompletionTokens)}
	s.calls = nil
	for _, c := range m.ToolCalls {
		a.Calls = append(a.Calls, call{c.Function.Name, value([]byte(c.Function.Arguments))})
		s.calls = append(s.calls, c.ID)
	}
	s.params.Messages = append(s.params.Messages, m.ToParam())
	return a, distinct(s.calls)
}

func (s *chatSession) give(texts []string) {
	for i, text := range texts {
		s.params.Messages = append(s.params.Messages, openai.ToolMessage(text, s.calls[i]))
	}
}

var openaiKinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "server_error", 503: "server_error",
}

func openaiFault(err error) (fault, bool) {
	var e *openai.Error
	if !errors.As(err, &e) {
		return fault{}, false
	}
	return fault{e.StatusCode, e.Type, e.Message}, true
}

func openaiModels(url string) (ids []string, err error) {
	api := openaiAPI(url)
	page, err := api.Models.List(context.Background())
	if err != nil {
		return nil, err
	}
	for _, m := range page.Data {
		if err := expected(m); err != nil {
			return nil, err
		}
		ids = append(ids, m.ID)
	}
	return ids, nil
}

// distinct checks that ids can tell calls apart.
func distinct(ids []string) error {
	seen := map[string]bool{}
	for _, id := range ids {
		if id == "" || seen[id] {
			return fmt.Errorf("ids %q: want each once", ids)
		}
		seen[id] = true
	}
	return nil
}
