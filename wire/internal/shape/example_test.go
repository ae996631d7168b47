package shape_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

type tool struct {
	Name string       `json:"name"`
	Max  int          `json:"max,omitempty"`
	Rest shape.Fields `json:"-"`
}

// A shape keeps what the struct does not name, and says where a value is wrong.
func Example() {
	tools := shape.Of[tool]()
	t, err := tools.Read(shape.Value{Raw: []byte(`{"name":"grep","beta":true}`)})
	fmt.Println(t.Name, t.Rest[0].Name, err == nil)
	fmt.Println(string(tools.Write(t, t.Rest)))

	_, err = tools.Read(shape.Value{Raw: []byte(`{"name":"grep","max":"5"}`)})
	fmt.Println(err)
	// Output:
	// grep beta true
	// {"name":"grep","beta":true}
	// max: offset 21: want a number
}
