package learn_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/learn"
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
