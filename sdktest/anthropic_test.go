package sdktest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	aparam "github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/unifiedtoolprotocol/utp"
)

var anthropicSDK = &sdk{
	name: "go anthropic", api: "anthropic", begin: beginAnthropic, errors: true, lacks: map[string]string{"custom_tool": noCustom},
	stops:  map[utp.Stop]string{utp.StopEnd: "end_turn", utp.StopTool: "tool_use", utp.StopLength: "max_tokens", utp.StopSequence: "stop_sequence", utp.StopFilter: "refusal"},
	counts: func(u utp.Usage) (in, out int) { return u.Input, u.Completion() },
	params: func(p *utp.Params) { p.Context, p.Seed = nil, nil },
	models: anthropicModels, fault: anthropicFault, tokens: anthropicTokens,
	kinds: map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
	},
}

type anthropicSession struct {
	client anthropic.Client
	params anthropic.MessageNewParams
	calls  []string
}

func anthropicAPI(url string) anthropic.Client {
	return anthropic.NewClient(option.WithAPIKey("key"), option.WithBaseURL(url), option.WithMaxRetries(0))
}

func beginAnthropic(url string, r *utp.Request) session {
	s := &anthropicSession{client: anthropicAPI(url)}
	s.params.Model, s.params.MaxTokens = anthropic.Model(r.Model), 8000
	for _, m := range r.Messages {
		s.add(m)
	}
	for _, t := range r.Tools {
		s.params.Tools = append(s.params.Tools, anthropic.ToolUnionParam{OfTool: anthropicTool(t)})
	}
	s.settings(r.Params)
	s.choose(r.Choice)
	return s
}

// anthropicTool gives the schema as the SDK wants it: in its known pieces.
func anthropicTool(t utp.Tool) *anthropic.ToolParam {
	schema := anthropic.ToolInputSchemaParam{ExtraFields: map[string]any{}}
	for k, v := range object(t.Schema) {
		switch k {
		case "type":
		case "properties":
			schema.Properties = v
		case "required":
			for _, name := range v.([]any) {
				schema.Required = append(schema.Required, name.(string))
			}
		default:
			schema.ExtraFields[k] = v
		}
	}
	return &anthropic.ToolParam{Name: t.Name, Description: anthropic.String(t.Description), InputSchema: schema}
}

func (s *anthropicSession) settings(p utp.Params) {
	if p.MaxTokens != nil {
		s.params.MaxTokens = int64(*p.MaxTokens)
	}
	if p.Temperature != nil {
		s.params.Temperature = anthropic.Float(*p.Temperature)
	}
	if p.TopP != nil {
		s.params.TopP = anthropic.Float(*p.TopP)
	}
	if p.TopK != nil {
		s.params.TopK = anthropic.Int(int64(*p.TopK))
	}
	s.params.StopSequences = p.Stop
	if p.Effort != "" {
		s.params.OutputConfig.Effort = anthropic.OutputConfigEffort(p.Effort)
		s.params.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{}
	}
	if p.Schema != nil {
		s.params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: object(p.Schema)}
	}
}

func (s *anthropicSession) choose(c utp.Choice) {
	var one aparam.Opt[bool]
	if c.Parallel != nil {
		one = anthropic.Bool(!*c.Parallel)
	}
	switch {
	case c.Mode == utp.ChoiceRequired:
		s.params.ToolChoice.OfAny = &anthropic.ToolChoiceAnyParam{DisableParallelToolUse: one}
	case c.Mode == utp.ChoiceNone:
		s.params.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
	case c.Parallel != nil:
		s.params.ToolChoice.OfAuto = &anthropic.ToolChoiceAutoParam{DisableParallelToolUse: one}
	}
}

// add puts a message into the request: the results of a turn go into one.
func (s *anthropicSession) add(m utp.Message) {
	blocks := anthropicBlocks(m.Parts)
	last := len(s.params.Messages) - 1
	switch {
	case m.Role == utp.RoleSystem:
		s.params.System = append(s.params.System, anthropic.TextBlockParam{Text: m.Text()})
	case m.Role == utp.RoleAssistant:
		s.params.Messages = append(s.params.Messages, anthropic.NewAssistantMessage(blocks...))
	case last >= 0 && s.params.Messages[last].Role == anthropic.MessageParamRoleUser:
		s.params.Messages[last].Content = append(s.params.Messages[last].Content, blocks...)
	default:
		s.params.Messages = append(s.params.Messages, anthropic.NewUserMessage(blocks...))
	}
}

func anthropicBlocks(parts []utp.Part) (out []anthropic.ContentBlockParamUnion) {
	for _, p := range parts {
		switch p := p.(type) {
		case utp.Text:
			out = append(out, anthropic.NewTextBlock(p.Text))
		case utp.Call:
			out = append(out, anthropic.NewToolUseBlock(p.ID, p.Args, p.Name))
		case utp.Blob:
			out = append(out, anthropic.ContentBlockParamUnion{OfImage: anthropicImage(p)})
		case utp.Result:
			out = append(out, anthropicResult(p))
		}
	}
	return out
}

func anthropicImage(b utp.Blob) *anthropic.ImageBlockParam {
	if b.URL != "" {
		return anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: b.URL}).OfImage
	}
	return anthropic.NewImageBlockBase64(b.MIME, base64.StdEncoding.EncodeToString(b.Data)).OfImage
}

func anthropicResult(r utp.Result) anthropic.ContentBlockParamUnion {
	block := anthropic.NewToolResultBlock(r.CallID, r.Text(), r.Status != utp.StatusOK)
	_, files := words(utp.Message{Parts: r.Parts})
	if files != nil && r.Text() == "" {
		block.OfToolResult.Content = nil
	}
	for _, f := range files {
		item := anthropic.ToolResultBlockParamContentUnion{}
		if strings.HasPrefix(f.MIME, "image/") {
			item.OfImage = anthropicImage(f)
		} else {
			source := anthropic.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(f.Data)}
			item.OfDocument = anthropic.NewDocumentBlock(source).OfDocument
		}
		block.OfToolResult.Content = append(block.OfToolResult.Content, item)
	}
	return block
}

// inMessages are what the API tells of its own machinery. The SDK's types
// require them, though the API does not send them all.
var inMessages = []string{
	"container", "diagnostics", "stop_details",
	"cache_creation", "inference_geo", "output_tokens_details", "server_tool_use", "service_tier", "speed",
}

func (s *anthropicSession) ask(stream bool) (answer, error) {
	if stream {
		return s.askStream()
	}
	reply, err := s.client.Messages.New(context.Background(), s.params)
	if err != nil {
		return answer{}, err
	}
	if err := expected(reply, inMessages...); err != nil {
		return answer{}, err
	}
	return s.keep(reply)
}

func (s *anthropicSession) askStream() (answer, error) {
	stream := s.client.Messages.NewStreaming(context.Background(), s.params)
	defer stream.Close()
	var reply anthropic.Message
	ended := false
	for stream.Next() {
		e := stream.Current()
		if e.AsAny() == nil {
			return answer{}, fmt.Errorf("an event that the SDK does not know: %s", e.RawJSON())
		}
		if err := expected(e.AsAny(), inMessages...); err != nil {
			return answer{}, fmt.Errorf("%s: %w", e.Type, err)
		}
		if err := reply.Accumulate(e); err != nil {
			return answer{}, err
		}
		ended = e.Type == "message_stop"
	}
	if err := stream.Err(); err != nil {
		return answer{}, err
	}
	if !ended {
		return answer{}, errors.New("the stream had no end")
	}
	return s.keep(&reply)
}

func (s *anthropicSession) keep(reply *anthropic.Message) (answer, error) {
	a := answer{Stop: string(reply.StopReason), In: int(reply.Usage.InputTokens), Out: int(reply.Usage.OutputTokens)}
	s.calls = nil
	for _, b := range reply.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			a.Text += b.Text
		case anthropic.ThinkingBlock:
			a.Think += b.Thinking
		case anthropic.ToolUseBlock:
			a.Calls = append(a.Calls, call{b.Name, value(b.Input)})
			s.calls = append(s.calls, b.ID)
		default:
			return a, fmt.Errorf("a block of type %T", b)
		}
	}
	s.params.Messages = append(s.params.Messages, reply.ToParam())
	return a, distinct(s.calls)
}

func (s *anthropicSession) give(texts []string) {
	var blocks []anthropic.ContentBlockParamUnion
	for i, text := range texts {
		blocks = append(blocks, anthropic.NewToolResultBlock(s.calls[i], text, false))
	}
	s.params.Messages = append(s.params.Messages, anthropic.NewUserMessage(blocks...))
}

func anthropicFault(err error) (fault, bool) {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return fault{}, false
	}
	var body struct{ Error struct{ Message string } }
	if err := json.Unmarshal([]byte(e.RawJSON()), &body); err != nil {
		return fault{}, false
	}
	return fault{e.StatusCode, string(e.Type()), body.Error.Message}, true
}

func anthropicModels(url string) (ids []string, err error) {
	api := anthropicAPI(url)
	pages := api.Models.ListAutoPaging(context.Background(), anthropic.ModelListParams{})
	for pages.Next() {
		ids = append(ids, pages.Current().ID)
	}
	return ids, pages.Err()
}

func anthropicTokens(url string, r *utp.Request) (int, error) {
	s := beginAnthropic(url, r).(*anthropicSession)
	params := anthropic.MessageCountTokensParams{Model: s.params.Model, Messages: s.params.Messages}
	for _, t := range s.params.Tools {
		params.Tools = append(params.Tools, anthropic.MessageCountTokensToolUnionParam{OfTool: t.OfTool})
	}
	n, err := s.client.Messages.CountTokens(context.Background(), params)
	if err != nil {
		return 0, err
	}
	return int(n.InputTokens), expected(n)
}
