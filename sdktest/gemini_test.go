package sdktest

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/genai"

	"github.com/unifiedtoolprotocol/utp"
)

var geminiSDK = &sdk{
	name: "go gemini", api: "gemini", begin: beginGemini, counts: all, errors: true,
	stops:  map[utp.Stop]string{utp.StopEnd: "STOP", utp.StopTool: "STOP", utp.StopLength: "MAX_TOKENS", utp.StopSequence: "STOP", utp.StopFilter: "SAFETY"},
	params: func(p *utp.Params) { p.Context = nil },
	models: geminiModels, fault: geminiFault, tokens: geminiTokens,
	kinds: map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
	},
	lacks: map[string]string{"choice_one": "no field says it", "names": "names longer than 64 characters are refused", "custom_tool": noCustom},
}

type geminiSession struct {
	client   *genai.Client
	err      error
	model    string
	contents []*genai.Content
	config   *genai.GenerateContentConfig
	calls    []*genai.FunctionCall
}

func geminiAPI(url string) (*genai.Client, error) {
	one := int32(1)
	return genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: url, RetryOptions: &genai.HTTPRetryOptions{Attempts: &one}},
	})
}

func beginGemini(url string, r *utp.Request) session {
	s := &geminiSession{model: r.Model, config: &genai.GenerateContentConfig{}}
	s.client, s.err = geminiAPI(url)
	for _, m := range r.Messages {
		s.add(m)
	}
	for _, t := range r.Tools {
		f := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description, ParametersJsonSchema: object(t.Schema)}
		s.config.Tools = append(s.config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{f}})
	}
	s.settings(r.Params)
	modes := map[utp.ChoiceMode]genai.FunctionCallingConfigMode{utp.ChoiceRequired: genai.FunctionCallingConfigModeAny, utp.ChoiceNone: genai.FunctionCallingConfigModeNone}
	if mode := modes[r.Choice.Mode]; mode != "" {
		s.config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: mode}}
	}
	return s
}

func (s *geminiSession) settings(p utp.Params) {
	single := func(v *float64) *float32 {
		if v == nil {
			return nil
		}
		return genai.Ptr(float32(*v))
	}
	s.config.Temperature, s.config.TopP, s.config.StopSequences = single(p.Temperature), single(p.TopP), p.Stop
	if p.TopK != nil {
		s.config.TopK = genai.Ptr(float32(*p.TopK))
	}
	if p.MaxTokens != nil {
		s.config.MaxOutputTokens = int32(*p.MaxTokens)
	}
	if p.Seed != nil {
		s.config.Seed = genai.Ptr(int32(*p.Seed))
	}
	if p.Effort != "" {
		s.config.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true, ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(p.Effort))}
	}
	if p.Schema != nil {
		s.config.ResponseMIMEType, s.config.ResponseJsonSchema = "application/json", object(p.Schema)
	}
}

// add puts a message into the request: the results of a turn go into one.
func (s *geminiSession) add(m utp.Message) {
	var parts []*genai.Part
	for _, p := range m.Parts {
		parts = append(parts, geminiParts(p)...)
	}
	last := len(s.contents) - 1
	switch {
	case m.Role == utp.RoleSystem:
		s.config.SystemInstruction = genai.NewContentFromParts(parts, genai.RoleUser)
	case m.Role == utp.RoleAssistant:
		s.contents = append(s.contents, genai.NewContentFromParts(parts, genai.RoleModel))
	case last >= 0 && s.contents[last].Role == genai.RoleUser:
		s.contents[last].Parts = append(s.contents[last].Parts, parts...)
	default:
		s.contents = append(s.contents, genai.NewContentFromParts(parts, genai.RoleUser))
	}
}

func geminiParts(p utp.Part) []*genai.Part {
	switch p := p.(type) {
	case utp.Text:
		return []*genai.Part{genai.NewPartFromText(p.Text)}
	case utp.Call:
		part := genai.NewPartFromFunctionCall(p.Name, object(p.Args))
		part.FunctionCall.ID = p.ID
		return []*genai.Part{part}
	case utp.Result:
		return []*genai.Part{geminiResult(p)}
	case utp.Blob:
		if p.URL != "" {
			return []*genai.Part{genai.NewPartFromURI(p.URL, p.MIME)}
		}
		return []*genai.Part{genai.NewPartFromBytes(p.Data, p.MIME)}
	}
	return nil
}

func geminiResult(r utp.Result) *genai.Part {
	key := "output"
	if r.Status != utp.StatusOK {
		key = "error"
	}
	part := genai.NewPartFromFunctionResponse(r.Name, map[string]any{key: r.Text()})
	part.FunctionResponse.ID = r.CallID
	for _, p := range r.Parts {
		if b, ok := p.(utp.Blob); ok {
			part.FunctionResponse.Parts = append(part.FunctionResponse.Parts, genai.NewFunctionResponsePartFromBytes(b.Data, b.MIME))
		}
	}
	return part
}

func (s *geminiSession) ask(stream bool) (answer, error) {
	if s.err != nil {
		return answer{}, s.err
	}
	var replies []*genai.GenerateContentResponse
	if stream {
		for reply, err := range s.client.Models.GenerateContentStream(context.Background(), s.model, s.contents, s.config) {
			if err != nil {
				return answer{}, err
			}
			replies = append(replies, reply)
		}
		return s.keep(replies)
	}
	reply, err := s.client.Models.GenerateContent(context.Background(), s.model, s.contents, s.config)
	if err != nil {
		return answer{}, err
	}
	return s.keep(append(replies, reply))
}

func (s *geminiSession) keep(replies []*genai.GenerateContentResponse) (a answer, err error) {
	content := &genai.Content{Role: genai.RoleModel}
	s.calls = nil
	for _, r := range replies {
		if len(r.Candidates) != 1 {
			return a, errors.New("not one candidate")
		}
		c := r.Candidates[0]
		if c.FinishReason != "" {
			a.Stop = string(c.FinishReason)
		}
		if u := r.UsageMetadata; u != nil {
			a.In, a.Out = int(u.PromptTokenCount), int(u.CandidatesTokenCount+u.ThoughtsTokenCount)
		}
		if c.Content != nil {
			content.Parts = append(content.Parts, c.Content.Parts...)
		}
	}
	for _, p := range content.Parts {
		switch {
		case p.FunctionCall != nil:
			a.Calls = append(a.Calls, call{p.FunctionCall.Name, arguments(p.FunctionCall.Args)})
			s.calls = append(s.calls, p.FunctionCall)
		case p.Thought:
			a.Think += p.Text
		default:
			a.Text += p.Text
		}
	}
	s.contents = append(s.contents, content)
	return a, nil
}

// arguments are never nil: the SDK leaves out an empty object.
func arguments(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func (s *geminiSession) give(texts []string) {
	var parts []*genai.Part
	for i, text := range texts {
		part := genai.NewPartFromFunctionResponse(s.calls[i].Name, map[string]any{"output": text})
		part.FunctionResponse.ID = s.calls[i].ID
		parts = append(parts, part)
	}
	s.contents = append(s.contents, genai.NewContentFromParts(parts, genai.RoleUser))
}

func geminiFault(err error) (fault, bool) {
	var e genai.APIError
	if !errors.As(err, &e) {
		return fault{}, false
	}
	return fault{e.Code, e.Status, e.Message}, true
}

func geminiModels(url string) (ids []string, err error) {
	api, err := geminiAPI(url)
	if err != nil {
		return nil, err
	}
	for m, err := range api.Models.All(context.Background()) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.TrimPrefix(m.Name, "models/"))
	}
	return ids, nil
}

func geminiTokens(url string, r *utp.Request) (int, error) {
	s := beginGemini(url, r).(*geminiSession)
	n, err := s.client.Models.CountTokens(context.Background(), s.model, s.contents, nil)
	if err != nil {
		return 0, err
	}
	return int(n.TotalTokens), nil
}
