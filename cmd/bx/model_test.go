package main

import "testing"

// A name of a model that is not there is answered with the nearest one that is.
func TestNearModel(t *testing.T) {
	known := []string{"qwen3-coder:30b", "native:7b", "library/llama3.2:latest", "gpt-oss:20b"}
	for name, want := range map[string]string{
		"nativ": "native:7b", "native:8b": "native:7b", "natvie": "native:7b", "llama3.2": "library/llama3.2:latest", "llama3.3": "library/llama3.2:latest",
		"qwen3": "qwen3-coder:30b", "gpt-os": "gpt-oss:20b", "mistral": "", "x": "", "": "",
	} {
		if got := nearModel(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
