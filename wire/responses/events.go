package responses

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// outputText is a text of a reply.
type outputText struct {
	Type        string            `json:"type"`
	Text        string            `json:"text"`
	Annotations []json.RawMessage `json:"annotations"`
	Logprobs    []json.RawMessage `json:"logprobs"`
}

// responseJSON is a response, as it is written.
type responseJSON struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Created      int64             `json:"created_at"`
	Status       string            `json:"status"`
	Error        *responseError    `json:"error"`
	Incomplete   *incompleteJSON   `json:"incomplete_details"`
	Model        string            `json:"model"`
	Output       []json.RawMessage `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Temperature  *float64          `json:"temperature"`
	TopP         *float64          `json:"top_p"`
	MaxTokens    *int              `json:"max_output_tokens"`
	ToolChoice   string            `json:"tool_choice"`
	Tools        []struct{}        `json:"tools"`        // not repeated
	Instructions *string           `json:"instructions"` // not repeated
	Previous     *string           `json:"previous_response_id"`
	Store        bool              `json:"store"`
	Metadata     struct{}          `json:"metadata"`
	Usage        *usageJSON        `json:"usage"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The events that are written: a head, and one of the others.
type (
	eventHead struct {
		Type   string `json:"type"`
		Number int    `json:"sequence_number"`
	}
	responseEvent struct {
		Response responseJSON `json:"response"`
	}
	itemEvent struct {
		Index int             `json:"output_index"`
		Item  json.RawMessage `json:"item"`
	}
	// place is where in the output an event belongs.
	place struct {
		Index  int    `json:"output_index"`
		ItemID string `json:"item_id"`
	}
	deltaEvent struct {
		Type     string            `json:"type"`
		Number   int               `json:"sequence_number"`
		Index    int               `json:"output_index"`
		ItemID   string            `json:"item_id"`
		Content  *int              `json:"content_index,omitempty"` // of texts
		Summary  *int              `json:"summary_index,omitempty"` // of reasoning
		Delta    string            `json:"delta"`
		Logprobs []json.RawMessage `json:"logprobs,omitzero"` // of texts, and empty
	}
	argumentsEvent struct {
		place
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	inputEvent struct {
		place
		Input string `json:"input"`
	}
	textDoneEvent struct {
		place
		Content  int        `json:"content_index"`
		Text     string     `json:"text"`
		Logprobs []struct{} `json:"logprobs"`
	}
	contentEvent struct {
		place
		Content int        `json:"content_index"`
		Part    outputText `json:"part"`
	}
	summaryDoneEvent struct {
		place
		Summary int    `json:"summary_index"`
		Text    string `json:"text"`
	}
	summaryPartEvent struct {
		place
		Summary int         `json:"summary_index"`
		Part    summaryPart `json:"part"`
	}
)

var writeDelta = shape.Of[deltaEvent]()
