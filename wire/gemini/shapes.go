package gemini

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// requestJSON is the body of :generateContent.
type requestJSON struct {
	Model      string        `json:"model,omitempty"` // of :countTokens; else it is in the path
	System     shape.Value   `json:"systemInstruction,omitzero"`
	Contents   []shape.Value `json:"contents"`
	Tools      []shape.Value `json:"tools,omitempty"`
	ToolConfig shape.Value   `json:"toolConfig,omitzero"`
	Generation shape.Value   `json:"generationConfig,omitzero"`
	Inner      shape.Value   `json:"generateContentRequest,omitzero"` // of :countTokens
	Rest       shape.Fields  `json:"-"`
}

type contentJSON struct {
	Role  string        `json:"role,omitempty"`
	Parts []shape.Value `json:"parts"`
	Rest  shape.Fields  `json:"-"`
}

// partJSON is a part; exactly one of its forms is set.
type partJSON struct {
	Text      *string       `json:"text,omitempty"`
	Inline    *blobJSON     `json:"inlineData,omitempty"`
	File      *fileJSON     `json:"fileData,omitempty"`
	Call      *callJSON     `json:"functionCall,omitempty"`
	Response  *responseJSON `json:"functionResponse,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
	Rest      shape.Fields  `json:"-"`
}

type blobJSON struct {
	MIME string `json:"mimeType,omitempty"`
	Data string `json:"data"` // base64
	Name string `json:"displayName,omitempty"`
}

type fileJSON struct {
	MIME string `json:"mimeType,omitempty"`
	URI  string `json:"fileUri"`
	Name string `json:"displayName,omitempty"`
}

type callJSON struct {
	ID   string          `json:"id,omitempty"` // Vertex AI refuses it
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
	Rest shape.Fields    `json:"-"`
}

type responseJSON struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"` // an object
	Parts    []shape.Value   `json:"parts,omitempty"`
	Rest     shape.Fields    `json:"-"`
}

type toolJSON struct {
	Functions []shape.Value `json:"functionDeclarations,omitempty"`
	Rest      shape.Fields  `json:"-"` // Google's own tools, by name
}

type functionJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`           // a Schema
	JSONSchema  json.RawMessage `json:"parametersJsonSchema,omitempty"` // instead
	Rest        shape.Fields    `json:"-"`
}

type configJSON struct {
	Calling *callingJSON `json:"functionCallingConfig,omitempty"`
	Rest    shape.Fields `json:"-"`
}

type callingJSON struct {
	Mode    string   `json:"mode,omitempty"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

type generationJSON struct {
	MaxTokens   *int            `json:"maxOutputTokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"topP,omitempty"`
	TopK        *int            `json:"topK,omitempty"`
	Seed        *int64          `json:"seed,omitempty"` // 32 bits
	Stop        []string        `json:"stopSequences,omitempty"`
	Presence    *float64        `json:"presencePenalty,omitempty"`
	Frequency   *float64        `json:"frequencyPenalty,omitempty"`
	MIME        string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseSchema,omitempty"`
	JSONSchema  json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    shape.Value     `json:"thinkingConfig,omitzero"`
	Candidates  *int            `json:"candidateCount,omitempty"` // one, or it is not passed on
	Rest        shape.Fields    `json:"-"`
}

type thinkingJSON struct {
	Include *bool        `json:"includeThoughts,omitempty"`
	Budget  *int         `json:"thinkingBudget,omitempty"` // up to Gemini 2.5
	Level   string       `json:"thinkingLevel,omitempty"`  // from Gemini 3
	Rest    shape.Fields `json:"-"`
}

// replyJSON is a whole reply or a chunk of one.
type replyJSON struct {
	Candidates []candidateJSON `json:"candidates,omitempty"`
	Feedback   *feedbackJSON   `json:"promptFeedback,omitempty"`
	Usage      *usageJSON      `json:"usageMetadata,omitempty"`
	Model      shape.Loose     `json:"modelVersion,omitempty"`
	ID         shape.Loose     `json:"responseId,omitempty"`
	Error      shape.Value     `json:"error,omitzero"`
}

// chunkJSON is replyJSON as it is written.
type chunkJSON struct {
	Candidates []shape.Value `json:"candidates"`
	Usage      *usageJSON    `json:"usageMetadata,omitempty"`
	Model      string        `json:"modelVersion,omitempty"`
	ID         string        `json:"responseId,omitempty"`
}

type candidateJSON struct {
	Content *contentJSON   `json:"content,omitempty"`
	Reason  shape.Loose    `json:"finishReason,omitempty"`
	Message shape.Loose    `json:"finishMessage,omitempty"`
	Index   shape.LooseInt `json:"index"`
	Rest    shape.Fields   `json:"-"`
}

type feedbackJSON struct {
	Reason  shape.Loose `json:"blockReason,omitempty"`
	Message shape.Loose `json:"blockReasonMessage,omitempty"`
}

type usageJSON struct {
	Prompt   shape.LooseInt `json:"promptTokenCount"`
	Cached   shape.LooseInt `json:"cachedContentTokenCount,omitempty"`
	Output   shape.LooseInt `json:"candidatesTokenCount"`
	Thoughts shape.LooseInt `json:"thoughtsTokenCount,omitempty"`
	ToolUse  shape.LooseInt `json:"toolUsePromptTokenCount,omitempty"`
	Total    shape.LooseInt `json:"totalTokenCount"`
}

type errorJSON struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    int         `json:"code"`
	Message string      `json:"message"`
	Status  string      `json:"status"`
	Details []retryInfo `json:"details,omitempty"`
}

type retryInfo struct {
	Type  string `json:"@type"`
	Delay string `json:"retryDelay"`
}

type countRequest struct {
	Inner shape.Value `json:"generateContentRequest"`
}

type countJSON struct {
	Total int `json:"totalTokens"`
}

type modelsJSON struct {
	Models []modelJSON `json:"models"`
}

type modelJSON struct {
	Name    string         `json:"name"` // "models/gemini-2.5-flash"
	Version string         `json:"version,omitempty"`
	Display string         `json:"displayName,omitempty"`
	Window  shape.LooseInt `json:"inputTokenLimit,omitempty"`
	Methods []string       `json:"supportedGenerationMethods"`
	Thinks  *bool          `json:"thinking,omitempty"`
	About   string         `json:"description,omitempty"`
}

var (
	readRequest    = shape.ProtoOf[requestJSON]()
	readContent    = shape.ProtoOf[contentJSON]()
	readPart       = shape.ProtoOf[partJSON]()
	readTool       = shape.ProtoOf[toolJSON]()
	readFunction   = shape.ProtoOf[functionJSON]()
	readConfig     = shape.ProtoOf[configJSON]()
	readGeneration = shape.ProtoOf[generationJSON]()
	readThinking   = shape.ProtoOf[thinkingJSON]()
	readReply      = shape.ProtoOf[replyJSON]()
	writeChunk     = shape.Of[chunkJSON]()
	writeCandidate = shape.Of[candidateJSON]()
)
