package dialect_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
)

// A strict schema requires every property; the null that stands for one that was
// left out is taken back out of the arguments.
func Example() {
	schema := `{"type":"object","properties":{"city":{"type":"string"}}}`
	lose := func(path, what, why string) { fmt.Println(path, what) }
	out, back, ok := dialect.Strict.Convert([]byte(schema), "tools[0]", lose)
	fmt.Println(string(out), ok)
	fmt.Println(string(back.Apply([]byte(`{"city":null}`))))
	// Output:
	// tools[0].properties.city required, may be null
	// {"type":"object","properties":{"city":{"type":["string","null"]}},"required":["city"],"additionalProperties":false} true
	// {}
}
