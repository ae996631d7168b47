package format_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/format"
)

func TestLeft(t *testing.T) {
	tools := []utp.Tool{{Name: "search_code"}}
	for text, want := range map[string][2]bool{
		"In parse.go.":                                {false, false},
		"</tool_call> is where it ended":              {true, false},
		"The tag `</tool_call>` ends a call.":         {false, false},
		"a < b and list[0]":                           {false, false},
		"[TOOL_CALLS] and no more":                    {true, false},
		"I'll use the search_code tool to look at it": {false, true},
		"": {false, false},
	} {
		if markup, announced := format.Left(text, tools); markup != want[0] || announced != want[1] {
			t.Errorf("%q: %v, %v", text, markup, announced)
		}
	}
}
