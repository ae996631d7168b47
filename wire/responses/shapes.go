package responses

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// requestJSON is the body of /v1/responses and of /v1/responses/input_tokens.
type requestJSON struct {
	Model        string        `json:"model"`
	Instructions string        `json:"instructions,omitempty"`
	Input        shape.Value   `json:"input,omitzero"` // a text or items
	Tools        []shape.Value `json:"tools,omitempty"`
	ToolChoice   shape.Value   `json:"tool_choice,omitzero"`
	Parallel     *bool         `json:"parallel_tool_calls,omitempty"`
	Stream       bool          `json:"stream,omitempty"`
	Store        *bool         `json:"store,omitempty"` // true is the default: false must be said
	Include      []string      `json:"include,omitempty"`
	MaxTokens    *int          `json:"max_output_tokens,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	TopP         *float64      `json:"top_p,omitempty"`
	Reasoning    shape.Value   `json:"reasoning,omitzero"`
	Text         shape.Value   `json:"text,omitzero"`
	User         string        `json:"user,omitempty"`
	Safety       string        `json:"safety_identifier,omitempty"` // the newer name of user
	Previous     string        `json:"previous_response_id,omitempty"`
	Conversation shape.Value   `json:"conversation,omitzero"`
	Background   bool          `json:"background,omitempty"`
	Rest         shape.Fields  `json:"-"`
}

type reasoningJSON struct {
	Effort  string       `json:"effort,omitempty"`
	Summary string       `json:"summary,omitempty"`
	Rest    shape.Fields `json:"-"`
}

type textJSON struct {
	Format *formatJSON  `json:"format,omitempty"`
	Rest   shape.Fields `json:"-"`
}

type formatJSON struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Rest        shape.Fields    `json:"-"`
}

// toolJSON is a function, a custom tool, or of a namespace its members. Strict
// is on where it is left out.
type toolJSON struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Tools       []shape.Value   `json:"tools,omitempty"`
	Rest        shape.Fields    `json:"-"`
}

type choiceJSON struct {
	Type  string       `json:"type"`
	Name  string       `json:"name,omitempty"`
	Mode  string       `json:"mode,omitempty"`
	Tools []choiceTool `json:"tools,omitempty"`
}

type choiceTool struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitempty"`
	Server string `json:"server_label,omitempty"` // of an mcp tool
}

type headJSON struct {
	Type shape.Loose `json:"type"`
	Role shape.Loose `json:"role"`
}

// messageItem is a message; an assistant's also has an id and a status.
type messageItem struct {
	ID      string       `json:"id,omitempty"`
	Type    string       `json:"type,omitempty"`
	Status  string       `json:"status,omitempty"`
	Role    string       `json:"role"`
	Content shape.Value  `json:"content"` // a text or parts
	Rest    shape.Fields `json:"-"`
}

// contentPart is input_text, output_text, refusal, input_image or input_file.
type contentPart struct {
	Type     string       `json:"type"`
	Text     string       `json:"text,omitempty"`
	Refusal  string       `json:"refusal,omitempty"`
	ImageURL string       `json:"image_url,omitempty"`
	FileName string       `json:"filename,omitempty"`
	FileData string       `json:"file_data,omitempty"` // a data: URL
	FileURL  string       `json:"file_url,omitempty"`
	Detail   string       `json:"detail,omitempty"` // of an image
	Rest     shape.Fields `json:"-"`
}

type textPart struct {
	Type string       `json:"type"`
	Text string       `json:"text"`
	Rest shape.Fields `json:"-"`
}

// callItem is a function_call or a custom_tool_call.
type callItem struct {
	ID        string       `json:"id,omitempty"`
	Type      string       `json:"type"`
	Status    string       `json:"status,omitempty"`
	CallID    string       `json:"call_id"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name"`
	Arguments *string      `json:"arguments,omitempty"` // of a function: JSON as text
	Input     *string      `json:"input,omitempty"`     // of a custom tool
	Rest      shape.Fields `json:"-"`
}

// outputItem is a function_call_output or a custom_tool_call_output.
type outputItem struct {
	Type   string       `json:"type"`
	CallID string       `json:"call_id"`
	Output shape.Value  `json:"output"` // a text or parts
	Rest   shape.Fields `json:"-"`
}

type reasoningItem struct {
	ID        string        `json:"id,omitempty"`
	Type      string        `json:"type"`
	Summary   []summaryPart `json:"summary"`
	Content   []summaryPart `json:"content,omitempty"` // of open models
	Encrypted string        `json:"encrypted_content,omitempty"`
	Rest      shape.Fields  `json:"-"`
}

type summaryPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type incompleteJSON struct {
	Reason shape.Loose `json:"reason"`
}

type usageJSON struct {
	Input    shape.LooseInt `json:"input_tokens"`
	InputHow struct {
		Cached  shape.LooseInt `json:"cached_tokens"`
		Written shape.LooseInt `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output    shape.LooseInt `json:"output_tokens"`
	OutputHow struct {
		Reasoning shape.LooseInt `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total shape.LooseInt `json:"total_tokens"`
}

var (
	readRequest   = shape.Of[requestJSON]()
	readReasoning = shape.Of[reasoningJSON]()
	readFormat    = shape.Of[textJSON]()
	readTool      = shape.Of[toolJSON]()
	readChoice    = shape.Of[choiceJSON]()
	readHead      = shape.Of[headJSON]()
	readMessage   = shape.Of[messageItem]()
	readPart      = shape.Of[contentPart]()
	readCall      = shape.Of[callItem]()
	readOutput    = shape.Of[outputItem]()
	readThought   = shape.Of[reasoningItem]()
)
