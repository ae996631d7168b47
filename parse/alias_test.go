package parse_test

import (
	"encoding/json"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// An alias counts in every form of a call, those of ordinary text too; as a
// word of prose it does not.
//
// contract: W-03
func TestAnAliasInEveryForm(t *testing.T) {
	set := schema.CompileWith([]utp.Tool{{Name: "list_dir", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}},
		schema.Options{Aliases: []schema.Alias{{From: "ls", To: "list_dir"}}})
	for text, calls := range map[string]int{
		"Action: ls\nAction Input: {\"path\": \".\"}":                   1,
		"Action: LS\nAction Input: {\"path\": \".\"}":                   1,
		"Action: ls(path=\".\")":                                        1,
		"[ls(path=\".\")]":                                              1,
		"{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}":          1,
		"# Tool: ls\n# Arguments: {\"path\": \".\"}":                    1,
		"<tool_call>{\"name\": \"ls\", \"arguments\": {}}</tool_call>":  1,
		"ls {\"path\": \".\"}":                                          1,
		"Action: ls is a command.":                                      0,
		"Use ls(path) there.":                                           0,
		"ls lists a directory.":                                         0,
		"Run this:\n\n```sh\nls -l\n```\nIt lists {\"path\": \".\"}.\n": 0,
	} {
		r := parse.Text(parse.Config{Tools: set}, text)
		if got := r.Calls(); len(got) != calls || calls > 0 && got[0].Name != "list_dir" {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// A list of JSON objects is JSON, not Python with objects in it.
func TestAListOfObjectsIsJSON(t *testing.T) {
	set := schema.Compile([]utp.Tool{{Name: "list_dir"}})
	for text, source := range map[string]string{
		"[{\"name\": \"list_dir\", \"arguments\": {}}]":               "text:json-bare",
		"```json\n[{\"name\": \"list_dir\", \"arguments\": {}}]\n```": "text:json-bare",
		"{\"name\": \"list_dir\", \"arguments\": {}}":                 "text:json-bare",
		"[list_dir()]": "text:python-lines",
	} {
		r := parse.Text(parse.Config{Tools: set}, text)
		if got := r.Calls(); len(got) != 1 || got[0].Source != source {
			t.Errorf("%q: %+v, want %s", text, got, source)
		}
	}
}
