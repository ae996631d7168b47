package translation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/translation"
)

const conversations = "../../../../wire/testdata/"

// files are what is translated, by what their names end in.
var files = map[string]func(t *translation.Translation, text []byte){
	".request.json": (*translation.Translation).Request, ".reply.json": (*translation.Translation).Response,
	".sse": (*translation.Translation).Stream, ".ndjson": (*translation.Translation).Stream,
}

// Every text of every conversation is translated for every API.
func TestEveryTextForEveryAPI(t *testing.T) {
	for _, from := range translation.Names() {
		kind := from
		if strings.HasPrefix(from, "api.") {
			kind = "openai"
		}
		for ext, translate := range files {
			paths, err := filepath.Glob(conversations + "*/" + kind + ext)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				each(t, from, path, func(x *translation.Translation) { translate(x, text) }, ext)
			}
		}
	}
}

func each(t *testing.T, from, path string, translate func(*translation.Translation), ext string) {
	t.Helper()
	for _, to := range translation.Names() {
		x := translation.Translation{Model: "m"}
		x.From, _ = translation.Named(from)
		x.To, _ = translation.Named(to)
		translate(&x)
		whole := strings.HasSuffix(ext, ".json")
		if x.Err != nil || len(x.Out) == 0 || whole && !json.Valid(x.Out) || (x.Path != "") != (ext == ".request.json") {
			t.Errorf("%s to %s: %v: %.200s", path, to, x.Err, x.Out)
		}
	}
}

func TestBrokenTexts(t *testing.T) {
	from, _ := translation.Named("openai")
	to, _ := translation.Named("anthropic")
	for _, c := range []struct {
		name      string
		translate func(*translation.Translation, []byte)
		text, out string
	}{
		{"request", (*translation.Translation).Request, `{"messages":5}`, ""},
		{"two tools", (*translation.Translation).Request, `{"messages":[],"tools":[{"function":{"name":"f"}},{"function":{"name":"f"}}]}`, ""},
		{"reply", (*translation.Translation).Response, `{"error":{"message":"no"}}`, ""},
		{"a reply with a broken call", (*translation.Translation).Response, `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]},"finish_reason":"tool_calls"}]}`, ""},
		{"stream", (*translation.Translation).Stream, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", "event: error"},
		{"no stream", (*translation.Translation).Stream, "", "event: error"},
	} {
		x := translation.Translation{From: from, To: to}
		c.translate(&x, []byte(c.text))
		if x.Err == nil || !strings.Contains(string(x.Out), c.out) || c.out == "" && len(x.Out) > 0 {
			t.Errorf("%s: %v: %s", c.name, x.Err, x.Out)
		}
	}
	if _, ok := translation.Named("nowhere"); ok {
		t.Error("an API of no name")
	}
}
