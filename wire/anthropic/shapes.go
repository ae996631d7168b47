package anthropic

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// requestJSON is the body of /v1/messages and of /v1/messages/count_tokens.
type requestJSON struct {
	Model        string       `json:"model"`
	MaxTokens    *int         `json:"max_tokens,omitempty"` // the API wants it; count_tokens does not take it
	System       wire.Value   `json:"system,omitzero"`      // a text or text blocks
	Messages     []wire.Value `json:"messages"`
	Tools        []wire.Value `json:"tools,omitempty"`
	ToolChoice   wire.Value   `json:"tool_choice,omitzero"`
	Thinking     wire.Value   `json:"thinking,omitzero"`
	OutputConfig wire.Value   `json:"output_config,omitzero"`
	Metadata     wire.Value   `json:"metadata,omitzero"`
	Temperature  *float64     `json:"temperature,omitempty"`
	TopP         *float64     `json:"top_p,omitempty"`
	TopK         *int         `json:"top_k,omitempty"`
	Stop         []string     `json:"stop_sequences,omitempty"`
	Stream       bool         `json:"stream,omitempty"`
	Rest         wire.Fields  `json:"-"`
}

type messageJSON struct {
	Role    string      `json:"role"`
	Content wire.Value  `json:"content"` // a text or blocks
	Rest    wire.Fields `json:"-"`
}

type toolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Rest        wire.Fields     `json:"-"`
}

type choiceJSON struct {
	Type string      `json:"type"`
	Name string      `json:"name,omitempty"`
	One  *bool       `json:"disable_parallel_tool_use,omitempty"`
	Rest wire.Fields `json:"-"`
}

type thinkingJSON struct {
	Type   string      `json:"type"`
	Budget int         `json:"budget_tokens,omitempty"`
	Rest   wire.Fields `json:"-"`
}

type outputJSON struct {
	Effort string      `json:"effort,omitempty"`
	Format *formatJSON `json:"format,omitempty"`
	Rest   wire.Fields `json:"-"`
}

type formatJSON struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type metadataJSON struct {
	UserID string      `json:"user_id,omitempty"`
	Rest   wire.Fields `json:"-"`
}

type headJSON struct {
	Type string `json:"type"`
}

type textBlock struct {
	Type string      `json:"type"`
	Text string      `json:"text"`
	Rest wire.Fields `json:"-"`
}

type thinkingBlock struct {
	Type      string      `json:"type"`
	Thinking  string      `json:"thinking"`
	Signature string      `json:"signature"`
	Rest      wire.Fields `json:"-"`
}

type redactedBlock struct {
	Type string      `json:"type"`
	Data string      `json:"data"`
	Rest wire.Fields `json:"-"`
}

type toolUseBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	Rest  wire.Fields     `json:"-"`
}

type resultBlock struct {
	Type    string      `json:"type"`
	CallID  string      `json:"tool_use_id"`
	Content wire.Value  `json:"content,omitzero"` // a text or blocks
	IsError bool        `json:"is_error,omitempty"`
	Rest    wire.Fields `json:"-"`
}

// fileBlock is an image or a document.
type fileBlock struct {
	Type   string      `json:"type"`
	Source sourceJSON  `json:"source"`
	Title  string      `json:"title,omitempty"` // of documents
	Rest   wire.Fields `json:"-"`
}

type sourceJSON struct {
	Type  string      `json:"type"` // base64, url, text; others stay Unknown
	Media string      `json:"media_type,omitempty"`
	Data  string      `json:"data,omitempty"`
	URL   string      `json:"url,omitempty"`
	Rest  wire.Fields `json:"-"`
}

// replyJSON is a whole reply, and what a stream begins with.
type replyJSON struct {
	ID      wire.Loose        `json:"id"`
	Type    string            `json:"type"`
	Role    string            `json:"role"`
	Model   wire.Loose        `json:"model"`
	Content []json.RawMessage `json:"content"`
	Stop    *string           `json:"stop_reason"`
	StopSeq *string           `json:"stop_sequence"`
	Usage   wire.Value        `json:"usage"`
	Rest    wire.Fields       `json:"-"`
}

type usageJSON struct {
	Input      wire.LooseInt `json:"input_tokens"`
	CacheWrite wire.LooseInt `json:"cache_creation_input_tokens"`
	CacheRead  wire.LooseInt `json:"cache_read_input_tokens"`
	Output     wire.LooseInt `json:"output_tokens"`
	How        *usageHow     `json:"output_tokens_details,omitempty"`
	Rest       wire.Fields   `json:"-"`
}

type usageHow struct {
	Thinking wire.LooseInt `json:"thinking_tokens"`
}

// eventJSON is any event of a stream, or a whole reply.
type eventJSON struct {
	Type    wire.Loose `json:"type"`
	Message wire.Value `json:"message"`
	Index   *int       `json:"index"`
	Block   wire.Value `json:"content_block"`
	Delta   wire.Value `json:"delta"`
	Usage   wire.Value `json:"usage"`
	Error   wire.Value `json:"error"`
}

// deltaJSON is the delta of a block or of the message.
type deltaJSON struct {
	Type      wire.Loose  `json:"type"`
	Text      wire.Loose  `json:"text"`
	Thinking  wire.Loose  `json:"thinking"`
	Signature wire.Loose  `json:"signature"`
	JSON      wire.Loose  `json:"partial_json"`
	Stop      wire.Loose  `json:"stop_reason"`
	StopSeq   wire.Loose  `json:"stop_sequence"`
	Rest      wire.Fields `json:"-"`
}

// The events that are written.
type (
	startEvent struct {
		Type    string          `json:"type"`
		Message json.RawMessage `json:"message"`
	}
	blockEvent struct {
		Type  string          `json:"type"`
		Index int             `json:"index"`
		Block json.RawMessage `json:"content_block"`
	}
	deltaEvent[D any] struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Delta D      `json:"delta"`
	}
	stopEvent struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
	endEvent struct {
		Type  string          `json:"type"`
		Delta json.RawMessage `json:"delta"`
		Usage json.RawMessage `json:"usage"`
	}
	endDelta struct {
		Stop    string  `json:"stop_reason"`
		StopSeq *string `json:"stop_sequence"`
	}
	textDelta struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingDelta struct {
		Type     string `json:"type"`
		Thinking string `json:"thinking"`
	}
	signatureDelta struct {
		Type      string `json:"type"`
		Signature string `json:"signature"`
	}
	jsonDelta struct {
		Type string `json:"type"`
		JSON string `json:"partial_json"`
	}
)

type errorJSON struct {
	Type  string      `json:"type"`
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type countJSON struct {
	Input int `json:"input_tokens"`
}

type modelsJSON struct {
	Data    []modelJSON `json:"data"`
	HasMore bool        `json:"has_more"`
	First   *string     `json:"first_id"`
	Last    *string     `json:"last_id"`
}

type modelJSON struct {
	Type    string        `json:"type"`
	ID      string        `json:"id"`
	Name    string        `json:"display_name"`
	Created string        `json:"created_at"` // RFC 3339
	Window  wire.LooseInt `json:"max_input_tokens,omitempty"`
}

var (
	readRequest  = wire.ShapeOf[requestJSON]()
	readMessage  = wire.ShapeOf[messageJSON]()
	readTool     = wire.ShapeOf[toolJSON]()
	readChoice   = wire.ShapeOf[choiceJSON]()
	readThinking = wire.ShapeOf[thinkingJSON]()
	readOutput   = wire.ShapeOf[outputJSON]()
	readMetadata = wire.ShapeOf[metadataJSON]()
	readHead     = wire.ShapeOf[headJSON]()
	readText     = wire.ShapeOf[textBlock]()
	readThink    = wire.ShapeOf[thinkingBlock]()
	readRedacted = wire.ShapeOf[redactedBlock]()
	readToolUse  = wire.ShapeOf[toolUseBlock]()
	readResult   = wire.ShapeOf[resultBlock]()
	readFile     = wire.ShapeOf[fileBlock]()
	readReply    = wire.ShapeOf[replyJSON]()
	readUsage    = wire.ShapeOf[usageJSON]()
	readEvent    = wire.ShapeOf[eventJSON]()
	readDelta    = wire.ShapeOf[deltaJSON]()

	writeText      = wire.ShapeOf[deltaEvent[textDelta]]()
	writeThinking  = wire.ShapeOf[deltaEvent[thinkingDelta]]()
	writeSignature = wire.ShapeOf[deltaEvent[signatureDelta]]()
	writeArguments = wire.ShapeOf[deltaEvent[jsonDelta]]()
)
