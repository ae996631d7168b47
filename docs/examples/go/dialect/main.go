// Command dialect reads calls in a dialect that a file describes.
package main

import (
	"fmt"
	"log"

	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/parse"
)

func main() {
	mine, err := dialect.Files("dialect/mine.json") // tried: it must read what it writes
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range parse.Text(parse.Config{More: mine}, `I look. «call now»{"zone": "UTC",}«end»`).Calls() {
		fmt.Println(call.Dialect(), call.Name, string(call.Args), call.Fixes)
	}
}
