package doctor

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Head prints the head of the table of findings.
func Head(w io.Writer) { fmt.Fprintf(w, "%-15s %s\n", "form", "probe") }

// Line prints a finding.
func (f Finding) Line(w io.Writer) {
	fmt.Fprintf(w, "%-15s %-13s %-4s %s\n", f.Form, f.Probe, f.Verdict, f.Detail)
}

// Table prints the measures of models side by side: a row for each form and
// scenario, a column for each model.
func Table(w io.Writer, reports []Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, cell func(Report) string) {
		fmt.Fprint(t, name)
		for _, r := range reports {
			fmt.Fprint(t, "\t", cell(r))
		}
		fmt.Fprintln(t)
	}
	row("", func(r Report) string { return r.Model })
	for _, form := range formsOf(reports) {
		row(form, func(r Report) string { return r.form(form).words() })
		for i, s := range scenarios {
			row("  "+s.name, func(r Report) string { return r.form(form).scenario(i) })
		}
	}
	return t.Flush()
}

func (m *Measure) words() string {
	switch {
	case m == nil:
		return "not examined"
	case m.Dropped != "":
		return "no call: " + m.Dropped
	}
	return m.Success.String()
}

func (m *Measure) scenario(i int) string {
	if m == nil || m.Dropped != "" || m.Scenarios[i].Success.Of == 0 {
		return "-"
	}
	s := m.Scenarios[i].Success
	return fmt.Sprintf("%.0f of %.0f", s.Good, s.Of)
}
