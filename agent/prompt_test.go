package agent_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/agent"
)

// contract: A-19
func TestSystemPrompt(t *testing.T) {
	for _, d := range []agent.SystemData{{}, {Root: "utp", Tools: true}, {Tools: true, Explain: true, Extra: "Speak French. <b>"}} {
		text, err := agent.System(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Cite", "path:line", "do not know", d.Root, d.Extra} {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: %q is missing in\n%s", d, want, text)
			}
		}
		if strings.Contains(text, "tools you are given") != d.Tools || strings.Contains(text, "step by step") != d.Explain {
			t.Errorf("%+v:\n%s", d, text)
		}
		if m := regexp.MustCompile(`(?i)\b(crawl|walk|run|tiers?)\b`).FindString(text); m != "" {
			t.Errorf("the prompt speaks of tiers: %q", m)
		}
	}
}
