package schema_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Words announce a tool when the model says of itself that it will use it.
// contract: P-20
func TestAnnounces(t *testing.T) {
	tools := []utp.Tool{{Name: "search_code"}, {Name: "search"}, {Name: "readFile"}}
	for text, want := range map[string]string{
		"I'll use the search_code tool to find it.":                    "search_code",
		"Sure!\nLet me call `search` with the query.":                  "search",
		"I will now use the search tool.":                              "search",
		"First, I’m going to run readFile on parse.go to see it.":      "readFile",
		"I need to look at parse.go, using search_code.":               "search_code",
		"I will search the web and use common sense.":                  "",
		"You could use search_code for that.":                          "",
		"I won't use search_code.":                                     "",
		"I'll answer without calling search_code.":                     "",
		"I used search_code and found it.":                             "",
		"I'll use search_codes.":                                       "",
		"Do this:\n```\nLet me use search_code\n```\nand you are done": "",
		"I'll use it. The search_code tool is nice.":                   "",
		"": "",
	} {
		got, sentence, ok := schema.Announces(text, tools)
		if got.Name != want || ok != (want != "") || ok == (sentence == "") {
			t.Errorf("%q: %q in %q, want %q", text, got.Name, sentence, want)
		}
	}
}
