package price_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/price"
)

func Example() {
	list := price.List{"gpt-5*": {Input: 1.25, Output: 10}}
	p, known := list.Of("cloud", "gpt-5-mini")
	fmt.Println(known, p.Cost(utp.Usage{Input: 2000, Output: 500}), p.Most(2000, 1000))
	_, known = list.Of("local", "qwen3:8b")
	fmt.Println(known)
	// Output:
	// true 0.0075 0.012500002
	// false
}
