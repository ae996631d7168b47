package handle_test

import (
	"fmt"
	"log"
	"time"

	"github.com/unifiedtoolprotocol/utp/store/handle"
)

func Example() {
	s := handle.Open("", time.Now) // in memory; with a directory it outlives the process
	id, err := s.Put("/home/me/repo", "grep foo", "a.go:1:foo\na.go:7:foo\n")
	if err != nil {
		log.Fatal(err)
	}
	text, info, err := s.Get("/home/me/repo", id)
	fmt.Println(len(id), info.Cmd, info.Size, err)
	fmt.Print(text)
	_, _, err = s.Get("/home/me/other", id)
	fmt.Println(err)
	// Output:
	// 16 grep foo 22 <nil>
	// a.go:1:foo
	// a.go:7:foo
	// no such result, or it was removed
}
