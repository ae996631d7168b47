package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/unifiedtoolprotocol/utp/internal/arch"
	"github.com/unifiedtoolprotocol/utp/internal/release"
)

// sizeReport prints the size budgets. Only those that are laws fail.
func sizeReport(w io.Writer, _ []string) error {
	h, err := arch.Load(".")
	if err != nil {
		return err
	}
	budgets := h.Budgets()
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		b, err := programSize(program, programs[program])
		if err != nil {
			return err
		}
		budgets = append(budgets, b)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "Budget\tWant\tIs\t")
	broken := false
	for _, b := range budgets {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", b.Name, b.Want, b.Got, mark(b))
		broken = broken || b.Hard && !b.OK
	}
	t.Flush()
	if broken {
		return errors.New("a budget that is a law is exceeded")
	}
	return nil
}

// host is the platform that this runs on.
var host = release.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}

// programs are how long each may be, in bytes. A bx that is a tenth longer has
// linked text/template again: internal/template says why.
var programs = map[string]int{"te": release.MaxTe, "bx": 42_000_000}

// programSize builds a program for this platform as it is shipped and measures it.
func programSize(program string, most int) (arch.Budget, error) {
	dir, err := os.MkdirTemp("", "size")
	if err != nil {
		return arch.Budget{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program")
	if err := release.Compile(context.Background(), ".", program, host, release.Release{}, file); err != nil {
		return arch.Budget{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return arch.Budget{}, err
	}
	n := int(info.Size())
	return arch.Budget{Name: "bytes of " + program + ", stripped", Want: fmt.Sprintf("≤ %d", most), Got: fmt.Sprint(n), OK: n <= most, Hard: true}, nil
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
