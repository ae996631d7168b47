package index_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/unifiedtoolprotocol/utp/search/index"
)

func Example() {
	cache, err := os.MkdirTemp("", "index")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)
	ctx := context.Background()
	x, err := index.Open(ctx, "../testdata/example", cache)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	a, err := x.Query(ctx, "How do I connect?")
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range a.Hits(1) {
		fmt.Printf("%s:%d-%d %s: %s\n", h.Path, h.Start, h.End, h.Symbol, h.Lines[0].Text)
	}
	fmt.Println(a.Totals)
	// Output:
	// pool.py:1-2 connect: def connect(url):
	// [{./ 2}]
}
