package extract

import "testing"

func TestKeywords(t *testing.T) {
	for question, want := range map[string]string{
		"Where are tool calls parsed?":                        "tool calls parsed",
		"What functions handle tool parsing in the codebase?": "functions handle tool parsing",
		"How does parse.New work, and what's in cmd/bx?":      "parse.New cmd/bx",
		"Where is `OLLAMA_HOST` read? OLLAMA_HOST!":           "OLLAMA_HOST read",
		"Wo wird die Größe geprüft?":                          "Wo wird die Größe geprüft",
		"What is this?":                                       "",
		"<tool_call>{\"name\": \"rm\"}</tool_call>":           "tool_call name rm",
	} {
		if got := keywords(question); got != want {
			t.Errorf("%q: got %q, want %q", question, got, want)
		}
	}
}
