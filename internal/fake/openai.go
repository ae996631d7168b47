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

	Fingerprint string           `json:"system_fingerprint,omitempty"`
	Timings     *llamacppTimings `json:"timings,omitempty"`
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
	Thought   string       `json:"reasoning,omitempty"` // Ollama's name for it
	Calls     []openaiCall `json:"tool_calls,omitempty"`
}

type openaiMessage struct {
	Role      string       `json:"role"`
	Content   *string      `json:"content"`
	Reasoning string       `json:"reasoning_content,omitempty"`
	Thought   string       `json:"reasoning,omitempty"`
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
	Prompt        int              `json:"prompt_tokens"`
	Completion    int              `json:"completion_tokens"`
	Total         int              `json:"total_tokens"`
	PromptHow     *cachedTokens    `json:"prompt_tokens_details,omitempty"`
	CompletionHow *reasoningTokens `json:"completion_tokens_details,omitempty"`
}

type cachedTokens struct {
	Cached int `json:"cached_tokens"`
}

type reasoningTokens struct {
	Reasoning int `json:"reasoning_tokens"`
}

func (p *player) usage() *openaiUsage {
	n := p.turn.usage
	n.prompt = p.promptTokens()
	u := &openaiUsage{Prompt: n.prompt, Completion: n.completion, Total: n.prompt + n.completion}
	if p.voice != ollamaV1Voice {
		u.PromptHow = &cachedTokens{n.cached}
	}
	if p.voice == openaiVoice || p.voice == vllmVoice {
		u.CompletionHow = &reasoningTokens{n.reasoning}
	}
	return u
}

func (p *player) openaiReply(object string, choices ...openaiChoice) openaiReply {
	if choices == nil {
		choices = []openaiChoice{}
	}
	r := openaiReply{ID: "chatcmpl-123", Object: object, Created: createdUnix, Model: p.in.Model, Choices: choices}
	switch p.voice {
	case ollamaV1Voice:
		r.Fingerprint = "fp_ollama"
	case llamacppVoice: // answers with its alias, whatever it was asked for
		r.Model, r.Fingerprint = p.in.model.name, "b11434"
	}
	return r
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
	if err := p.opening(); err != nil {
		return err
	}
	for _, st := range p.turn.steps {
		if st.kind == "cut" {
			return cut(st)
		}
		if st.kind == "stream-error" {
			return p.frame((&refusal{message: st.text}).body(p.voice))
		}
		for _, d := range p.deltas(st) {
			if err := p.delta(d, nil); err != nil {
				return err
			}
		}
	}
	return p.openaiEnd()
}

// opening is the first frame: llama-server's content is null there.
func (p *player) opening() error {
	if p.voice == llamacppVoice {
		first := nullDelta{Role: "assistant"}
		return p.frame(nullReply{p.openaiReply("chat.completion.chunk"), []nullChoice{{Delta: first}}})
	}
	empty := ""
	return p.delta(openaiDelta{Role: "assistant", Content: &empty}, nil)
}

type nullReply struct {
	openaiReply
	Choices []nullChoice `json:"choices"`
}

type nullChoice struct {
	Index  int       `json:"index"`
	Delta  nullDelta `json:"delta"`
	Finish *string   `json:"finish_reason"`
}

type nullDelta struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
}

func (p *player) openaiEnd() error {
	end := p.openaiReply("chat.completion.chunk", openaiChoice{Delta: &openaiDelta{}, Finish: p.finishReason()})
	if p.in.StreamOptions.IncludeUsage {
		if err := p.frame(end); err != nil {
			return err
		}
		end = p.openaiReply("chat.completion.chunk")
		end.Usage = p.usage()
	}
	end.Timings = p.timings()
	if err := p.frame(end); err != nil {
		return err
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
			out = append(out, p.musing(s))
		}
	case "call":
		out = p.callDeltas(st)
	}
	return out
}

// musing is a piece of reasoning.
func (p *player) musing(s string) openaiDelta {
	if p.voice == ollamaV1Voice {
		return openaiDelta{Thought: s}
	}
	return openaiDelta{Reasoning: s}
}

// argumentPiece is about as much as llama-server puts into a frame of a call.
const argumentPiece = 4

// callDeltas are a call's frames: its id and name come first, and its arguments
// in pieces. Ollama's calls are whole; llama-server's arguments begin in the
// first frame and then come a few characters at a time.
func (p *player) callDeltas(st step) []openaiDelta {
	index := p.calls
	head := openaiCall{Index: &index, ID: p.id(st), Type: "function", Function: openaiFunction{Name: st.name}}
	rest := pieces(st.text, p.script.Chunk)
	switch p.voice {
	case ollamaV1Voice:
		head.Function.Arguments, rest = st.text, nil
	case llamacppVoice:
		size := argumentPiece
		if p.script.Chunk > 0 {
			size = p.script.Chunk
		}
		if rest = pieces(st.text, size); len(rest) > 0 {
			head.Function.Arguments, rest = rest[0], rest[1:]
		}
	}
	out := []openaiDelta{{Calls: []openaiCall{head}}}
	for _, s := range rest {
		out = append(out, openaiDelta{Calls: []openaiCall{{Index: &index, Function: openaiFunction{Arguments: s}}}})
	}
	return out
}

func (p *player) openaiWhole() openaiReply {
	text := p.joined("text")
	musing := p.musing(p.joined("think"))
	m := &openaiMessage{Role: "assistant", Content: &text, Reasoning: musing.Reasoning, Thought: musing.Thought}
	for _, st := range p.turn.steps {
		if st.kind == "call" {
			index := p.calls
			one := openaiCall{ID: p.id(st), Type: "function", Function: openaiFunction{st.name, st.text}}
			if p.voice == ollamaV1Voice {
				one.Index = &index
			}
			m.Calls = append(m.Calls, one)
		}
	}
	if text == "" && len(m.Calls) > 0 && p.voice != ollamaV1Voice {
		m.Content = nil
	}
	r := p.openaiReply("chat.completion", openaiChoice{Message: m, Finish: p.finishReason()})
	r.Usage, r.Timings = p.usage(), p.timings()
	return r
}
