package ollama

import "github.com/unifiedtoolprotocol/utp/wire/internal/shape"

// requestJSON is the body of /api/chat, and what /api/generate has in common with it.
type requestJSON struct {
	Model    string        `json:"model"`
	Messages []shape.Value `json:"messages"`
	Tools    []shape.Value `json:"tools,omitempty"`
	Stream   *bool         `json:"stream,omitempty"` // nil is true
	Think    shape.Value   `json:"think,omitzero"`   // true, false or a level
	Format   shape.Value   `json:"format,omitzero"`  // "json" or a schema
	Options  shape.Value   `json:"options,omitzero"`
	Rest     shape.Fields  `json:"-"`
}

// promptJSON is what /api/generate has in place of messages.
type promptJSON struct {
	Prompt   string        `json:"prompt,omitempty"`
	System   string        `json:"system,omitempty"`
	Images   []shape.Value `json:"images,omitempty"`
	Suffix   string        `json:"suffix,omitempty"`
	Template string        `json:"template,omitempty"`
	Context  shape.Value   `json:"context,omitzero"` // tokens of an earlier reply
	Raw      bool          `json:"raw,omitempty"`
}

type optionsJSON struct {
	NumCtx      *int         `json:"num_ctx,omitempty"`
	NumPredict  *int         `json:"num_predict,omitempty"`
	Temperature *float64     `json:"temperature,omitempty"`
	TopP        *float64     `json:"top_p,omitempty"`
	TopK        *int         `json:"top_k,omitempty"`
	Seed        *int64       `json:"seed,omitempty"`
	Stop        shape.Value  `json:"stop,omitzero"`
	Presence    *float64     `json:"presence_penalty,omitempty"`
	Frequency   *float64     `json:"frequency_penalty,omitempty"`
	Rest        shape.Fields `json:"-"`
}

// messageJSON always has a content: the templates want a string.
type messageJSON struct {
	Role       string        `json:"role"`
	Content    string        `json:"content"`
	Thinking   string        `json:"thinking,omitempty"`
	Images     []shape.Value `json:"images,omitempty"` // base64
	ToolCalls  []shape.Value `json:"tool_calls,omitempty"`
	ToolName   string        `json:"tool_name,omitempty"`
	ToolCallID string        `json:"tool_call_id,omitempty"`
	Rest       shape.Fields  `json:"-"`
}

type callJSON struct {
	ID       string       `json:"id,omitempty"`
	Function functionJSON `json:"function"`
	Rest     shape.Fields `json:"-"`
}

type functionJSON struct {
	Index     int         `json:"index"`
	Name      string      `json:"name"`
	Arguments shape.Value `json:"arguments"` // an object; a text is refused
}

// replyJSON is a line of the stream, or a whole reply: the same with done set.
// One of /api/generate has a response in place of the message.
type replyJSON struct {
	Model    shape.Loose  `json:"model"`
	Created  shape.Loose  `json:"created_at"`
	Message  shape.Value  `json:"message,omitzero"`
	Response *shape.Loose `json:"response,omitempty"`
	Thinking shape.Loose  `json:"thinking,omitempty"`
	Done     bool         `json:"done"`
	Reason   shape.Loose  `json:"done_reason,omitempty"`
	Error    shape.Value  `json:"error,omitzero"`

	// Of the last line. Durations are in nanoseconds.
	Total          shape.LooseInt `json:"total_duration,omitempty"`
	Load           shape.LooseInt `json:"load_duration,omitempty"`
	Prompt         shape.LooseInt `json:"prompt_eval_count,omitempty"` // absent when all of the prompt was cached
	PromptDuration shape.LooseInt `json:"prompt_eval_duration,omitempty"`
	Eval           shape.LooseInt `json:"eval_count,omitempty"`
	EvalDuration   shape.LooseInt `json:"eval_duration,omitempty"`
	Rest           shape.Fields   `json:"-"`
}

// looseMessage is the message of a reply, of which anything may be missing.
type looseMessage struct {
	Role      shape.Loose   `json:"role,omitempty"`
	Content   shape.Value   `json:"content"`
	Thinking  shape.Value   `json:"thinking,omitzero"`
	Images    []shape.Value `json:"images,omitempty"`
	ToolCalls shape.Value   `json:"tool_calls,omitzero"`
	Rest      shape.Fields  `json:"-"`
}

type errorJSON struct {
	Error string `json:"error"`
}

var (
	ofRequest = shape.Of[requestJSON]()
	ofPrompt  = shape.Of[promptJSON]()
	ofOptions = shape.Of[optionsJSON]()
	ofMessage = shape.Of[messageJSON]()
	ofCall    = shape.Of[callJSON]()
	ofReply   = shape.Of[replyJSON]()
	ofDelta   = shape.Of[looseMessage]()
	ofShow    = shape.Of[showRequest]()
)
