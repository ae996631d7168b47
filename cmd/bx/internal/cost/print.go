package cost

import (
	"fmt"
	"io"
)

// Print prints what each form of n tools costs.
func Print(w io.Writer, rows []Row, n int) {
	fmt.Fprintf(w, "%d tools, in tokens of o200k_base\n\n", n)
	fmt.Fprintf(w, "%-28s %7s %9s %9s\n", "form", "tools", "per tool", "per call")
	for _, r := range rows {
		name := r.Form + " (text)"
		if r.Native {
			name = r.Form + " (native, as JSON)"
		}
		fmt.Fprintf(w, "%-28s %7d %9.0f %9.0f %6.2fx\n", name, r.Tools, r.Each, r.Call, r.Share)
	}
	fmt.Fprint(w, "\ntools: to tell of all of them, with each request; per call: a call and what is around its result\n")
}
