package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

func TestEffort(t *testing.T) {
	for _, e := range []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} {
		if n, ok := wire.Budget(e); !ok || wire.Effort(n) != e {
			t.Errorf("%s: %d, %s", e, n, wire.Effort(n))
		}
	}
	if _, ok := wire.Budget("galactic"); ok || wire.Effort(2000) != "low" || wire.Effort(1<<20) != "max" || wire.Effort(-1) != "none" {
		t.Error("efforts")
	}
}

func TestNearestEffort(t *testing.T) {
	levels := []string{"low", "medium", "high"}
	for _, c := range []struct {
		effort string
		takes  []string
		want   string
	}{
		{"high", levels, "high"}, {"xhigh", levels, "high"}, {"max", levels, "high"}, {"minimal", levels, "low"}, {"none", levels, "low"},
		{"lots", levels, "medium"}, {"medium", []string{"low", "high"}, "low"}, {"high", []string{"none", "default"}, ""}, {"none", []string{"none", "low"}, "none"},
	} {
		if got := wire.NearestEffort(c.effort, c.takes); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.effort, c.takes, got, c.want)
		}
	}
}

// effortsOfClients are the ways in which the clients of each API ask for reasoning,
// and the word that they mean.
var effortsOfClients = []struct{ api, said, body string }{
	{"anthropic", "high", chat + `"max_tokens":40000,"thinking":{"type":"enabled","budget_tokens":20000}}`},
	{"anthropic", "high", chat + `"max_tokens":40000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}`},
	{"anthropic", "none", chat + `"max_tokens":40000,"thinking":{"type":"disabled"}}`},
	{"responses", "low", `{"model":"m","input":"x","reasoning":{"effort":"low"}}`},
	{"responses", "xhigh", `{"model":"m","input":"x","reasoning":{"effort":"xhigh","summary":"auto"}}`},
	{"gemini", "medium", `{"contents":[],"generationConfig":{"thinkingConfig":{"thinkingBudget":8192}}}`},
	{"gemini", "high", `{"contents":[],"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}`},
	{"gemini", "none", `{"contents":[],"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}}`},
	{"gemini", "", `{"contents":[],"generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}}`},
	{"ollama", "medium", chat + `"think":true}`},
	{"ollama", "high", chat + `"think":"high"}`},
	{"ollama", "none", chat + `"think":false}`},
	{"openai", "minimal", chat + `"reasoning_effort":"minimal"}`},
	{"openai", "max", chat + `"reasoning_effort":"max"}`},
	{"openai", "", chat + `"n":1}`},
}

// effortsOfServers are what each API is sent for a word, where a model of it takes
// an effort: the field, and what stands in it.
var effortsOfServers = []struct {
	to    wire.Back
	model string
	field string
	sent  map[string]string
}{
	{ollama.Back{Model: &ollama.Details{}}, "m", "think", map[string]string{"": "", "none": "false", "minimal": "true", "low": "true", "medium": "true", "high": "true", "xhigh": "true", "max": "true"}},
	{ollama.Back{Model: &ollama.Details{Model: wire.Model{Think: new(bool)}}}, "m", "think", map[string]string{"": "", "none": "false", "minimal": "", "low": "", "medium": "", "high": "", "xhigh": "", "max": ""}},
	{ollama.Back{Model: &ollama.Details{Levels: true}}, "m", "think", map[string]string{"": "", "none": "false", "minimal": `"low"`, "low": `"low"`, "medium": `"medium"`, "high": `"high"`, "xhigh": `"high"`, "max": `"high"`}},
	{openai.Back{}, "m", "reasoning_effort", map[string]string{"": "", "none": `"none"`, "minimal": `"minimal"`, "low": `"low"`, "medium": `"medium"`, "high": `"high"`, "xhigh": `"xhigh"`, "max": `"max"`}},
	{responses.Back{}, "m", "reasoning", map[string]string{"": "", "none": `"effort":"none"`, "minimal": `"effort":"minimal"`, "low": `"effort":"low"`, "medium": `"effort":"medium"`,
		"high": `"effort":"high"`, "xhigh": `"effort":"xhigh"`, "max": `"effort":"max"`}},
	{anthropic.Back{}, "claude-opus-4-6", "output_config", map[string]string{"": "", "none": "", "minimal": `"effort":"low"`, "low": `"effort":"low"`, "medium": `"effort":"medium"`,
		"high": `"effort":"high"`, "xhigh": `"effort":"xhigh"`, "max": `"effort":"max"`}},
	{anthropic.Back{}, "claude-3-5-haiku", "thinking", map[string]string{"": "", "none": "", "minimal": "", "low": "", "medium": "", "high": "", "xhigh": "", "max": ""}},
	{anthropic.Back{}, "claude-sonnet-4-5", "thinking", map[string]string{"": "", "none": "", "minimal": `"budget_tokens":1024`, "low": `"budget_tokens":4096`, "medium": `"budget_tokens":10240`,
		"high": `"budget_tokens":24576`, "xhigh": `"budget_tokens":30000`, "max": `"budget_tokens":30000`}},
	{gemini.Back{}, "gemini-2.5-flash", "generationConfig", map[string]string{"": "", "none": `"thinkingBudget":0`, "minimal": `"thinkingBudget":1024`, "low": `"thinkingBudget":4096`,
		"medium": `"thinkingBudget":10240`, "high": `"thinkingBudget":24576`, "xhigh": `"thinkingBudget":24576`, "max": `"thinkingBudget":24576`}},
	{gemini.Back{}, "gemini-3-flash", "generationConfig", map[string]string{"": "", "none": `"thinkingLevel":"MINIMAL"`, "minimal": `"thinkingLevel":"MINIMAL"`, "low": `"thinkingLevel":"LOW"`,
		"medium": `"thinkingLevel":"MEDIUM"`, "high": `"thinkingLevel":"HIGH"`, "xhigh": `"thinkingLevel":"HIGH"`, "max": `"thinkingLevel":"HIGH"`}},
}

// Every client's way to ask for reasoning reaches every server in its own words,
// and what of it does not is told.
func TestEffortReachesEveryAPI(t *testing.T) {
	for _, c := range effortsOfClients {
		for _, s := range effortsOfServers {
			r := fromClient(t, c.api, c.body)
			if r.Params.Effort != c.said {
				t.Fatalf("%s: %q, want %q", c.body, r.Params.Effort, c.said)
			}
			r.Model = s.model
			if r.Params.MaxTokens == nil {
				most := 40000
				r.Params.MaxTokens = &most
			}
			body, lost := asks(t, s.to, r)
			got, want := string(body[s.field]), s.sent[c.said]
			if strings.Contains(fmt.Sprintf("%T", s.to), c.api+".") && c.api != "openai" && c.api != "responses" {
				continue // as it was said: TestThinkIsPassedOnAsItWasSaid and its like
			}
			if got == `{"maxOutputTokens":40000}` {
				got = ""
			}
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s %q to %T %s: %s, want %s", c.api, c.said, s.to, s.model, got, want)
			}
			told := slices.ContainsFunc(lost, func(l string) bool { return strings.HasPrefix(l, "params.effort: ") })
			if want == "" && c.said != "" && c.said != "none" && !told {
				t.Errorf("%s %q to %T %s: it is not told that it is lost: %q", c.api, c.said, s.to, s.model, lost)
			}
		}
	}
}
