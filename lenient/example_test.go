package lenient_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/lenient"
)

func ExampleRepair() {
	out, n, fixes, err := lenient.Repair(`{'city': "Paris", days: 3,} Shall I?`, lenient.Options{})
	fmt.Println(string(out), n, err)
	for _, f := range fixes {
		fmt.Println(f.Path, f.Why)
	}
	// Output:
	// {"city":"Paris","days":3} 27 <nil>
	// /city single quotes
	// /days unquoted key
	//  trailing comma
}

func ExampleReader() {
	var r lenient.Reader
	r.Reset(lenient.Options{})
	for _, piece := range []string{`{"cmd": "ec`, `ho "hi`, `""`, `, "n": 1`, `0}`} {
		for {
			t, n := r.Next(piece)
			piece = piece[n:]
			if t.Kind == lenient.More || t.Kind == lenient.Done || t.Kind == lenient.Fail {
				break
			}
			fmt.Printf("%v %q\n", t.Kind, t.Text)
		}
	}
	fmt.Println(r.Closed(), r.Fixes()[0].Why)
	// Output:
	// object ""
	// key "cmd"
	// string ""
	// part "ec"
	// part "ho "
	// part "\\\""
	// part "hi"
	// part "\\\""
	// string-close ""
	// key "n"
	// scalar "10"
	// object-close ""
	// true unescaped quote in a string
}
