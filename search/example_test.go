package search_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/unifiedtoolprotocol/utp/search"
)

func Example() {
	root, err := os.OpenRoot("testdata/example")
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()
	files, err := search.List(context.Background(), root, search.Options{Globs: []string{"*.py"}})
	if err != nil {
		log.Fatal(err)
	}
	matches, err := search.Exact(context.Background(), root, files, search.Query{Pattern: "connect", Literal: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range matches {
		fmt.Printf("%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	// Output:
	// pool.py:1: def connect(url):
	// use.py:3: connect("db")
}

func ExampleChunks() {
	src := "package a\n\n// Get returns it.\nfunc (t *T) Get() K {\n\treturn t.v\n}\n"
	for _, c := range search.Chunks("a.go", []byte(src)) {
		fmt.Println(c.Start, c.End, c.Symbols)
	}
	// Output:
	// 1 1 []
	// 3 6 [T.Get]
}
