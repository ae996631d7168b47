package codec

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
)

// A choice never names a tool that only another provider runs.
func TestChoose(t *testing.T) {
	tools := []utp.Tool{{Name: "f"}, {Name: "patch", Kind: utp.CustomTool}, {Name: "web", Kind: utp.HostedTool, Extra: []byte(`{"anthropic":{"type":"web_search"}}`)}}
	for _, c := range []struct {
		provider string
		in, want utp.Choice
		losses   int
	}{
		{"openai", utp.Choice{Mode: utp.ChoiceNamed, Name: "web"}, utp.Choice{}, 1},
		{"anthropic", utp.Choice{Mode: utp.ChoiceNamed, Name: "web"}, utp.Choice{Mode: utp.ChoiceNamed, Name: "web"}, 0},
		{"openai", utp.Choice{Mode: utp.ChoiceNamed, Name: "patch"}, utp.Choice{Mode: utp.ChoiceNamed, Name: "patch"}, 0},
		{"openai", utp.Choice{Mode: utp.ChoiceRequired, Allowed: []string{"web", "f"}}, utp.Choice{Mode: utp.ChoiceRequired, Allowed: []string{"f"}}, 1},
		{"openai", utp.Choice{Mode: utp.ChoiceRequired, Allowed: []string{"web"}}, utp.Choice{Mode: utp.ChoiceNone, Allowed: []string{}}, 2},
		{"openai", utp.Choice{Allowed: []string{"gone"}}, utp.Choice{Allowed: []string{"gone"}}, 0},
	} {
		o := Outgoing{Provider: c.provider}
		got := o.Choose(&utp.Request{Tools: tools, Choice: c.in})
		if diff := cmp.Diff(c.want, got); diff != "" || len(o.Losses) != c.losses {
			t.Errorf("%+v: %s %v", c.in, diff, o.Losses)
		}
	}
}

func TestSampling(t *testing.T) {
	half := 0.5
	for _, c := range []struct {
		model, effort string
		sent          bool
	}{
		{"gpt-4.1", "", true}, {"o3-mini", "", false}, {"gpt-5", "", false}, {"gpt-5-2025-08-07", "low", false}, {"gpt-5-mini", "minimal", false},
		{"gpt-5-chat-latest", "", true}, {"gpt-5.2", "", true}, {"gpt-5.2", "none", true}, {"gpt-5.2", "high", false}, {"qwen3", "high", true},
	} {
		o := Outgoing{}
		temperature, topP := o.Sampling(&utp.Request{Model: c.model, Params: utp.Params{Effort: c.effort, Temperature: &half, TopP: &half}})
		if (temperature != nil) != c.sent || (topP != nil) != c.sent || (len(o.Losses) == 0) != c.sent {
			t.Errorf("%s %s: %v %v %v", c.model, c.effort, temperature, topP, o.Losses)
		}
	}
}
