package anthropic

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

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

var (
	writeText      = shape.Of[deltaEvent[textDelta]]()
	writeThinking  = shape.Of[deltaEvent[thinkingDelta]]()
	writeSignature = shape.Of[deltaEvent[signatureDelta]]()
	writeArguments = shape.Of[deltaEvent[jsonDelta]]()
)
