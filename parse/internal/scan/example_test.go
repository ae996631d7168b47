package scan_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

func ExampleLongest() {
	openers := append(scan.Compile("<call {name}>"), scan.Compile(`<call {name} id="{id}">`)...)
	work := 0
	for _, text := range []string{`<CALL now id='7'>{}`, "<call now>{}", "<call no", "<cell now>"} {
		var held scan.Caps
		n, found := scan.Longest(openers, scan.ViewOf(text, false, &work), &held)
		fmt.Printf("%d %v %v %q %q\n", n, found == scan.Yes, found == scan.More, held.Name, held.ID)
	}
	// Output:
	// 17 true false "now" "7"
	// 10 true false "now" ""
	// 0 false true "" ""
	// 0 false false "" ""
}
