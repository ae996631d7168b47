package agent_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp/agent"
)

func TestAboutCode(t *testing.T) {
	for _, q := range []string{"Where are tool calls parsed?", "How does the parser work?", "What does parse_call return?", "Explain this repository.",
		"search for auth code", "What is in README.md?", "What calls readFile?", "Which tests fail?", "Is there a bug in agent/turn.go?",
		"Wo werden die Aufrufe gelesen?", "Was macht diese Funktion?", "Où est la configuration ?", "¿Dónde está la función principal?", "这个函数做什么？", "このファイルは何ですか"} {
		if !agent.AboutCode(q) {
			t.Errorf("%s: not about the code", q)
		}
	}
	for _, q := range []string{"Hello", "What is 2+2?", "Write a haiku about autumn.", "Who was Ada Lovelace?", "Tell me more", "Thanks!",
		"What is a monad?", "Translate \"good morning\" to French.", "Q", "Bonjour", "Was ist ein Monat?"} {
		if agent.AboutCode(q) {
			t.Errorf("%s: about the code", q)
		}
	}
}
