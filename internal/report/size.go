package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/unifiedtoolprotocol/utp/internal/arch"
)

// sizeReport prints the size budgets. Only those that are laws fail.
func sizeReport(w io.Writer, _ []string) error {
	h, err := arch.Load(".")
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "Budget\tWant\tIs\t")
	broken := false
	for _, b := range h.Budgets() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", b.Name, b.Want, b.Got, mark(b))
		broken = broken || b.Hard && !b.OK
	}
	t.Flush()
	if broken {
		return errors.New("a budget that is a law is exceeded")
	}
	return nil
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
