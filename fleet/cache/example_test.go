package cache_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/fleet/cache"
)

func Example() {
	c, err := cache.Open("redis://127.0.0.1:6379/0")
	if err != nil {
		panic(err)
	}
	defer c.Close()
	_, err = cache.Open("127.0.0.1:6379")
	fmt.Println(err)
	// Output: want redis://HOST:PORT/NUMBER
}
