package config

import (
	"fmt"
	"slices"
	"strings"
)

// Provider is the kind of a server.
type Provider string

// The providers that the program itself asks about. Search is no server: it
// answers by search alone.
const (
	OllamaProvider Provider = "ollama"
	OpenAIProvider Provider = "openai"
	SearchProvider Provider = "search"
)

// provider is what a name of a provider stands for.
type provider struct {
	name Provider
	api  Provider // of package backend; that of the table's own name where empty
	url  string   // where it is unless something says otherwise; "": nowhere
	key  string   // the variable that holds the key for url
	base string   // the variable that names another address
}

// providers are in the order in which messages list them. Addresses and
// variables are those of the vendors' own documentation.
var providers = []provider{
	{name: OllamaProvider, url: "http://127.0.0.1:11434", base: "OLLAMA_HOST"},
	{name: OpenAIProvider, url: "https://api.openai.com/v1", key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL"},
	{name: "responses", url: "https://api.openai.com/v1", key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL"},
	{name: "anthropic", url: "https://api.anthropic.com", key: "ANTHROPIC_API_KEY", base: "ANTHROPIC_BASE_URL"},
	{name: "gemini", url: "https://generativelanguage.googleapis.com", key: "GEMINI_API_KEY", base: "GOOGLE_GEMINI_BASE_URL"},
	{name: "mistral", api: OpenAIProvider, url: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY"},
	{name: "deepseek", api: OpenAIProvider, url: "https://api.deepseek.com/v1", key: "DEEPSEEK_API_KEY"},
	{name: "grok", api: OpenAIProvider, url: "https://api.x.ai/v1", key: "XAI_API_KEY"},
	{name: "kimi", api: OpenAIProvider, url: "https://api.moonshot.ai/v1", key: "MOONSHOT_API_KEY"},
	{name: "qwen", api: OpenAIProvider, url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", key: "DASHSCOPE_API_KEY"},
	{name: "openrouter", api: OpenAIProvider, url: "https://openrouter.ai/api/v1", key: "OPENROUTER_API_KEY"},
	{name: "huggingface", api: OpenAIProvider, url: "https://router.huggingface.co/v1", key: "HF_TOKEN"},
	{name: "vllm", api: OpenAIProvider, url: "http://127.0.0.1:8000"},
	{name: "gguf", api: OpenAIProvider, url: "http://127.0.0.1:8080"},
	{name: "lmstudio", api: OpenAIProvider, url: "http://127.0.0.1:1234"},
	{name: SearchProvider},
}

// providerOf finds a provider by its name.
func providerOf(name Provider) (provider, bool) {
	i := slices.IndexFunc(providers, func(p provider) bool { return p.name == name })
	if i < 0 {
		return provider{}, false
	}
	return providers[i], true
}

// API is the name that package backend has for what the provider speaks.
func (p Provider) API() Provider {
	of, _ := providerOf(p)
	return first(of.api, p)
}

// Providers lists the names of all.
func Providers() (names []string) {
	for _, p := range providers {
		names = append(names, string(p.name))
	}
	return names
}

func (p Provider) check() error {
	if _, ok := providerOf(p); !ok {
		meant := Meant(string(p), Providers())
		if meant != "" {
			meant = " (did you mean " + meant + "?)"
		}
		return fmt.Errorf("unknown provider %q%s: want %s; any other server with /v1/chat/completions is openai with a url", string(p), meant, either(Providers()))
	}
	return nil
}

// away reports whether the provider is on another machine unless a url says
// otherwise.
func (p Provider) away() bool {
	of, _ := providerOf(p)
	return of.url != "" && !URL(of.url).Loopback()
}

// address finds where the chosen provider is, and takes the key that belongs
// there and to no other place: the profile's url, the provider's variable, the
// tables [ollama] and [openai], its own address.
func (r *resolver) address() error {
	p, _ := providerOf(r.out.Kind)
	base := ""
	if p.base != "" {
		base = r.env(p.base)
	}
	switch {
	case r.profile.URL != "":
		r.out.URL = string(r.profile.URL)
		r.takeKey(r.profile.APIKey, r.profile.APIKeyEnv)
		return nil
	case base != "":
		r.because(p.base)
		r.takeKey("", p.key)
		return r.named(p, base)
	case r.out.Kind == OllamaProvider && r.Ollama.URL != "":
		r.out.URL = string(r.Ollama.URL)
		return nil
	case r.out.Kind == OpenAIProvider && r.OpenAI.URL != "":
		r.out.URL = string(r.OpenAI.URL)
		if !r.repoURL {
			r.takeKey(r.OpenAI.APIKey, r.OpenAI.APIKeyEnv)
		}
		return nil
	}
	r.out.URL = p.url
	r.takeKey(r.profile.APIKey, first(r.profile.APIKeyEnv, p.key))
	if p.key == "" || r.out.APIKey != "" {
		return nil
	}
	where := fmt.Sprintf("set %s, or api_key_env in the profile", p.key)
	if r.out.Kind == OpenAIProvider {
		where = "set url in the profile or in [openai], or OPENAI_BASE_URL; for OpenAI's own, OPENAI_API_KEY"
		return &Error{File: r.out.Why, Message: "provider openai needs the address of its server: " + where}
	}
	return &Error{File: r.out.Why, Message: fmt.Sprintf("provider %s at %s needs a key: %s", p.name, p.url, where)}
}

// named takes the address of a variable.
func (r *resolver) named(p provider, base string) (err error) {
	if p.name == OllamaProvider {
		r.out.URL, err = ollamaHost(base)
		return err
	}
	if err := URL(base).check(); err != nil {
		return &Error{File: p.base, Message: err.Error(), Err: err}
	}
	r.out.URL = base
	return nil
}

func (r *resolver) takeKey(key, variable string) {
	if r.out.APIKey = key; key == "" && variable != "" && r.env(variable) != "" {
		r.out.APIKey, r.out.APIKeyEnv = r.env(variable), variable
	}
}

// because names who chose the url, where another one chose the provider.
func (r *resolver) because(why string) {
	if !strings.Contains(r.out.Why, why) {
		r.out.Why += ", " + why
	}
}
