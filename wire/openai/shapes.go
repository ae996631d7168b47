package openai

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// requestJSON is the body of /v1/chat/completions.
type requestJSON struct {
	Model          string       `json:"model"`
	Messages       []wire.Value `json:"messages"`
	Tools          []wire.Value `json:"tools,omitempty"`
	ToolChoice     wire.Value   `json:"tool_choice,omitzero"`
	Functions      []wire.Value `json:"functions,omitempty"`    // the old form of tools
	FunctionCall   wire.Value   `json:"function_call,omitzero"` // the old form of tool_choice
	Parallel       *bool        `json:"parallel_tool_calls,omitempty"`
	Stream         bool         `json:"stream,omitempty"`
	StreamOptions  wire.Value   `json:"stream_options,omitzero"`
	MaxTokens      *int         `json:"max_tokens,omitempty"`
	MaxCompletion  *int         `json:"max_completion_tokens,omitempty"` // the newer name
	Temperature    *float64     `json:"temperature,omitempty"`
	TopP           *float64     `json:"top_p,omitempty"`
	TopK           *int         `json:"top_k,omitempty"`
	Seed           *int64       `json:"seed,omitempty"`
	RandomSeed     *int64       `json:"random_seed,omitempty"` // Mistral's name for it
	Stop           wire.Value   `json:"stop,omitzero"`         // a text or texts
	Effort         string       `json:"reasoning_effort,omitempty"`
	Reasoning      wire.Value   `json:"reasoning,omitzero"` // OpenRouter's form of it
	ResponseFormat wire.Value   `json:"response_format,omitzero"`
	User           string       `json:"user,omitempty"`
	Choices        *int         `json:"n,omitempty"`
	Rest           wire.Fields  `json:"-"`
}

type streamOptions struct {
	IncludeUsage bool        `json:"include_usage"`
	Rest         wire.Fields `json:"-"`
}

type formatJSON struct {
	Type   string      `json:"type"`
	Schema *schemaJSON `json:"json_schema,omitempty"`
}

type schemaJSON struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
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
	Mode  string       `json:"mode"`
	Tools []wire.Value `json:"tools"`
}

// toolJSON is a custom tool.
type toolJSON struct {
	Type   string     `json:"type"`
	Custom customJSON `json:"custom"`
}

type customJSON struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Format      wire.Value `json:"format,omitzero"`
}

// grammarJSON is the format of a custom tool. In Extra its syntax and definition
// stand beside its type.
type grammarJSON struct {
	Type    string      `json:"type"`
	Grammar wire.Value  `json:"grammar,omitzero"`
	Rest    wire.Fields `json:"-"`
}

// messageJSON is a message of a request.
type messageJSON struct {
	Role             string       `json:"role"`
	CallID           string       `json:"tool_call_id,omitempty"`
	Content          wire.Value   `json:"content"` // a text, parts or null
	Refusal          string       `json:"refusal,omitempty"`
	ReasoningContent wire.Value   `json:"reasoning_content,omitzero"`
	Reasoning        wire.Value   `json:"reasoning,omitzero"`
	Details          []wire.Value `json:"reasoning_details,omitempty"`
	ToolCalls        []wire.Value `json:"tool_calls,omitempty"`
	FunctionCall     wire.Value   `json:"function_call,omitzero"` // the old form of a call
	Rest             wire.Fields  `json:"-"`
}

type partJSON struct {
	Type    string      `json:"type"`
	Text    string      `json:"text,omitempty"`
	Refusal string      `json:"refusal,omitempty"`
	Image   wire.Value  `json:"image_url,omitzero"` // an object, or as some clients send it a URL
	Audio   *audioJSON  `json:"input_audio,omitempty"`
	File    *fileJSON   `json:"file,omitempty"`
	Rest    wire.Fields `json:"-"`
}

type imageJSON struct {
	URL  string      `json:"url"`
	Rest wire.Fields `json:"-"`
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
	Rest     wire.Fields   `json:"-"`
}

type functionCall struct {
	Name      string     `json:"name,omitempty"`
	Arguments wire.Value `json:"arguments"` // JSON as text; servers and clients also send an object
}

type customCall struct {
	Name  string `json:"name,omitempty"`
	Input string `json:"input"`
}

// looseCall is a call of a server, of which anything may be missing.
type looseCall struct {
	Index    *wire.LooseInt `json:"index"`
	ID       wire.Loose     `json:"id"`
	Type     wire.Loose     `json:"type"`
	Function wire.Value     `json:"function"`
	Custom   *customCall    `json:"custom"`
	Name     wire.Value     `json:"name"`
	Args     wire.Value     `json:"arguments"`
	Params   wire.Value     `json:"parameters"`
	Rest     wire.Fields    `json:"-"`
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
	ID      wire.Loose    `json:"id"`
	Object  wire.Loose    `json:"object"`
	Created wire.LooseInt `json:"created"`
	Model   wire.Loose    `json:"model"`
	Choices []optionJSON  `json:"choices"`
	Usage   *usageJSON    `json:"usage,omitempty"`
	Error   wire.Value    `json:"error,omitzero"`
	Message wire.Value    `json:"message,omitzero"` // a bare choice
	Rest    wire.Fields   `json:"-"`
}

// optionJSON is one of the choices of a reply.
type optionJSON struct {
	Index      wire.LooseInt `json:"index"`
	Delta      wire.Value    `json:"delta,omitzero"`
	Message    wire.Value    `json:"message,omitzero"`
	Finish     *wire.Loose   `json:"finish_reason"`
	StopReason wire.Value    `json:"stop_reason,omitzero"` // vLLM: the stop sequence, or a token's number
	Logprobs   wire.Value    `json:"logprobs,omitzero"`
}

// deltaJSON is the message of a reply or a piece of it.
type deltaJSON struct {
	Role             wire.Loose  `json:"role,omitempty"`
	Content          wire.Value  `json:"content,omitzero"`
	Refusal          wire.Loose  `json:"refusal,omitempty"`
	ReasoningContent wire.Value  `json:"reasoning_content,omitzero"` // DeepSeek, llama.cpp, older vLLM
	Reasoning        wire.Value  `json:"reasoning,omitzero"`         // OpenRouter, vLLM, Ollama's /v1
	Thinking         wire.Value  `json:"thinking,omitzero"`          // Ollama
	Details          wire.Value  `json:"reasoning_details,omitzero"` // OpenRouter
	ToolCalls        wire.Value  `json:"tool_calls,omitzero"`
	FunctionCall     wire.Value  `json:"function_call,omitzero"`
	Rest             wire.Fields `json:"-"`
}

type usageJSON struct {
	Prompt        wire.LooseInt  `json:"prompt_tokens"`
	Completion    wire.LooseInt  `json:"completion_tokens"`
	Total         wire.LooseInt  `json:"total_tokens"`
	CacheHit      wire.LooseInt  `json:"prompt_cache_hit_tokens,omitempty"` // DeepSeek
	PromptHow     *promptHow     `json:"prompt_tokens_details,omitempty"`
	CompletionHow *completionHow `json:"completion_tokens_details,omitempty"`
}

type promptHow struct {
	Cached  wire.LooseInt `json:"cached_tokens"`
	Written wire.LooseInt `json:"cache_write_tokens,omitempty"` // OpenRouter
}

type completionHow struct {
	Reasoning wire.LooseInt `json:"reasoning_tokens"`
}

type errorJSON struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type modelsJSON struct {
	Object string      `json:"object"`
	Data   []modelJSON `json:"data"`
}

type modelJSON struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
	Context int    `json:"context_length,omitempty"` // OpenRouter
}

var (
	ofRequest   = wire.ShapeOf[requestJSON]()
	ofOptions   = wire.ShapeOf[streamOptions]()
	ofFormat    = wire.ShapeOf[formatJSON]()
	ofReasoning = wire.ShapeOf[reasoningJSON]()
	ofChoice    = wire.ShapeOf[choiceJSON]()
	ofGrammar   = wire.ShapeOf[grammarJSON]()
	ofMessage   = wire.ShapeOf[messageJSON]()
	ofPart      = wire.ShapeOf[partJSON]()
	ofImage     = wire.ShapeOf[imageJSON]()
	ofCall      = wire.ShapeOf[callJSON]()
	ofFunction  = wire.ShapeOf[functionCall]()
	ofLooseCall = wire.ShapeOf[looseCall]()
	ofDetail    = wire.ShapeOf[detailJSON]()
	ofReply     = wire.ShapeOf[replyJSON]()
	ofDelta     = wire.ShapeOf[deltaJSON]()
)
