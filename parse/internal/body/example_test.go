package body_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

func ExampleNest_Read() {
	open, shut := scan.Compile("<{key}>"), scan.Compile("</{key}>")
	item, itemEnd := scan.Compile("<item>"), scan.Compile("</item>")
	hot := [256]bool{'<': true}
	nest := body.Nest{
		Item: item, ItemClose: itemEnd, Arg: open, ArgClose: shut,
		Open: append(item, open...), Close: append(itemEnd, shut...), Hot: &hot,
	}
	work := 0
	for _, text := range []string{
		"<city>Rome</city><days>3</days>",
		"<item>a</item><item>b</item>",
		"<to>x</to><to>y</to> and words",
	} {
		value, rest := nest.Read(text, false, &work)
		fmt.Printf("%s %q\n", value, rest)
	}
	// Output:
	// {"city":"Rome","days":3} ""
	// ["a","b"] ""
	// {"to":["x","y"],"$text":" and words"} ""
}
