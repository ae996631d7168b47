package codec

import "testing"

func TestFamily(t *testing.T) {
	for model, want := range map[string]string{
		"us.anthropic.claude-opus-4-1-20250805-v1:0": "claude-opus-4-1", "claude-sonnet-4-5@20250929": "claude-sonnet-4-5",
		"claude-3-5-sonnet-latest": "claude-3-5-sonnet", "gpt-5-2025-08-07": "gpt-5", "o3": "o3", "GPT-5.1": "gpt-5.1", "gpt-4.1-mini": "gpt-4.1-mini",
	} {
		if got := Family(model); got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}
