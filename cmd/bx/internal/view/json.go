package view

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/te"
)

// Reply is the answer of --json.
type Reply struct {
	Response         string          `json:"response"`
	Model            string          `json:"model"`
	TokensPrompt     int             `json:"tokens_prompt"`
	TokensCompletion int             `json:"tokens_completion"`
	Sources          []string        `json:"rag_sources"`
	SessionID        string          `json:"session_id"`
	SessionMessages  int             `json:"session_messages"`
	ToolCalls        []ToolCall      `json:"tool_calls"`
	Problems         []utp.Problem   `json:"problems,omitempty"`
	Rounds           int             `json:"rounds"`
	Forced           string          `json:"forced,omitempty"`
	Stop             utp.Stop        `json:"stop,omitempty"`
	LeftOut          []agent.LeftOut `json:"left_out,omitempty"`
	Warnings         []string        `json:"warnings,omitempty"`
	Found            string          `json:"found,omitempty"` // in place of an answer: what the tools brought
	Error            *Failure        `json:"error,omitempty"` // why there is no answer
}

// Failure is an error as JSON.
type Failure struct {
	Code    int    `json:"code"` // the exit code
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// ToolCall is a call with what became of it.
type ToolCall struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Source    string          `json:"source"`
	Fixes     []utp.Fix       `json:"fixes"`
	Status    utp.Status      `json:"status"`
	Refusal   agent.Refusal   `json:"refusal,omitempty"`
	Result    string          `json:"result"`
}

// NewReply makes the object of an answer.
func NewReply(a agent.Answer) Reply {
	return Reply{Response: a.Text, Model: a.Model, TokensPrompt: a.Usage.Prompt(), TokensCompletion: a.Usage.Completion(),
		Sources: sources(a.Calls), ToolCalls: toolCalls(a.Calls), Problems: a.Problems, Rounds: a.Rounds, Forced: a.Forced, Stop: a.Stop, LeftOut: a.LeftOut}
}

func toolCalls(done []agent.Done) []ToolCall {
	out := []ToolCall{}
	for _, d := range done {
		out = append(out, ToolCall{ID: d.Call.ID, Name: d.Call.Name, Arguments: d.Call.Args, Source: d.Call.Source,
			Fixes: append([]utp.Fix{}, d.Call.Fixes...), Status: d.Result.Status, Refusal: d.Refusal, Result: d.Result.Text()})
	}
	return out
}

// sources lists the files that searches returned, each once.
func sources(done []agent.Done) []string {
	out := []string{}
	for _, d := range done {
		if d.Call.Name != "search_code" || d.Result.Status != utp.StatusOK {
			continue
		}
		for _, path := range found(d.Result.Text()) {
			if !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// found reads the paths of a search result: a tool envelope, or plain JSON.
func found(text string) (paths []string) {
	if e, err := te.Parse(text); err == nil {
		for _, m := range e.Matches {
			paths = append(paths, m.Path)
		}
		return paths
	}
	var plain struct{ Results []struct{ Path string } }
	if json.Unmarshal([]byte(text), &plain) == nil {
		for _, r := range plain.Results {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// JSON prints a value, indented.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
