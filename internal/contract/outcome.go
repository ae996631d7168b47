package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Status is how a test ended. A later one weighs more than an earlier one.
type Status int

const (
	NotRun Status = iota
	Skipped
	Passed
	Failed
)

// String gives the word shown in reports.
func (s Status) String() string { return [...]string{"not run", "skipped", "pass", "FAIL"}[s] }

// Outcomes are the results of "go test -json".
type Outcomes struct {
	module string
	tests  map[string]map[string]Status // by import path and test; "" is the package itself
	said   map[string]*bytes.Buffer     // what a package printed outside its tests
}

// ReadOutcomes reads the output of "go test -json" in the module.
func ReadOutcomes(module string, r io.Reader) (*Outcomes, error) {
	o := &Outcomes{module: module, tests: map[string]map[string]Status{}, said: map[string]*bytes.Buffer{}}
	for dec := json.NewDecoder(r); ; {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF):
			return o, nil
		case err != nil:
			return nil, fmt.Errorf("contract: the output of go test -json: %w", err)
		}
		if e.Package == "" { // a compiler's message: "path [path.test]"
			e.Package, _, _ = strings.Cut(e.ImportPath, " ")
		}
		o.add(e.Action, e.Package, e.Test, e.Output)
	}
}

func (o *Outcomes) add(action, pkg, test, output string) {
	status, ended := map[string]Status{"pass": Passed, "fail": Failed, "skip": Skipped}[action]
	if ended {
		if o.tests[pkg] == nil {
			o.tests[pkg] = map[string]Status{}
		}
		o.tests[pkg][test] = status
	}
	if output != "" && test == "" {
		if o.said[pkg] == nil {
			o.said[pkg] = new(bytes.Buffer)
		}
		o.said[pkg].WriteString(output)
	}
}

// Of says how the carrier's test ended. Any failure among several tests of a
// case counts.
func (o *Outcomes) Of(c Carrier) (s Status) {
	own := o.tests[path.Join(o.module, c.Dir)]
	if c.Func != "" {
		if s, ran := own[c.Func]; ran {
			return s
		}
		return o.unrun(own, c)
	}
	for _, tests := range o.tests {
		s = max(s, subtests(tests, c.Case))
	}
	if s == NotRun {
		s = subtests(own, path.Base(c.Case))
	}
	if s == NotRun {
		s = o.unrun(own, c)
	}
	return s
}

// unrun is the status of a test without a result: failed if its package failed
// as a whole, as it does when it does not compile.
func (o *Outcomes) unrun(own map[string]Status, c Carrier) Status {
	if own[""] == Failed && !strings.HasPrefix(c.Func, "Benchmark") {
		return Failed
	}
	return NotRun
}

// subtests is the weightiest status of the subtests that are named after a case.
func subtests(tests map[string]Status, name string) (s Status) {
	for test, status := range tests {
		if strings.HasSuffix(test, "/"+strings.ReplaceAll(name, " ", "_")) {
			s = max(s, status)
		}
	}
	return s
}

// Broken lists what was printed by packages that failed without any test
// having failed: they do not compile, or they panicked.
func (o *Outcomes) Broken() (out []string) {
	for _, pkg := range sortedKeys(o.tests) {
		failed := 0
		for test, s := range o.tests[pkg] {
			if test != "" && s == Failed {
				failed++
			}
		}
		if o.tests[pkg][""] == Failed && failed == 0 {
			text := ""
			if b := o.said[pkg]; b != nil {
				text = b.String()
			}
			out = append(out, pkg+"\n"+text)
		}
	}
	return out
}
