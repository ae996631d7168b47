package config

import "fmt"

// old is a name that LLMC's bx read, and what it is here.
type old struct {
	name string
	new  string // a variable; "": there is none
	says string // for people, where it is no variable
}

// oldVariables are those of LLMC's bx and of its forerunner.
var oldVariables = []old{
	{name: "LLMC_AGENT_PROVIDER", says: "[agent] provider in your bx.toml, or a profile"},
	{name: "LLMC_AGENT_MODEL", new: "BX_MODEL"},
	{name: "LLMC_AGENT_CONTEXT_BUDGET", says: "[ollama] num_ctx; without it bx goes by the model's window"},
	{name: "LLMC_OLLAMA_URL", new: "OLLAMA_HOST"},
	{name: "LLMC_OLLAMA_TIMEOUT", says: "[ollama] timeout"},
	{name: "LLMC_OPENAI_URL", new: "OPENAI_BASE_URL"},
	{name: "LLMC_OPENAI_TIMEOUT", says: "[openai] timeout"},
	{name: "LLMC_RAG_ENABLED", says: "[agent] presearch"},
	{name: "LLMC_LITELLM_ENABLED", says: "OPENAI_BASE_URL, with the address of the LiteLLM proxy"},
	{name: "LLMC_LITELLM_MODEL", new: "BX_MODEL"},
	{name: "BX_PROVIDER", says: "[agent] provider in your bx.toml, or a profile (BX_PROFILE)"},
	{name: "BX_AGENT_MODEL", new: "BX_MODEL"},
	{name: "BX_CONTEXT_BUDGET", says: "[ollama] num_ctx; without it bx goes by the model's window"},
	{name: "BX_OLLAMA_URL", new: "OLLAMA_HOST"},
	{name: "BX_TIMEOUT", says: "[agent] timeout"},
	{name: "BX_RAG_ENABLED", says: "[agent] presearch"},
}

// oldFlags are those of LLMC's bx that are something else here.
var oldFlags = map[string]string{
	"status": "bx status",
	"no-rag": "presearch = false in [agent] of bx.toml",
}

// OldFlag is what a flag of LLMC's bx is here; "": it was none, or is the same.
func OldFlag(name string) string { return oldFlags[name] }

// OldVariables says of each variable of LLMC's bx that is set what it is here,
// unless that is set too.
func OldVariables(env func(string) string) (said []string) {
	for _, o := range oldVariables {
		if env(o.name) == "" || o.new != "" && env(o.new) != "" {
			continue
		}
		says := o.new
		if says == "" {
			says = o.says
		}
		said = append(said, fmt.Sprintf("%s is not read: here it is %s", o.name, says))
	}
	return said
}
