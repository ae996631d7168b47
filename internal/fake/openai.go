package fake

// Shapes of chat completions. Source: OpenAI API reference, "Chat", and for
// reasoning_content the servers of DeepSeek, llama.cpp and vLLM.

const createdUnix = 1787306400

type openaiReply struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []openaiChoice `json:"choices"`
	Usage   *openaiUsage   `json:"usage,omitempty"`
}

type openaiChoice struct {
	Index   int            `json:"index"`
	Delta   *openaiDelta   `json:"delta,omitempty"`
	Message *openaiMessage `json:"message,omitempty"`
	Finish  *string        `json:"finish_reason"`
}

type openaiDelta struct {
	Role      string       `json:"role,omitempty"`
	Content   *string      `json:"content,omitempty"`
	Reasoning string       `json:"reasoning_content,omitempty"`
	Calls     []openaiCall `json:"tool_calls,omitempty"`
}

type openaiMessage struct {
	Role      string       `json:"role"`
	Content   *string      `json:"content"`
	Reasoning string       `json:"reasoning_content,omitempty"`
	Calls     []openaiCall `json:"tool_calls,omitempty"`
}

type openaiCall struct {
	Index    *int           `json:"index,omitempty"`
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function openaiFunction `json:"function"`
}

type openaiFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type openaiUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	PromptHow  struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionHow struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (p *player) usage() *openaiUsage {
	n := p.turn.usage
	u := &openaiUsage{Prompt: n.prompt, Completion: n.completion, Total: n.prompt + n.completion}
	u.PromptHow.Cached, u.CompletionHow.Reasoning = n.cached, n.reasoning
	return u
}

func (p *player) openaiReply(object string, choices ...openaiChoice) openaiReply {
	if choices == nil {
		choices = []openaiChoice{}
	}
	return openaiReply{ID: "chatcmpl-123", Object: object, Created: createdUnix, Model: p.in.Model, Choices: choices}
}

func (p *player) finishReason() *string {
	reason := p.turn.stop
	switch {
	case reason != "":
	case p.calls > 0:
		reason = "tool_calls"
	default:
		reason = "stop"
	}
	return &reason
}

func (p *player) delta(d openaiDelta, finish *string) error {
	return p.frame(p.openaiReply("chat.completion.chunk", openaiChoice{Delta: &d, Finish: finish}))
}

func (p *player) openaiStream() error {
	empty := ""
	if err := p.delta(openaiDelta{Role: "assistant", Content: &empty}, nil); err != nil {
		return err
	}
	for _, st := range p.turn.steps {
		if st.kind == "cut" {
			return cut(st)
		}
		if st.kind == "stream-error" {
			return p.frame(errorBody(openaiAPI, 0, "", st.text))
		}
		for _, d := range p.deltas(st) {
			if err := p.delta(d, nil); err != nil {
				return err
			}
		}
	}
	return p.openaiEnd()
}

func (p *player) openaiEnd() error {
	if err := p.delta(openaiDelta{}, p.finishReason()); err != nil {
		return err
	}
	if p.in.StreamOptions.IncludeUsage {
		last := p.openaiReply("chat.completion.chunk")
		last.Usage = p.usage()
		if err := p.frame(last); err != nil {
			return err
		}
	}
	return p.write([]byte("data: [DONE]\n\n"))
}

func (p *player) deltas(st step) (out []openaiDelta) {
	switch st.kind {
	case "text":
		for _, s := range pieces(st.text, p.script.Chunk) {
			out = append(out, openaiDelta{Content: &s})
		}
	case "think":
		for _, s := range pieces(st.text, p.script.Chunk) {
			out = append(out, openaiDelta{Reasoning: s})
		}
	case "call":
		index := p.calls
		head := openaiCall{Index: &index, ID: p.id(st), Type: "function", Function: openaiFunction{Name: st.name}}
		out = append(out, openaiDelta{Calls: []openaiCall{head}})
		for _, s := range pieces(st.text, p.script.Chunk) {
			out = append(out, openaiDelta{Calls: []openaiCall{{Index: &index, Function: openaiFunction{Arguments: s}}}})
		}
	}
	return out
}

func (p *player) openaiWhole() openaiReply {
	text := p.joined("text")
	m := &openaiMessage{Role: "assistant", Content: &text, Reasoning: p.joined("think")}
	for _, st := range p.turn.steps {
		if st.kind == "call" {
			m.Calls = append(m.Calls, openaiCall{ID: p.id(st), Type: "function", Function: openaiFunction{st.name, st.text}})
		}
	}
	if text == "" && len(m.Calls) > 0 {
		m.Content = nil
	}
	r := p.openaiReply("chat.completion", openaiChoice{Message: m, Finish: p.finishReason()})
	r.Usage = p.usage()
	return r
}
