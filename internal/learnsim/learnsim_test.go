package learnsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/learnsim"
	"github.com/unifiedtoolprotocol/utp/learn"
)

// Fewer runs than make coach-sim makes, but where a measure is a share of a few
// percent; they are always the same ones.
func TestMeasures(t *testing.T) {
	for _, s := range learnsim.Scenes() {
		runs := 60
		if s.Steady {
			runs = 1000
		}
		for _, n := range learnsim.Lengths {
			r := learnsim.Simulate(s, n, runs)
			for _, miss := range r.Misses() {
				t.Errorf("%s, conversations of %d: %s", s.Name, n, miss)
			}
		}
	}
}

// The measures can be missed: forms that all break their calls lead nowhere.
func TestMissesAreFound(t *testing.T) {
	r := learnsim.Result{Scene: learnsim.Scene{Name: "a", Leads: .9, Regret: .2, Steady: true, Mute: 1, Broken: 1},
		Led: .5, Lost: .3, TriedBy: 2 * learn.MostTrials, Changed: .1, Muted: 1, Moved: .1}
	if got := r.Misses(); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

func TestPageAndPlots(t *testing.T) {
	var rs []learnsim.Result
	for _, n := range learnsim.Lengths {
		rs = append(rs, learnsim.Simulate(learnsim.Scenes()[0], n, 2))
	}
	if page := learnsim.Table(rs); strings.Count(page, "\n| a | ") != 3 {
		t.Error(page)
	}
	if plot := learnsim.Plot(rs); strings.Count(plot, "<polyline") != 3 || !strings.HasSuffix(plot, "</svg>\n") {
		t.Error(plot)
	}
}

func ExampleSimulate() {
	s := learnsim.Scenes()[0]
	r := learnsim.Simulate(s, 5, 20)
	fmt.Println(s.About)
	fmt.Println(r.Led >= .9, r.Lost < .25, r.Misses())
	// Output:
	// rates 95, 85, 75, 65, 55, 45 %
	// true true []
}
