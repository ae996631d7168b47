package doctor

import (
	"fmt"
	"io"
)

// Head prints the head of the table of findings.
func Head(w io.Writer) { fmt.Fprintf(w, "%-15s %s\n", "form", "probe") }

// Line prints a finding.
func (f Finding) Line(w io.Writer) {
	fmt.Fprintf(w, "%-15s %-13s %-4s %s\n", f.Form, f.Probe, f.Verdict, f.Detail)
}
