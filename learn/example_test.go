package learn_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

func ExampleShare_Interval() {
	native, react := learn.Share{Good: 189, Of: 212}, learn.Share{Good: 87, Of: 88}
	for _, s := range []learn.Share{native, react} {
		in := s.Interval()
		fmt.Printf("%.0f %% of %.0f (%.0f to %.0f %%)\n", 100*s.Rate(), s.Of, 100*in.Low, 100*in.High)
	}
	fmt.Println("react is better:", react.Above(native, learn.Z95))
	// Output:
	// 89 % of 212 (84 to 93 %)
	// 99 % of 88 (94 to 100 %)
	// react is better: true
}

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
