package undo_test

import (
	"fmt"
	"os"

	"github.com/unifiedtoolprotocol/utp/undo"
)

func Example() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	s, err := undo.Open(dir+".undo", root)
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir + ".undo")
	turn, err := s.Begin("1a2b3c4d")
	if err != nil {
		panic(err)
	}
	err = turn.Note("new.txt", nil, &undo.File{Data: []byte("hello"), Mode: 0o644}, "")
	fmt.Println(err, root.WriteFile("new.txt", []byte("hello"), 0o644), turn.End())
	r, err := s.Undo(false)
	fmt.Println(r.Removed, err)
	// Output:
	// <nil> <nil> <nil>
	// [new.txt] <nil>
}
