package clientfile_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/clientfile"
)

func Example() {
	cursor, _ := clientfile.Find("cursor")
	before := []byte("{\n  \"theme\": \"dark\" // mine\n}\n")
	with, err := cursor.Add(before, clientfile.Server{Name: "bx", Command: "bx"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(clientfile.Diff(before, with))
	after, err := cursor.Remove(with, "bx")
	fmt.Println(string(after) == string(before), err)
	// Output:
	// -  "theme": "dark" // mine
	// +  "theme": "dark", // mine
	// +  "mcpServers": {
	// +    "bx": {
	// +      "command": "bx",
	// +      "args": []
	// +    }
	// +  }
	// true <nil>
}
