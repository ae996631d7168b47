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
		fmt.Println(c.Name, string(c.Args), c.Dialect())
	}
	// Output: now {"zone":"UTC"} mine
}

// A file with a dialect is tried before it is used: what it writes must be read back.
func ExampleFiles() {
	mine, err := dialect.Files("testdata/mine.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range parse.Text(parse.Config{More: mine}, `I look. «call now»{"zone": "UTC",}«end»`).Calls() {
		fmt.Println(c.Name, string(c.Args), c.Fixes[0].Why)
	}
	// Output: now {"zone":"UTC"} trailing comma
}
