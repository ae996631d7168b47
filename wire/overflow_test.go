package wire

import (
	"errors"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

func TestOverflow(t *testing.T) {
	for body, want := range map[string]utp.Overflow{
		// OpenAI, vLLM
		`{"error":{"message":"This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`:                    {Prompt: 9000, Window: 4096},
		`{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`:                                                                   {},
		`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 9100 tokens (9000 in the messages, 100 in the completion).","code":400}`: {Prompt: 9100, Window: 4096},
		`{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","code":400}}`:                                                            {Prompt: 5000, Window: 4096},
		// llama.cpp, Ollama, LM Studio
		`{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`: {Prompt: 9000, Window: 8192},
		`{"error":"the input length exceeds the context length"}`:                                              {},
		`{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}`: {},
		// Anthropic, Gemini, Mistral, text-generation-inference
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`:                                                {Prompt: 210000, Window: 200000},
		`{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 199000 + 8192 > 200000, decrease input length"}}`:   {Window: 200000},
		`{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`:                  {Prompt: 1200000, Window: 1048576},
		`{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error"}`:    {Prompt: 40000, Window: 32768},
		"{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`\",\"type\":\"validation\"}": {},
	} {
		e := ReadError(400, []byte(body))
		var long *utp.Overflow
		if !e.Overflow() || !errors.As(error(e), &long) || *long != want {
			t.Errorf("%s: %v, %+v; want %+v", body, e.Overflow(), long, want)
		}
	}
	var long *utp.Overflow
	if e := TooLong("m", 90000, 32768); !errors.As(error(e), &long) || *long != (utp.Overflow{Prompt: 90000, Window: 32768}) || FaultOf(e).Status() != 400 {
		t.Errorf("%v: %+v", e, long)
	}
	for status, body := range map[int]string{
		404: `{"error":"model not found"}`,
		429: `{"message":"Too many tokens, please wait before trying again."}`,
		400: `{"error":{"message":"invalid context","type":"invalid_request_error"}}`,
	} {
		if e := ReadError(status, []byte(body)); e.Overflow() || errors.As(error(e), &long) {
			t.Errorf("%s: a prompt that is too long", body)
		}
	}
}
