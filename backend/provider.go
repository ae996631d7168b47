package backend

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// Providers that New knows.
const (
	Ollama    = "ollama"    // Ollama's own API
	OpenAI    = "openai"    // OpenAI, or any server with /v1/chat/completions
	Responses = "responses" // OpenAI's Responses API
	Anthropic = "anthropic"
	Gemini    = "gemini"
)

// Providers lists what New knows, by name.
func Providers() []string {
	names := make([]string, len(providers))
	for i, p := range providers {
		names[i] = p.name
	}
	return names
}

// provider is what a Client knows of an API beyond its codec.
type provider struct {
	name    string
	speaks  string                                    // "an OpenAI-compatible API"
	version string                                    // what its paths begin with
	back    func(base *url.URL, a *ability) wire.Back // by what the server says of the model
	models  string                                    // path of the list of models
	list    func(body []byte) ([]wire.Model, error)
	sign    func(h http.Header, key string)
}

// providers are in the order of their names.
var providers = []provider{
	{Anthropic, "Anthropic's API", "/v1", func(*url.URL, *ability) wire.Back { return anthropic.Back{} },
		anthropic.ModelsPath, anthropic.Models, func(h http.Header, key string) { h.Set("x-api-key", key) }},
	{Gemini, "Gemini's API", "/v1beta", func(*url.URL, *ability) wire.Back { return gemini.Back{} },
		gemini.ModelsPath, gemini.Models, func(h http.Header, key string) { h.Set("x-goog-api-key", key) }},
	{Ollama, "Ollama's API", "/api", func(_ *url.URL, a *ability) wire.Back { return ollama.Back{Model: a.details} },
		ollama.TagsPath, func(body []byte) ([]wire.Model, error) { return ollama.Tags(body, false) }, bearer},
	{OpenAI, "an OpenAI-compatible API", "/v1", func(base *url.URL, _ *ability) wire.Back { return openai.Back{Server: serverAt(base.Hostname())} },
		openai.ModelsPath, openai.Models, bearer},
	{Responses, "OpenAI's Responses API", "/v1", func(*url.URL, *ability) wire.Back { return responses.Back{} },
		responses.ModelsPath, responses.Models, bearer},
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func providerOf(name string) (provider, error) {
	i := slices.IndexFunc(providers, func(p provider) bool { return p.name == name })
	if i < 0 {
		return provider{}, fmt.Errorf("backend: provider %q: want %s", name, strings.Join(Providers(), ", "))
	}
	return providers[i], nil
}

func serverAt(host string) openai.Server {
	switch host {
	case "api.openai.com":
		return openai.OpenAI
	case "api.mistral.ai":
		return openai.Mistral
	}
	return openai.Any
}
