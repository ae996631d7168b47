package contract

import "fmt"

// waiting are the rows that no test can carry yet, with what they wait for.
var waiting = map[string]string{}

// Waiting gives what the rows without a test wait for, by their ids.
func Waiting() map[string]string { return waiting }

// Hold adds to what is strange each row that no test carries and that waits for
// nothing, and each that waits although a test carries it.
func (r *Report) Hold(waiting map[string]string) {
	seen := map[string]bool{}
	for _, s := range r.Rows {
		seen[s.ID] = true
		switch why := waiting[s.ID]; {
		case len(s.Tests) == 0 && why == "":
			r.Strange = append(r.Strange, fmt.Sprintf("%s has no test: tag one, or say in internal/contract/waiting.go what it waits for", s.ID))
		case len(s.Tests) > 0 && why != "":
			r.Strange = append(r.Strange, fmt.Sprintf("%s has a test and is still in internal/contract/waiting.go (%s): take it off", s.ID, why))
		}
	}
	for _, id := range sortedKeys(waiting) {
		if !seen[id] {
			r.Strange = append(r.Strange, id+" is in internal/contract/waiting.go and is no row")
		}
	}
}
