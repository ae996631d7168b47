package gemini

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// requestJSON is the body of :generateContent.
type requestJSON struct {
	Model      string       `json:"model,omitempty"` // of :countTokens; else it is in the path
	System     wire.Value   `json:"systemInstruction,omitzero"`
	Contents   []wire.Value `json:"contents"`
	Tools      []wire.Value `json:"tools,omitempty"`
	ToolConfig wire.Value   `json:"toolConfig,omitzero"`
	Generation wire.Value   `json:"generationConfig,omitzero"`
	Inner      wire.Value   `json:"generateContentRequest,omitzero"` // of :countTokens
	Rest       wire.Fields  `json:"-"`
}

type contentJSON struct {
	Role  string       `json:"role,omitempty"`
	Parts []wire.Value `json:"parts"`
	Rest  wire.Fields  `json:"-"`
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
	Rest      wire.Fields   `json:"-"`
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
	Rest wire.Fields     `json:"-"`
}

type responseJSON struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"` // an object
	Parts    []wire.Value    `json:"parts,omitempty"`
	Rest     wire.Fields     `json:"-"`
}

type toolJSON struct {
	Functions []wire.Value `json:"functionDeclarations,omitempty"`
	Rest      wire.Fields  `json:"-"` // Google's own tools, by name
}

type functionJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`           // a Schema
	JSONSchema  json.RawMessage `json:"parametersJsonSchema,omitempty"` // instead
	Rest        wire.Fields     `json:"-"`
}

type configJSON struct {
	Calling *callingJSON `json:"functionCallingConfig,omitempty"`
	Rest    wire.Fields  `json:"-"`
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
	MIME        string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseSchema,omitempty"`
	JSONSchema  json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    wire.Value      `json:"thinkingConfig,omitzero"`
	Rest        wire.Fields     `json:"-"`
}

type thinkingJSON struct {
	Include *bool       `json:"includeThoughts,omitempty"`
	Budget  *int        `json:"thinkingBudget,omitempty"` // up to Gemini 2.5
	Level   string      `json:"thinkingLevel,omitempty"`  // from Gemini 3
	Rest    wire.Fields `json:"-"`
}

// replyJSON is a whole reply or a chunk of one.
type replyJSON struct {
	Candidates []candidateJSON `json:"candidates,omitempty"`
	Feedback   *feedbackJSON   `json:"promptFeedback,omitempty"`
	Usage      *usageJSON      `json:"usageMetadata,omitempty"`
	Model      wire.Loose      `json:"modelVersion,omitempty"`
	ID         wire.Loose      `json:"responseId,omitempty"`
	Error      wire.Value      `json:"error,omitzero"`
}

// chunkJSON is replyJSON as it is written.
type chunkJSON struct {
	Candidates []wire.Value `json:"candidates"`
	Usage      *usageJSON   `json:"usageMetadata,omitempty"`
	Model      string       `json:"modelVersion,omitempty"`
	ID         string       `json:"responseId,omitempty"`
}

type candidateJSON struct {
	Content *contentJSON  `json:"content,omitempty"`
	Reason  wire.Loose    `json:"finishReason,omitempty"`
	Message wire.Loose    `json:"finishMessage,omitempty"`
	Index   wire.LooseInt `json:"index"`
	Rest    wire.Fields   `json:"-"`
}

type feedbackJSON struct {
	Reason  wire.Loose `json:"blockReason,omitempty"`
	Message wire.Loose `json:"blockReasonMessage,omitempty"`
}

type usageJSON struct {
	Prompt   wire.LooseInt `json:"promptTokenCount"`
	Cached   wire.LooseInt `json:"cachedContentTokenCount,omitempty"`
	Output   wire.LooseInt `json:"candidatesTokenCount"`
	Thoughts wire.LooseInt `json:"thoughtsTokenCount,omitempty"`
	ToolUse  wire.LooseInt `json:"toolUsePromptTokenCount,omitempty"`
	Total    wire.LooseInt `json:"totalTokenCount"`
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
	Inner wire.Value `json:"generateContentRequest"`
}

type countJSON struct {
	Total int `json:"totalTokens"`
}

type modelsJSON struct {
	Models []modelJSON `json:"models"`
}

type modelJSON struct {
	Name    string        `json:"name"` // "models/gemini-2.5-flash"
	Version string        `json:"version,omitempty"`
	Display string        `json:"displayName,omitempty"`
	Window  wire.LooseInt `json:"inputTokenLimit,omitempty"`
	Methods []string      `json:"supportedGenerationMethods"`
	Thinks  *bool         `json:"thinking,omitempty"`
}

var (
	readRequest    = wire.ProtoShapeOf[requestJSON]()
	readContent    = wire.ProtoShapeOf[contentJSON]()
	readPart       = wire.ProtoShapeOf[partJSON]()
	readTool       = wire.ProtoShapeOf[toolJSON]()
	readFunction   = wire.ProtoShapeOf[functionJSON]()
	readConfig     = wire.ProtoShapeOf[configJSON]()
	readGeneration = wire.ProtoShapeOf[generationJSON]()
	readThinking   = wire.ProtoShapeOf[thinkingJSON]()
	readReply      = wire.ProtoShapeOf[replyJSON]()
	writeChunk     = wire.ShapeOf[chunkJSON]()
	writeCandidate = wire.ShapeOf[candidateJSON]()
)
