package commands_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/commands"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
	"github.com/unifiedtoolprotocol/utp/store/handle"
)

func Example() {
	dir, err := os.MkdirTemp("", "te")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nfunc Open() {}\n"), 0o666); err != nil {
		panic(err)
	}
	r := commands.Reader{Root: dir, Table: toolenvelope.Default(), Results: handle.Open("", time.Now)}
	out, err := r.Run(context.Background(), "grep", []string{"-w", "Open"})
	fmt.Println(out, err)
	_, err = r.Run(context.Background(), "read", []string{"../other"})
	fmt.Println(errors.Is(err, commands.ErrOutside))
	_, err = r.Run(context.Background(), "run", []string{"ls"})
	fmt.Println(err)
	// Output:
	// # TE_BEGIN_META
	// {"v":1,"cmd":"grep","matches":1,"files":1,"content_type":"code/go"}
	// # TE_END_META
	//
	// a.go:3: func Open() {}
	//  <nil>
	// true
	// no such command: run: want one of grep find read ls tree diff log status json
}
