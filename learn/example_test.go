package learn_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

func ExampleEvidence() {
	e := learn.New("native", "react") // the forms that work, as the doctor found
	e.Probed("native", learn.Tally{Good: 8, Bad: 1})
	e.Probed("react", learn.Tally{Good: 9})

	p := e.Choose(learn.Seed("Where is the limit set?"), "")
	fmt.Println(p.Form, "is", p.Why)
	for i := range 40 {
		e.Add("react", "", record.Good, false)
		if i%2 == 0 {
			e.Add("native", "", record.Bad, false)
		}
	}
	change, ok := e.Propose("native")
	fmt.Println(ok, change.To.Form, change.To.Success)
	// Output:
	// react is the best so far: 100 % of 9 (70 to 100 %)
	// true react 100 % of 42 (92 to 100 %)
}
