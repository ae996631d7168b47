package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

// uatReport runs the tests of the acceptance scenarios and criteria and prints
// the sign-off.
func uatReport(w io.Writer, _ []string) error {
	rows, carriers, err := rowsAndCarriers()
	if err != nil {
		return err
	}
	packages := acceptancePackages(rows, carriers)
	if len(packages) == 0 {
		return errors.New("no test carries an acceptance id (a script uat_4.1*.txtar does by its name)")
	}
	outcomes, err := test(packages...)
	if err != nil {
		return err
	}
	if !signOff(w, contract.Join(rows, carriers, outcomes), time.Now()) {
		return errors.New("not accepted")
	}
	return nil
}

// acceptancePackages lists the packages with tests that the sign-off needs.
func acceptancePackages(rows []contract.Row, carriers []contract.Carrier) (packages []string) {
	need := map[string]bool{}
	for _, r := range rows {
		if strings.HasPrefix(r.ID, "UAT-") {
			need[r.ID] = true
			for _, id := range r.ShownBy {
				need[id] = true
			}
		}
	}
	for _, c := range carriers {
		if slices.ContainsFunc(c.IDs, func(id string) bool { return need[id] }) {
			packages = append(packages, "./"+c.Dir)
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// kind is a kind of criteria with the number of them that must pass.
type kind struct {
	letter, name string
	want         int
}

var kinds = []kind{{"C", "Critical", 5}, {"I", "Important", 4}, {"N", "Nice to have", 0}}

// signOff prints the acceptance table and reports whether it is accepted.
func signOff(w io.Writer, r *contract.Report, day time.Time) bool {
	stories := true
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Scenario\tStatus\tTests\tDate\n")
	for _, s := range r.Rows {
		if id, ok := strings.CutPrefix(s.ID, "UAT-"); ok && s.ShownBy == nil {
			name, _, _ := strings.Cut(s.Text, ":")
			stories = stories && (!strings.HasPrefix(id, "6.") || s.Status() == contract.Passed)
			fmt.Fprintf(t, "%s %s\t%s\t%d of %d\t%s\n", id, strings.TrimSuffix(name, "."), s.Status(), passed(s), len(s.Tests), day.Format(time.DateOnly))
		}
	}
	fmt.Fprintf(t, "\nCriterion\tStatus\tShown by\n")
	for _, s := range r.Rows {
		if id, ok := strings.CutPrefix(s.ID, "UAT-"); ok && s.ShownBy != nil {
			fmt.Fprintf(t, "%s %s\t%s\t%s\n", id, strings.TrimSuffix(s.Text, "."), criterion(r, s), strings.Join(s.ShownBy, " "))
		}
	}
	fmt.Fprintf(t, "\nCriteria\tPassed\tTotal\tStatus\n")
	accepted := stories
	for _, k := range kinds {
		pass, all := k.tally(r)
		fmt.Fprintf(t, "%s (%s1–%s%d)\t%d\t%d\t%s\n", k.name, k.letter, k.letter, all, pass, all, k.verdict(pass))
		accepted = accepted && pass >= k.want
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, name := range failures(r) {
		fmt.Fprintf(w, "Failed: %s\n", name)
	}
	fmt.Fprintf(w, "Threshold: all critical criteria, four of the five important ones and every story (6); the rest is a bonus.\n")
	fmt.Fprintf(w, "Decision: %s\n", map[bool]string{true: "accepted", false: "NOT ACCEPTED"}[accepted])
	return accepted
}

// failures names the acceptance tests that failed, each once.
func failures(r *contract.Report) (names []string) {
	for _, s := range r.Rows {
		for _, t := range s.Tests {
			if strings.HasPrefix(s.ID, "UAT-") && t.Status == contract.Failed && !slices.Contains(names, t.Name()) {
				names = append(names, t.Name())
			}
		}
	}
	return names
}

func passed(s contract.Shown) (n int) {
	for _, t := range s.Tests {
		if t.Status == contract.Passed {
			n++
		}
	}
	return n
}

// criterion passes if each row that shows it passes, and no test of its own fails.
func criterion(r *contract.Report, s contract.Shown) contract.Status {
	if s.Status() == contract.Failed {
		return contract.Failed
	}
	sum := contract.Passed
	for _, id := range s.ShownBy {
		row, _ := r.Find(id)
		switch got := row.Status(); {
		case got == contract.Failed:
			return got
		case got < sum:
			sum = got
		}
	}
	return sum
}

func (k kind) tally(r *contract.Report) (pass, all int) {
	for _, s := range r.Rows {
		if strings.HasPrefix(s.ID, "UAT-"+k.letter) {
			all++
			if criterion(r, s) == contract.Passed {
				pass++
			}
		}
	}
	return pass, all
}

func (k kind) verdict(pass int) string {
	switch {
	case k.want == 0:
		return "bonus"
	case pass >= k.want:
		return "met"
	}
	return fmt.Sprintf("MISSED, wants %d", k.want)
}
