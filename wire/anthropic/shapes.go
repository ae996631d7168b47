package anthropic

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// requestJSON is the body of /v1/messages and of /v1/messages/count_tokens.
type requestJSON struct {
	Model        string        `json:"model"`
	MaxTokens    *int          `json:"max_tokens,omitempty"` // the API wants it; count_tokens does not take it
	System       shape.Value   `json:"system,omitzero"`      // a text or text blocks
	Messages     []shape.Value `json:"messages"`
	Tools        []shape.Value `json:"tools,omitempty"`
	ToolChoice   shape.Value   `json:"tool_choice,omitzero"`
	Thinking     shape.Value   `json:"thinking,omitzero"`
	OutputConfig shape.Value   `json:"output_config,omitzero"`
	Metadata     shape.Value   `json:"metadata,omitzero"`
	Temperature  *float64      `json:"temperature,omitempty"`
	TopP         *float64      `json:"top_p,omitempty"`
	TopK         *int          `json:"top_k,omitempty"`
	Stop         []string      `json:"stop_sequences,omitempty"`
	Stream       bool          `json:"stream,omitempty"`
	Rest         shape.Fields  `json:"-"`
}

type messageJSON struct {
	Role    string       `json:"role"`
	Content shape.Value  `json:"content"` // a text or blocks
	Rest    shape.Fields `json:"-"`
}

type toolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Rest        shape.Fields    `json:"-"`
}

type choiceJSON struct {
	Type string       `json:"type"`
	Name string       `json:"name,omitempty"`
	One  *bool        `json:"disable_parallel_tool_use,omitempty"`
	Rest shape.Fields `json:"-"`
}

type thinkingJSON struct {
	Type   string       `json:"type"`
	Budget int          `json:"budget_tokens,omitempty"`
	Rest   shape.Fields `json:"-"`
}

type outputJSON struct {
	Effort string       `json:"effort,omitempty"`
	Format *formatJSON  `json:"format,omitempty"`
	Rest   shape.Fields `json:"-"`
}

type formatJSON struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type metadataJSON struct {
	UserID string       `json:"user_id,omitempty"`
	Rest   shape.Fields `json:"-"`
}

type headJSON struct {
	Type string `json:"type"`
}

type textBlock struct {
	Type string       `json:"type"`
	Text string       `json:"text"`
	Rest shape.Fields `json:"-"`
}

type thinkingBlock struct {
	Type      string       `json:"type"`
	Thinking  string       `json:"thinking"`
	Signature string       `json:"signature"`
	Rest      shape.Fields `json:"-"`
}

type redactedBlock struct {
	Type string       `json:"type"`
	Data string       `json:"data"`
	Rest shape.Fields `json:"-"`
}

type toolUseBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	Rest  shape.Fields    `json:"-"`
}

type resultBlock struct {
	Type    string       `json:"type"`
	CallID  string       `json:"tool_use_id"`
	Content shape.Value  `json:"content,omitzero"` // a text or blocks
	IsError bool         `json:"is_error,omitempty"`
	Rest    shape.Fields `json:"-"`
}

// fileBlock is an image or a document.
type fileBlock struct {
	Type   string       `json:"type"`
	Source sourceJSON   `json:"source"`
	Title  string       `json:"title,omitempty"` // of documents
	Rest   shape.Fields `json:"-"`
}

type sourceJSON struct {
	Type  string       `json:"type"` // base64, url, text; others stay Unknown
	Media string       `json:"media_type,omitempty"`
	Data  string       `json:"data,omitempty"`
	URL   string       `json:"url,omitempty"`
	Rest  shape.Fields `json:"-"`
}

// replyJSON is a whole reply, and what a stream begins with.
type replyJSON struct {
	ID      shape.Loose       `json:"id"`
	Type    string            `json:"type"`
	Role    string            `json:"role"`
	Model   shape.Loose       `json:"model"`
	Content []json.RawMessage `json:"content"`
	Stop    *string           `json:"stop_reason"`
	StopSeq *string           `json:"stop_sequence"`
	Usage   shape.Value       `json:"usage"`
	Rest    shape.Fields      `json:"-"`
}

type usageJSON struct {
	Input      shape.LooseInt `json:"input_tokens"`
	CacheWrite shape.LooseInt `json:"cache_creation_input_tokens"`
	CacheRead  shape.LooseInt `json:"cache_read_input_tokens"`
	Output     shape.LooseInt `json:"output_tokens"`
	How        *usageHow      `json:"output_tokens_details,omitempty"`
	Rest       shape.Fields   `json:"-"`
}

type usageHow struct {
	Thinking shape.LooseInt `json:"thinking_tokens"`
}

var (
	readRequest  = shape.Of[requestJSON]()
	readMessage  = shape.Of[messageJSON]()
	readTool     = shape.Of[toolJSON]()
	readChoice   = shape.Of[choiceJSON]()
	readThinking = shape.Of[thinkingJSON]()
	readOutput   = shape.Of[outputJSON]()
	readMetadata = shape.Of[metadataJSON]()
	readHead     = shape.Of[headJSON]()
	readText     = shape.Of[textBlock]()
	readThink    = shape.Of[thinkingBlock]()
	readRedacted = shape.Of[redactedBlock]()
	readToolUse  = shape.Of[toolUseBlock]()
	readResult   = shape.Of[resultBlock]()
	readFile     = shape.Of[fileBlock]()
	readReply    = shape.Of[replyJSON]()
	readUsage    = shape.Of[usageJSON]()
	readEvent    = shape.Of[eventJSON]()
	readDelta    = shape.Of[deltaJSON]()
)
