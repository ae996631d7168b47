package openai

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// requestJSON is the body of /v1/chat/completions.
type requestJSON struct {
	Model          string        `json:"model"`
	Messages       []shape.Value `json:"messages"`
	Tools          []shape.Value `json:"tools,omitempty"`
	ToolChoice     shape.Value   `json:"tool_choice,omitzero"`
	Functions      []shape.Value `json:"functions,omitempty"`    // the old form of tools
	FunctionCall   shape.Value   `json:"function_call,omitzero"` // the old form of tool_choice
	Parallel       *bool         `json:"parallel_tool_calls,omitempty"`
	Stream         bool          `json:"stream,omitempty"`
	StreamOptions  shape.Value   `json:"stream_options,omitzero"`
	MaxTokens      *int          `json:"max_tokens,omitempty"`
	MaxCompletion  *int          `json:"max_completion_tokens,omitempty"` // the newer name
	Temperature    *float64      `json:"temperature,omitempty"`
	TopP           *float64      `json:"top_p,omitempty"`
	TopK           *int          `json:"top_k,omitempty"`
	Seed           *int64        `json:"seed,omitempty"`
	RandomSeed     *int64        `json:"random_seed,omitempty"` // Mistral's name for it
	Stop           shape.Value   `json:"stop,omitzero"`         // a text or texts
	Presence       *float64      `json:"presence_penalty,omitempty"`
	Frequency      *float64      `json:"frequency_penalty,omitempty"`
	Effort         string        `json:"reasoning_effort,omitempty"`
	Reasoning      shape.Value   `json:"reasoning,omitzero"` // OpenRouter's form of it
	ResponseFormat shape.Value   `json:"response_format,omitzero"`
	User           string        `json:"user,omitempty"`
	Choices        *int          `json:"n,omitempty"`
	Rest           shape.Fields  `json:"-"`
}

type streamOptions struct {
	IncludeUsage bool         `json:"include_usage"`
	Rest         shape.Fields `json:"-"`
}

type formatJSON struct {
	Type   string       `json:"type"`
	Schema *schemaJSON  `json:"json_schema,omitempty"`
	Rest   shape.Fields `json:"-"`
}

type schemaJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Strict      *bool           `json:"strict,omitempty"`
	Rest        shape.Fields    `json:"-"`
}

type reasoningJSON struct {
	Effort string `json:"effort,omitempty"`
}

// choiceJSON is a tool_choice, or a tool in one.
type choiceJSON struct {
	Type     string       `json:"type"`
	Name     string       `json:"name,omitempty"` // where clients of other APIs put it
	Function *namedJSON   `json:"function,omitempty"`
	Custom   *namedJSON   `json:"custom,omitempty"`
	Allowed  *allowedJSON `json:"allowed_tools,omitempty"`
}

type namedJSON struct {
	Name string `json:"name"`
}

type allowedJSON struct {
	Mode  string        `json:"mode"`
	Tools []shape.Value `json:"tools"`
}

// toolJSON is a custom tool.
type toolJSON struct {
	Type   string     `json:"type"`
	Custom customJSON `json:"custom"`
}

type customJSON struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Format      shape.Value `json:"format,omitzero"`
}

// grammarJSON is the format of a custom tool. In Extra its syntax and definition
// stand beside its type.
type grammarJSON struct {
	Type    string       `json:"type"`
	Grammar shape.Value  `json:"grammar,omitzero"`
	Rest    shape.Fields `json:"-"`
}

// messageJSON is a message of a request.
type messageJSON struct {
	Role             string        `json:"role"`
	CallID           string        `json:"tool_call_id,omitempty"`
	Content          shape.Value   `json:"content"` // a text, parts or null
	Refusal          string        `json:"refusal,omitempty"`
	ReasoningContent shape.Value   `json:"reasoning_content,omitzero"`
	Reasoning        shape.Value   `json:"reasoning,omitzero"`
	Details          []shape.Value `json:"reasoning_details,omitempty"`
	ToolCalls        []shape.Value `json:"tool_calls,omitempty"`
	FunctionCall     shape.Value   `json:"function_call,omitzero"` // the old form of a call
	Rest             shape.Fields  `json:"-"`
}

type partJSON struct {
	Type    string       `json:"type"`
	Text    string       `json:"text,omitempty"`
	Refusal string       `json:"refusal,omitempty"`
	Image   shape.Value  `json:"image_url,omitzero"` // an object, or as some clients send it a URL
	Audio   *audioJSON   `json:"input_audio,omitempty"`
	File    *fileJSON    `json:"file,omitempty"`
	Rest    shape.Fields `json:"-"`
}

type imageJSON struct {
	URL    string       `json:"url"`
	Detail string       `json:"detail,omitempty"`
	Rest   shape.Fields `json:"-"`
}

type audioJSON struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type fileJSON struct {
	Name string `json:"filename,omitempty"`
	Data string `json:"file_data,omitempty"` // a data: URL
	ID   string `json:"file_id,omitempty"`
}

// callJSON is a call in a request, a reply or a delta.
type callJSON struct {
	Index    *int          `json:"index,omitempty"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function *functionCall `json:"function,omitempty"`
	Custom   *customCall   `json:"custom,omitempty"`
	Rest     shape.Fields  `json:"-"`
}

type functionCall struct {
	Name      string      `json:"name,omitempty"`
	Arguments shape.Value `json:"arguments"` // JSON as text; servers and clients also send an object
}

type customCall struct {
	Name  string `json:"name,omitempty"`
	Input string `json:"input"`
}

// detailJSON is one of OpenRouter's reasoning_details: reasoning with what its
// own provider wants back.
type detailJSON struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Format    string `json:"format,omitempty"`
}

// replyJSON is a whole reply or a chunk of one.
type replyJSON struct {
	ID      shape.Loose    `json:"id"`
	Object  shape.Loose    `json:"object"`
	Created shape.LooseInt `json:"created"`
	Model   shape.Loose    `json:"model"`
	Choices []optionJSON   `json:"choices"`
	Usage   *usageJSON     `json:"usage,omitempty"`
	Error   shape.Value    `json:"error,omitzero"`
	Message shape.Value    `json:"message,omitzero"` // a bare choice
	Rest    shape.Fields   `json:"-"`
}

// optionJSON is one of the choices of a reply.
type optionJSON struct {
	Index      shape.LooseInt `json:"index"`
	Delta      shape.Value    `json:"delta,omitzero"`
	Message    shape.Value    `json:"message,omitzero"`
	Finish     *shape.Loose   `json:"finish_reason"`
	StopReason shape.Value    `json:"stop_reason,omitzero"` // vLLM: the stop sequence, or a token's number
	Logprobs   shape.Value    `json:"logprobs,omitzero"`
	Rest       shape.Fields   `json:"-"`
}

// headJSON is a reply, or a piece of it, as it is written.
type headJSON struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []shape.Value `json:"choices"`
	Usage   *usageJSON    `json:"usage,omitempty"`
}

// deltaJSON is the message of a reply or a piece of it.
type deltaJSON struct {
	Role             shape.Loose  `json:"role,omitempty"`
	Content          shape.Value  `json:"content,omitzero"`
	Refusal          shape.Loose  `json:"refusal,omitempty"`
	ReasoningContent shape.Value  `json:"reasoning_content,omitzero"` // DeepSeek, llama.cpp, older vLLM
	Reasoning        shape.Value  `json:"reasoning,omitzero"`         // OpenRouter, vLLM, Ollama's /v1
	Thinking         shape.Value  `json:"thinking,omitzero"`          // Ollama
	Details          shape.Value  `json:"reasoning_details,omitzero"` // OpenRouter
	Plan             shape.Value  `json:"tool_plan,omitzero"`         // Cohere
	Text             shape.Value  `json:"text,omitzero"`              // Cohere's first API, in place of content
	ToolCalls        shape.Value  `json:"tool_calls,omitzero"`
	FunctionCall     shape.Value  `json:"function_call,omitzero"`
	Rest             shape.Fields `json:"-"`
}

type usageJSON struct {
	Prompt        shape.LooseInt `json:"prompt_tokens"`
	Completion    shape.LooseInt `json:"completion_tokens"`
	Total         shape.LooseInt `json:"total_tokens"`
	CacheHit      shape.LooseInt `json:"prompt_cache_hit_tokens,omitempty"` // DeepSeek
	PromptHow     *promptHow     `json:"prompt_tokens_details,omitempty"`
	CompletionHow *completionHow `json:"completion_tokens_details,omitempty"`
}

type promptHow struct {
	Cached  shape.LooseInt `json:"cached_tokens"`
	Written shape.LooseInt `json:"cache_write_tokens,omitempty"` // OpenRouter
}

type completionHow struct {
	Reasoning shape.LooseInt `json:"reasoning_tokens"`
}

var (
	ofRequest   = shape.Of[requestJSON]()
	ofOptions   = shape.Of[streamOptions]()
	ofFormat    = shape.Of[formatJSON]()
	ofReasoning = shape.Of[reasoningJSON]()
	ofChoice    = shape.Of[choiceJSON]()
	ofGrammar   = shape.Of[grammarJSON]()
	ofMessage   = shape.Of[messageJSON]()
	ofPart      = shape.Of[partJSON]()
	ofImage     = shape.Of[imageJSON]()
	ofCall      = shape.Of[callJSON]()
	ofFunction  = shape.Of[functionCall]()
	ofCustom    = shape.Of[customCall]()
	ofDetail    = shape.Of[detailJSON]()
	ofReply     = shape.Of[replyJSON]()
	ofDelta     = shape.Of[deltaJSON]()
)

func (j choiceJSON) name() string {
	for _, n := range []*namedJSON{j.Function, j.Custom} {
		if n != nil {
			return n.Name
		}
	}
	return j.Name
}
