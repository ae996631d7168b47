package backend

// remedy is what is done about a refusal.
type remedy int

const (
	leaveOut     remedy = iota // the field is not sent
	nearest                    // of an effort the nearest that the server names, or true, is sent; else it is left out
	turnOff                    // it is said to be off
	rename                     // it goes under another name
	toolsInText                // tools, calls and results go into the prompt
	systemInUser               // the system message goes into the first user message
)

// refusal is a part of a request that servers refuse although they could answer
// without it, or with it in another form. A schema or a choice of tools is none:
// what a caller needs is not left out.
type refusal struct {
	what   string   // for people
	names  []string // by which an error names the field
	words  []string // of errors that name it otherwise
	paths  []string // where it stands in the bodies of the APIs
	remedy remedy
	as     string // rename: the other name
	values bool   // an error about its value counts too
}

// refusals are what can be heeded. Of those that an error names the first that it
// names counts, and of rows that fit alike the upper one.
// Sources: error texts of Ollama, llama.cpp, LM Studio and vLLM; of OpenAI, Azure,
// Anthropic, Gemini and Vertex AI, Mistral, Groq, xAI, DeepSeek, Moonshot and
// OpenRouter, as their users report them; the chat templates of Gemma 2, Mistral 7B
// Instruct and Qwen 3.5, as vLLM, SGLang and llama.cpp report them.
var refusals = []refusal{
	{
		what: "native tools", remedy: toolsInText,
		words: []string{"does not support tools", "--enable-auto-tool-choice", "tools param requires --jinja", "tool use is not supported", "tool calling is not supported",
			"does not support function calling", "function calling is not enabled", "function calling is not supported", "does not support tool use",
			"no endpoints found that support tool use", "tools are not supported"},
	},
	{
		what: "a system message here", remedy: systemInUser,
		words: []string{"system role not supported", "conversation roles must alternate", "only user and assistant roles are supported", "system message must be at the beginning",
			"developer instruction is not enabled", "system instruction is not enabled"},
	},
	{
		what:  "summaries of the reasoning",
		names: []string{"reasoning.summary"}, words: []string{"to generate reasoning summaries"},
		paths: []string{"reasoning.summary"},
	},
	{
		what:  "sealed reasoning",
		names: []string{"include"}, words: []string{"encrypted content is not supported"},
		paths: []string{"include"},
	},
	{
		what: "the reasoning effort", remedy: nearest, values: true,
		names: []string{"reasoning_effort", "reasoning effort", "reasoning.effort", "output_config.effort", "thinking_level", "thinking level", "effort"},
		words: []string{"effort parameter", "effort_unsupported", "valid levels"},
		paths: []string{"reasoning_effort", "reasoning", "output_config.effort", "generationConfig.thinkingConfig"},
	},
	{
		what: "thinking", remedy: nearest, values: true,
		names: []string{"thinking_budget", "thinking budget", "thinking_config", "thinking", "think", "reasoning"},
		words: []string{"does not support thinking", "think value", "thinking is not"},
		paths: []string{"think", "thinking", "generationConfig.thinkingConfig", "reasoning"},
	},
	{
		what: "max_tokens", remedy: rename, as: "max_completion_tokens",
		names: []string{"max_tokens"},
		paths: []string{"max_tokens"},
	},
	{
		what: "the user's name", values: true,
		names: []string{"user", "safety_identifier", "user_id"},
		paths: []string{"user", "safety_identifier", "metadata.user_id"},
	},
	{
		what:  "metadata",
		names: []string{"metadata"},
		paths: []string{"metadata"},
	},
	{
		what: "a strict schema", remedy: turnOff, values: true,
		words: []string{"invalid schema for response_format", "invalid schema for function", "additionalproperties must be explicitly set to false"},
		paths: []string{"tools[].function.strict", "tools[].strict", "response_format.json_schema.strict", "text.format.strict"},
	},
	{
		what:  "strict",
		names: []string{"strict"},
		paths: []string{"tools[].function.strict", "tools[].strict", "response_format.json_schema.strict", "text.format.strict"},
	},
	{
		what:  "penalties",
		names: []string{"presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty"}, words: []string{"penalty is not enabled", "penalties are not supported"},
		paths: []string{"presence_penalty", "frequency_penalty", "repetition_penalty", "generationConfig.presencePenalty", "generationConfig.frequencyPenalty",
			"options.presence_penalty", "options.frequency_penalty", "options.repeat_penalty"},
	},
	{
		what:  "usage in the stream",
		names: []string{"stream_options"},
		paths: []string{"stream_options"},
	},
	{
		what:  "parallel_tool_calls",
		names: []string{"parallel_tool_calls", "disable_parallel_tool_use"},
		paths: []string{"parallel_tool_calls", "tool_choice.disable_parallel_tool_use"},
	},
	{
		what: "the service tier", values: true,
		names: []string{"service_tier"},
		paths: []string{"service_tier"},
	},
	{
		what:  "log probabilities",
		names: []string{"logprobs", "top_logprobs", "response_logprobs"},
		paths: []string{"logprobs", "top_logprobs", "generationConfig.responseLogprobs", "generationConfig.logprobs"},
	},
	{
		what:  "the seed",
		names: []string{"seed", "random_seed"},
		paths: []string{"seed", "random_seed", "generationConfig.seed", "options.seed"},
	},
	{
		what:  "top_k",
		names: []string{"top_k"},
		paths: []string{"top_k", "generationConfig.topK", "options.top_k"},
	},
	{
		what:  "stop sequences",
		names: []string{"stop", "stop_sequences"},
		paths: []string{"stop", "stop_sequences", "generationConfig.stopSequences", "options.stop"},
	},
	{
		what:  "the temperature",
		names: []string{"temperature"},
		paths: []string{"temperature", "generationConfig.temperature"},
	},
	{
		what:  "top_p",
		names: []string{"top_p"},
		paths: []string{"top_p", "generationConfig.topP"},
	},
	{
		what:  "the bias of tokens",
		names: []string{"logit_bias"},
		paths: []string{"logit_bias"},
	},
	{
		what:  "store",
		names: []string{"store"},
		paths: []string{"store"},
	},
	{
		what:  "the verbosity",
		names: []string{"verbosity"},
		paths: []string{"verbosity", "text.verbosity"},
	},
	{
		what:  "keys of the prompt cache",
		names: []string{"prompt_cache_key", "prompt_cache_retention"},
		paths: []string{"prompt_cache_key", "prompt_cache_retention"},
	},
	{
		what:  "marks for the prompt cache",
		names: []string{"cache_control"},
		paths: []string{"cache_control", "system[].cache_control", "tools[].cache_control", "messages[].cache_control", "messages[].content[].cache_control"},
	},
	{
		what:  "context management",
		names: []string{"context_management"},
		paths: []string{"context_management"},
	},
	{
		what:  "early input of tools",
		names: []string{"eager_input_streaming"},
		paths: []string{"tools[].eager_input_streaming"},
	},
	{
		what:  "earlier reasoning",
		names: []string{"reasoning_content"},
		paths: []string{"messages[].reasoning_content"},
	},
}

// notSupported are words of an error about a field that the server does not take;
// quotation marks are not among them.
var notSupported = []string{"unsupported", "not supported", "not support", "unrecognized", "unknown", "unknown_parameter", "extra inputs", "extra fields", "extraneous",
	"extra_forbidden", "additional properties", "not permitted", "not allowed", "only allowed", "not enabled", "not configurable", "not available", "not implemented",
	"unexpected keyword", "unexpected argument", "cannot find field", "no longer supported"}

// levels are where an effort stands as a word.
var levels = []string{"think", "reasoning_effort", "reasoning.effort", "output_config.effort", "generationConfig.thinkingConfig.thinkingLevel"}

// badValue are words of an error about a value.
var badValue = []string{"must be", "should be", "one of", "valid levels", "valid values", "supported values", "invalid", "too long"}
