package sdktest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/unifiedtoolprotocol/utp"
)

var responsesSDK = &sdk{
	name: "go responses", api: "responses", begin: beginResponses, counts: all,
	stops:  map[utp.Stop]string{utp.StopEnd: "completed", utp.StopTool: "completed", utp.StopLength: "incomplete", utp.StopSequence: "completed", utp.StopFilter: "incomplete"},
	params: func(p *utp.Params) { p.TopK, p.Context, p.Seed, p.Stop = nil, nil, nil, nil },
	models: openaiModels, fault: openaiFault, kinds: openaiKinds, tokens: responsesTokens,
}

type responsesSession struct {
	client openai.Client
	params responses.ResponseNewParams
	input  responses.ResponseInputParam
	calls  []string
	custom map[string]bool   // of calls
	last   param.Opt[string] // id of the last reply
}

func beginResponses(url string, r *utp.Request) session {
	s := &responsesSession{client: openaiAPI(url)}
	s.params.Model = r.Model
	custom := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range m.Calls() {
			custom[c.ID] = c.Kind == utp.CustomCall
		}
		s.input = append(s.input, responsesItems(m, custom)...)
	}
	for _, t := range r.Tools {
		if t.Kind == utp.CustomTool {
			s.params.Tools = append(s.params.Tools, responses.ToolUnionParam{OfCustom: &responses.CustomToolParam{Name: t.Name, Description: openai.String(t.Description)}})
			continue
		}
		s.params.Tools = append(s.params.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: object(t.Schema), Strict: openai.Bool(false),
		}})
	}
	s.settings(r.Params)
	switch r.Choice.Mode {
	case utp.ChoiceRequired, utp.ChoiceNone:
		s.params.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptions(r.Choice.Mode))
	}
	if r.Choice.Parallel != nil {
		s.params.ParallelToolCalls = openai.Bool(*r.Choice.Parallel)
	}
	return s
}

func (s *responsesSession) settings(p utp.Params) {
	set(&s.params.Temperature, p.Temperature)
	set(&s.params.TopP, p.TopP)
	s.params.MaxOutputTokens = whole(p.MaxTokens)
	s.params.Reasoning.Effort = shared.ReasoningEffort(p.Effort)
	if p.Schema != nil {
		s.params.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "answer", Schema: object(p.Schema)}
	}
}

// responsesItems tells the results of custom calls from those of others.
func responsesItems(m utp.Message, custom map[string]bool) (out []responses.ResponseInputItemUnionParam) {
	text, files := words(m)
	switch {
	case m.Role == utp.RoleTool:
		for _, r := range m.Results() {
			out = append(out, responsesResult(r, custom[r.CallID]))
		}
		return out
	case files != nil:
		content := responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText(text)}
		for _, f := range files {
			content = append(content, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String(address(f)), Detail: "auto"}})
		}
		return append(out, responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRole(m.Role)))
	case text != "":
		out = append(out, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRole(m.Role)))
	}
	for _, c := range m.Calls() {
		if custom[c.ID] {
			out = append(out, responses.ResponseInputItemParamOfCustomToolCall(c.ID, c.RawArgs, c.Name))
			continue
		}
		out = append(out, responses.ResponseInputItemParamOfFunctionCall(string(c.Args), c.ID, c.Name))
	}
	return out
}

func responsesResult(r utp.Result, custom bool) responses.ResponseInputItemUnionParam {
	if custom {
		return responses.ResponseInputItemParamOfCustomToolCallOutput(r.CallID, r.Text())
	}
	item := responses.ResponseInputItemParamOfFunctionCallOutput(r.Text())
	if list := responsesFiles(r); list != nil {
		item = responses.ResponseInputItemParamOfFunctionCallOutput(list)
	}
	item.OfFunctionCallOutput.CallID = openai.String(r.CallID)
	return item
}

func responsesFiles(r utp.Result) (list responses.ResponseFunctionCallOutputItemListParam) {
	text, files := words(utp.Message{Parts: r.Parts})
	if files == nil {
		return nil
	}
	if text != "" {
		list = append(list, responses.ResponseFunctionCallOutputItemParamOfInputText(text))
	}
	for _, f := range files {
		item := responses.ResponseFunctionCallOutputItemUnionParam{}
		if strings.HasPrefix(f.MIME, "image/") {
			item.OfInputImage = &responses.ResponseInputImageContentParam{ImageURL: openai.String(address(f))}
		} else {
			item.OfInputFile = &responses.ResponseInputFileContentParam{FileData: openai.String(address(f)), Filename: openai.String(f.Name)}
		}
		list = append(list, item)
	}
	return list
}

// inResponses are fields of which this SDK and the API think differently: the
// API sends store, access_programs to those who have them, and in
// response.function_call_arguments.done a name, which the npm SDK has.
var inResponses = []string{"store", "access_programs", "name"}

func (s *responsesSession) ask(stream bool) (answer, error) {
	s.params.Input.OfInputItemList = s.input
	if stream {
		return s.askStream()
	}
	reply, err := s.client.Responses.New(context.Background(), s.params)
	if err != nil {
		return answer{}, err
	}
	if err := expected(reply, inResponses...); err != nil {
		return answer{}, err
	}
	return s.keep(reply)
}

// askStream takes the reply from the last event, and checks that the events
// before it said the same.
func (s *responsesSession) askStream() (answer, error) {
	stream := s.client.Responses.NewStreaming(context.Background(), s.params)
	defer stream.Close()
	var last *responses.Response
	var text string
	items := 0
	for n := int64(0); stream.Next(); n++ {
		e := stream.Current()
		if err := expected(e.AsAny(), inResponses...); err != nil {
			return answer{}, fmt.Errorf("%s: %w", e.Type, err)
		}
		if e.SequenceNumber != n {
			return answer{}, fmt.Errorf("%s has number %d, want %d", e.Type, e.SequenceNumber, n)
		}
		switch e := e.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseOutputItemDoneEvent:
			items++
		case responses.ResponseCompletedEvent:
			last = &e.Response
		case responses.ResponseIncompleteEvent:
			last = &e.Response
		case responses.ResponseFailedEvent:
			return answer{}, errors.New(e.Response.Error.Message)
		case nil:
			return answer{}, errors.New("an event that the SDK does not know")
		}
	}
	if err := stream.Err(); err != nil {
		return answer{}, err
	}
	if last == nil {
		return answer{}, errors.New("the stream had no end")
	}
	if text != last.OutputText() || items != len(last.Output) {
		return answer{}, fmt.Errorf("the deltas say %q and %d items, the last event %q and %d", text, items, last.OutputText(), len(last.Output))
	}
	return s.keep(last)
}

func (s *responsesSession) keep(reply *responses.Response) (answer, error) {
	a := answer{Text: reply.OutputText(), Stop: string(reply.Status), In: int(reply.Usage.InputTokens), Out: int(reply.Usage.OutputTokens)}
	s.custom = map[string]bool{}
	s.calls, s.last = nil, openai.String(reply.ID)
	for _, item := range reply.Output {
		var next responses.ResponseInputItemUnionParam
		switch item := item.AsAny().(type) {
		case responses.ResponseOutputMessage:
			p := item.ToParam()
			next.OfOutputMessage = &p
		case responses.ResponseFunctionToolCall:
			p := item.ToParam()
			next.OfFunctionCall = &p
			a.Calls = append(a.Calls, call{item.Name, value([]byte(item.Arguments))})
			s.calls = append(s.calls, item.CallID)
		case responses.ResponseCustomToolCall:
			p := item.ToParam()
			next.OfCustomToolCall = &p
			a.Calls = append(a.Calls, call{item.Name, map[string]any{"input": item.Input}})
			s.calls = append(s.calls, item.CallID)
			s.custom[item.CallID] = true
		case responses.ResponseReasoningItem:
			p := item.ToParam()
			next.OfReasoning = &p
			for _, part := range item.Summary {
				a.Think += part.Text
			}
			for _, part := range item.Content {
				a.Think += part.Text
			}
		default:
			return a, fmt.Errorf("an item of type %T", item)
		}
		s.input = append(s.input, next)
	}
	return a, distinct(s.calls)
}

func (s *responsesSession) give(texts []string) {
	for i, text := range texts {
		s.input = append(s.input, responsesResult(utp.Result{CallID: s.calls[i], Parts: []utp.Part{utp.Text{Text: text}}}, s.custom[s.calls[i]]))
	}
}

func responsesTokens(url string, r *utp.Request) (int, error) {
	s := beginResponses(url, r).(*responsesSession)
	n, err := s.client.Responses.InputTokens.Count(context.Background(), responses.InputTokenCountParams{
		Model: openai.String(r.Model), Input: responses.InputTokenCountParamsInputUnion{OfResponseInputItemArray: s.input}, Tools: s.params.Tools,
	})
	if err != nil {
		return 0, err
	}
	return int(n.InputTokens), expected(n)
}
