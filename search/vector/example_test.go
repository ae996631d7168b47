package vector_test

import (
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search/vector"
)

func of(text string) *vector.Vector {
	v := &vector.Vector{}
	for _, word := range strings.Fields(text) {
		v.Add(word, 1)
	}
	return v
}

func Example() {
	question := of("folder removed")
	for _, code := range []string{"delete directory", "open socket"} {
		fmt.Println(code, question.Cos(of(code)) > 0.3)
	}
	// Output:
	// delete directory true
	// open socket false
}
