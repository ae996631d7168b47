package wire

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// overflow are words of the messages for a prompt that is longer than the window.
// Source: error texts of OpenAI, Ollama, vLLM, llama.cpp, LM Studio, text-generation-inference,
// Anthropic, Mistral and Gemini.
var overflow = []string{
	"context length", "context window", "maximum context", "context size", "context limit", "context_length_exceeded",
	"maximum model length", "prompt is too long", "too many tokens", "input token count", "`inputs` tokens",
}

// Overflow reports whether the prompt did not fit the model's window. A limit on
// the tokens of a minute is something else.
func (e *Error) Overflow() bool {
	if e.Code == overflowCode || e.Type == "exceed_context_size_error" {
		return true
	}
	if e.Status == 429 || kinds[e.Type] == RateLimited {
		return false
	}
	text := strings.ToLower(e.Message)
	for _, words := range overflow {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// overflowCode is OpenAI's code, which a Fault has whoever refused.
const overflowCode = "context_length_exceeded"

// Figures in such messages.
var (
	windowIn = regexp.MustCompile(`(?i)context limit: \d+ \+ \d+ > (\d{3,})|(?:context (?:length|size|window|limit)|maximum model length|maximum number of tokens allowed|n_ctx)\D{0,24}?(\d{3,})|> (\d{3,}) maximum|with (\d{3,}) maximum context`)
	promptIn = regexp.MustCompile(`(?i)(?:requested|resulted in|passed|prompt contains|too long:|prompt \(length|input token count|request|n_prompt_tokens)\D{0,16}?(\d{3,})`)
)

// As makes a refused prompt a *utp.Overflow, with the figures of the message.
func (e *Error) As(target any) bool {
	long, ok := target.(**utp.Overflow)
	if !ok || !e.Overflow() {
		return false
	}
	text := e.Message + " " + e.Body
	*long = &utp.Overflow{Prompt: figure(promptIn, text), Window: figure(windowIn, text)}
	return true
}

// figure is the number that stands at a pattern; 0 without one.
func figure(at *regexp.Regexp, text string) int {
	for i, group := range at.FindStringSubmatch(text) {
		if n, err := strconv.Atoi(group); i > 0 && err == nil {
			return n
		}
	}
	return 0
}

// TooLong is the refusal of a prompt that cannot fit the window of a model.
func TooLong(model string, prompt, window int) *Error {
	return &Error{Code: overflowCode, Type: "invalid_request_error",
		Message: "This model's maximum context length is " + strconv.Itoa(window) + " tokens (" + model + "), but the request has about " + strconv.Itoa(prompt) + " tokens. It was not sent: shorten the messages, or use a model with a larger window."}
}
