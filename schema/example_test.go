package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

func Example() {
	tools := schema.Compile([]utp.Tool{{
		Name: "search_code",
		Schema: json.RawMessage(`{"type":"object","properties":{
			"query":{"type":"string","description":"What to look for."},
			"limit":{"type":"integer","default":5}
		},"required":["query"]}`),
	}})
	fmt.Println(tools.Describe("search_code"))

	name, fix, _ := tools.Resolve("functions.searchCode")
	fmt.Println(name, "-", fix.Why)

	args, fixes, _ := tools.Check(name, json.RawMessage(`{"Query":"main","limit":"7"}`))
	fmt.Println(string(args))
	for _, f := range fixes {
		fmt.Println(f.Path, f.Was, f.Now)
	}

	_, _, issues := tools.Check(name, json.RawMessage(`{"limit":"seven"}`))
	for _, i := range issues {
		fmt.Println(i)
	}
	// Output:
	// search_code(query: string, limit?: integer = 5)
	// search_code - the tool's name in another spelling
	// {"query":"main","limit":7}
	// /query Query query
	// /limit "7" 7
	// missing required argument "query" (string: What to look for.)
	// /limit: want an integer, got "seven"
}
