package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"

	"github.com/unifiedtoolprotocol/utp/internal/arch"
)

// sizeReport prints the size budgets. Only those that are laws fail.
func sizeReport(w io.Writer, _ []string) error {
	h, err := arch.Load(".")
	if err != nil {
		return err
	}
	te, err := programSize("./cmd/te")
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "Budget\tWant\tIs\t")
	broken := false
	for _, b := range append(h.Budgets(), te) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", b.Name, b.Want, b.Got, mark(b))
		broken = broken || b.Hard && !b.OK
	}
	t.Flush()
	if broken {
		return errors.New("a budget that is a law is exceeded")
	}
	return nil
}

// maxProgram is how long te may be as it is shipped, in bytes: it is started for
// every command of an agent. Of the platforms that dist builds for, it holds the
// one that this runs on; dist names the others that are longer.
const maxProgram = 4 << 20

// programSize builds a program as dist does and measures it.
func programSize(pkg string) (arch.Budget, error) {
	dir, err := os.MkdirTemp("", "size")
	if err != nil {
		return arch.Budget{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program")
	if err := build(platform{runtime.GOOS, runtime.GOARCH}, pkg, file, ""); err != nil {
		return arch.Budget{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return arch.Budget{}, err
	}
	n := int(info.Size())
	return arch.Budget{Name: "bytes of " + pkg + ", stripped", Want: fmt.Sprintf("≤ %d", maxProgram), Got: fmt.Sprint(n), OK: n <= maxProgram, Hard: true}, nil
}

func mark(b arch.Budget) string {
	switch {
	case b.OK:
		return "ok"
	case b.Hard:
		return "FAIL"
	}
	return "over"
}
