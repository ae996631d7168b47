package utp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// The first vector was made by Autobyteus itself.
//
// contract: I-01
func TestFingerprint(t *testing.T) {
	const vector = "call_1ef1b2e2f59fb93bfbafce7922fd44c9330080cd8ed03ee89adaa7332b918d69"
	for _, args := range []string{`{"b":1,"a":"é"}`, `{ "a" : "\u00e9", "b" : 1 }`} {
		c := utp.Call{ID: "x", Name: "t", Args: json.RawMessage(args), Source: utp.SourceNative}
		if got := c.Fingerprint(); got != vector {
			t.Errorf("%s: %s", args, got)
		}
	}
	same := [][]utp.Call{
		{{Name: "t", Args: json.RawMessage(`{"x":{"b":[1,2],"a":null}}`)}, {Name: "t", Args: json.RawMessage(`{"x": {"a": null, "b": [1, 2]}}`), ID: "2"}},
		{{Name: "t", Args: json.RawMessage("{\"a\":\"\u2028<&>\"}")}, {Name: "t", Args: json.RawMessage(`{"a":"\u2028\u003c&\u003e"}`)}},
		{{Name: "t", Args: json.RawMessage(`{"b":1,"a":[1.0,"x"]}`)}, {Name: "t", Args: json.RawMessage(`{ "a": [1.0, "\u0078"], "b": 1 }`)}},
		{{Name: "t", Args: json.RawMessage(`{"a":1}`)}}, {{Name: "t", Args: json.RawMessage(`{"a":"1"}`)}}, {{Name: "t", Args: json.RawMessage(`{"a":[]}`)}},
		{{Name: "t", Args: json.RawMessage(`{"a":{}}`)}}, {{Name: "t", Args: json.RawMessage(`{}`)}}, {{Name: "t", Args: json.RawMessage(`{`)}},
		{{Name: "t", Args: json.RawMessage(`{"a":9007199254740993}`)}},
		{{Name: "t", Args: json.RawMessage(`{"a":9007199254740992}`)}},
		{{Name: "t", Args: json.RawMessage(`{"a":"\\u2028"}`)}},
		{{Name: "u", Args: json.RawMessage(`{"a":"\\u2028"}`)}},
		{{Name: "t", Kind: utp.CustomCall, RawArgs: "ls"}, {Name: "t", Kind: utp.CustomCall, RawArgs: "ls", ID: "2"}},
		{{Name: "t", Kind: utp.CustomCall, RawArgs: "ls "}},
		{{Name: "t", RawArgs: "broken"}},
		{{Name: "t", RawArgs: "broken too"}},
	}
	seen := map[string]int{}
	for i, group := range same {
		for _, c := range group {
			if j, ok := seen[c.Fingerprint()]; ok && j != i {
				t.Errorf("%+v has the fingerprint of %+v", c, same[j][0])
			}
			seen[c.Fingerprint()] = i
		}
	}
	if len(seen) != len(same) {
		t.Errorf("%d fingerprints of %d calls", len(seen), len(same))
	}
}

func ExampleCall_Fingerprint() {
	first := utp.Call{ID: "call_1_1", Name: "read_file", Args: json.RawMessage(`{"path":"go.mod","limit":5}`)}
	again := utp.Call{ID: "call_1_2", Name: "read_file", Args: json.RawMessage(`{"limit": 5, "path": "go.mod"}`)}
	fmt.Println(first.Fingerprint() == again.Fingerprint())
	// Output: true
}
