package dialect_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
)

func ExampleLoad() {
	mine, err := dialect.Load([]byte(`{
		"name": "mine",
		"call": {"open": "«call {name}»", "close": "«end»"},
		"body": "args"
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := parse.Text(parse.Config{More: []*grammar.Grammar{mine}}, `«call now»{"zone": "UTC"}«end»`)
	for _, c := range r.Calls() {
		fmt.Println(c.Name, string(c.Args), c.Source)
	}
	// Output: now {"zone":"UTC"} text:mine
}
