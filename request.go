package utp

import "encoding/json"

// Request is one question to a model.
type Request struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream,omitempty"`
	Messages []Message       `json:"messages"`
	Tools    []Tool          `json:"tools,omitempty"`
	Choice   Choice          `json:"choice,omitzero"`
	Params   Params          `json:"params,omitzero"`
	Extra    json.RawMessage `json:"extra,omitempty"` // fields of the source provider that have no place here
}

// Question is a request of one message of the user's.
func Question(text string) *Request {
	return &Request{Messages: []Message{NewText(RoleUser, text)}}
}

// ChoiceMode says whether the model must call.
type ChoiceMode string

const (
	ChoiceAuto     ChoiceMode = ""         // the model decides
	ChoiceRequired ChoiceMode = "required" // some call
	ChoiceNamed    ChoiceMode = "named"    // the tool Name
	ChoiceNone     ChoiceMode = "none"     // no call
)

// Choice limits which tools a model may call.
type Choice struct {
	Mode     ChoiceMode `json:"mode,omitempty"`
	Name     string     `json:"name,omitempty"`     // ChoiceNamed
	Allowed  []string   `json:"allowed,omitempty"`  // with ChoiceAuto or ChoiceRequired: only these
	Parallel *bool      `json:"parallel,omitempty"` // false: at most one call a turn
}

// Params are sampling and output settings. Nil and empty mean the provider's default.
type Params struct {
	MaxTokens   *int            `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	TopK        *int            `json:"top_k,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
	Presence    *float64        `json:"presence_penalty,omitempty"`
	Frequency   *float64        `json:"frequency_penalty,omitempty"`
	Effort      string          `json:"effort,omitempty"` // reasoning: none, minimal, low, medium, high, xhigh, max
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema the output must fit; "{}" is any JSON
	SchemaName  string          `json:"schema_name,omitempty"`
	SchemaAbout string          `json:"schema_description,omitempty"`
	SchemaHeld  *bool           `json:"schema_strict,omitempty"` // the provider holds the output to Schema; nil is its default
	Context     *int            `json:"context,omitempty"`       // window to load the model with, in tokens (Ollama num_ctx)
	User        string          `json:"user,omitempty"`
}

// Stop is why a reply ended.
type Stop string

const (
	StopEnd      Stop = "end"      // the model was done
	StopSequence Stop = "sequence" // a stop sequence of the request
	StopTool     Stop = "tool"     // it called tools
	StopLength   Stop = "length"   // the output limit or the window
	StopFilter   Stop = "filter"   // a safety filter or a refusal
	StopPause    Stop = "pause"    // to be continued by sending the reply back
	StopBadCall  Stop = "bad_call" // the provider could not read the model's call
	StopError    Stop = "error"    // the stream broke
)

// Usage counts tokens. Input is without the cached part; Output is without Reasoning.
type Usage struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning,omitempty"`
}

// Add sums two counts.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite,
		u.Output + v.Output, u.Reasoning + v.Reasoning}
}

// Prompt is all tokens that went in.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Completion is all tokens that came out.
func (u Usage) Completion() int { return u.Output + u.Reasoning }

// End closes a reply.
type End struct {
	Stop    Stop            `json:"stop,omitempty"`
	StopSeq string          `json:"stop_sequence,omitempty"` // which, with StopSequence
	Usage   Usage           `json:"usage,omitzero"`
	Model   string          `json:"model,omitempty"`
	ID      string          `json:"id,omitempty"`
	Extra   json.RawMessage `json:"extra,omitempty"`
}
