package dialect_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
)

// A strict schema requires every property; the null that stands for one that was
// left out is taken back out of the arguments.
func Example() {
	schema := `{"type":"object","properties":{"city":{"type":"string"}}}`
	out, back, losses, ok := dialect.Strict.Convert([]byte(schema), "tools[0]")
	fmt.Println(string(out), ok)
	fmt.Println(losses[0].Path, losses[0].What)
	fmt.Println(string(back.Apply([]byte(`{"city":null}`))))
	// Output:
	// {"type":"object","properties":{"city":{"type":["string","null"]}},"required":["city"],"additionalProperties":false} true
	// tools[0].properties.city required, may be null
	// {}
}
