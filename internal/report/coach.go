package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/unifiedtoolprotocol/utp/internal/learnsim"
)

// The page of the coach, and the marks between which its figures stand.
const (
	coachPage  = "docs/coach.md"
	coachPlots = "docs/coach"
	coachBegin = "<!-- make coach-sim writes this -->\n"
	coachEnd   = "<!-- end -->\n"
	coachRuns  = 1000
)

// coachSim simulates what docs/coach.md promises and writes figures and plots
// into it. It fails if a measure does not hold.
func coachSim(w io.Writer, args []string) error {
	if len(args) > 0 {
		return errors.New("coach-sim wants no argument")
	}
	var all []learnsim.Result
	var missed error
	for _, s := range learnsim.Scenes() {
		var rs []learnsim.Result
		for _, n := range learnsim.Lengths {
			r := learnsim.Simulate(s, n, coachRuns)
			for _, m := range r.Misses() {
				missed = errors.Join(missed, fmt.Errorf("%s, conversations of %d: %s", s.Name, n, m))
			}
			rs = append(rs, r)
		}
		if s.Leads > 0 {
			if err := os.WriteFile(filepath.Join(coachPlots, s.Name+".svg"), []byte(learnsim.Plot(rs)), 0o644); err != nil {
				return err
			}
		}
		all = append(all, rs...)
	}
	page, err := os.ReadFile(coachPage)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), coachBegin)
	_, after, ended := strings.Cut(rest, coachEnd)
	if !ok || !ended {
		return fmt.Errorf("%s: want a place between %q and %q", coachPage, coachBegin, coachEnd)
	}
	table := learnsim.Table(all)
	fmt.Fprint(w, table)
	text := before + coachBegin + table + coachEnd + after
	return errors.Join(missed, os.WriteFile(coachPage, []byte(text), 0o644))
}
