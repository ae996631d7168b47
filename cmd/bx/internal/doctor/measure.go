package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

// What a full examination takes: every scenario streamed and whole, so many
// times, in so many forms at most.
const (
	rounds   = 3
	maxForms = 4
)

// Requests is how often a model is asked in one form at most.
var Requests = 2 * rounds * len(scenarios)

// Asked is one answer of a full examination.
type Asked struct {
	Finding
	Whole  bool `json:"whole,omitempty"` // the reply came in one piece
	Round  int  `json:"round"`           // from 1
	Called bool `json:"called"`          // a call came, or a try at one
	Due    bool `json:"due"`             // one was asked for
}

// Measure is what is known of one form.
type Measure struct {
	Form      string          `json:"form"`
	Success   record.Share    `json:"success"`
	Interval  record.Interval `json:"interval"`
	Scenarios []Scenario      `json:"scenarios"`
	Dropped   string          `json:"dropped,omitempty"` // why it was not examined to the end
}

// Scenario is what a form is worth in one scenario.
type Scenario struct {
	Name    string       `json:"name"`
	Success record.Share `json:"success"`
	Detail  string       `json:"detail,omitempty"` // the first failure
}

// Full examines a model in each form in all scenarios and compares the forms. Forms
// names those to examine; none: native, and behind it the dialect that the model
// writes by itself, those of its name and the common ones, until one is without a
// fault, as nothing can be better. What is in done is not asked again; told is
// called with each answer as it comes.
func Full(ctx context.Context, model string, server Server, forms []string, done []Asked, told func(Asked)) (Report, error) {
	e := &examiner{ctx: ctx, server: server, report: Report{Model: model}}
	f := &full{examiner: e, done: done, told: told}
	chosen := len(forms) > 0
	if !chosen {
		forms = []string{Native}
	}
	for i := 0; i < len(forms); i++ {
		m, err := f.measure(forms[i])
		if err != nil {
			return e.report, err
		}
		e.report.Forms = append(e.report.Forms, m)
		if !chosen && (m.faultless() || f.works() == maxForms) {
			break
		}
		if !chosen && i == len(forms)-1 {
			for _, name := range e.candidates(model) {
				if !slices.Contains(forms, name) {
					forms = append(forms, name)
					break
				}
			}
		}
	}
	e.report.compare()
	return e.report, nil
}

// full is a full examination.
type full struct {
	*examiner
	done []Asked
	told func(Asked)
}

func (f *full) works() (n int) {
	for _, m := range f.report.Forms {
		if m.Dropped == "" {
			n++
		}
	}
	return n
}

// measure asks in one form: each scenario in turn, so that an examination that
// ends early has seen all of them. A form in which neither of the first two
// replies so much as tries a call is left.
func (f *full) measure(form string) (Measure, error) {
	m := Measure{Form: form}
	for _, s := range scenarios {
		m.Scenarios = append(m.Scenarios, Scenario{Name: s.name})
	}
	silent := 0
	for round := 1; round <= rounds; round++ {
		for i, s := range scenarios {
			for _, whole := range []bool{false, true} {
				a, err := f.ask(s, form, whole, round)
				if err != nil {
					return m, err
				}
				m.add(i, a)
				if round == 1 && i == 0 && !a.Called {
					silent++
				}
				if silent == 2 {
					m.Dropped = cmp.Or(a.Detail, "no call")
					return m, nil
				}
			}
		}
	}
	m.Interval = m.Success.Interval()
	return m, nil
}

// ask asks, or gives what was answered before.
func (f *full) ask(s probe, form string, whole bool, round int) (Asked, error) {
	for _, a := range f.done {
		if a.Form == form && a.Probe == s.name && a.Whole == whole && a.Round == round {
			f.saw(a)
			return a, nil
		}
	}
	s.whole = whole
	a := Asked{Whole: whole, Round: round, Due: !s.after && !s.idle}
	n := len(f.report.Findings)
	var err error
	a.Finding, err = f.probe(s, form)
	f.report.Findings = f.report.Findings[:n]
	if err != nil {
		return a, err
	}
	a.Called = f.called
	f.saw(a)
	if f.told != nil {
		f.told(a)
	}
	return a, nil
}

func (f *full) saw(a Asked) { f.report.Asked = append(f.report.Asked, a) }

func (m *Measure) add(i int, a Asked) {
	one := record.Share{Of: 1}
	switch a.Verdict {
	case Skipped:
		return
	case Yes:
		one.Good = 1
	case No:
		m.Scenarios[i].Detail = cmp.Or(m.Scenarios[i].Detail, a.Detail)
	}
	m.Success, m.Scenarios[i].Success = m.Success.Plus(one), m.Scenarios[i].Success.Plus(one)
}

func (m Measure) faultless() bool { return m.Dropped == "" && m.Success.Good == m.Success.Of }

// compare says which form is best. Another one than the first that works is
// better if it is without a fault, or significantly above.
func (r *Report) compare() {
	working := slices.DeleteFunc(slices.Clone(r.Forms), func(m Measure) bool { return m.Dropped != "" || m.Success.Good == 0 })
	if len(working) == 0 {
		r.Format, r.Why = "none", "the call that was asked for came in no form"
		return
	}
	first := working[0]
	best := slices.MaxFunc(working, func(a, b Measure) int { return cmp.Compare(a.Success.Rate(), b.Success.Rate()) })
	r.Format = first.Form
	switch {
	case best.Form == first.Form && len(working) == 1 && first.faultless():
		r.Why = "no form can be better: " + first.Success.String()
	case best.Form == first.Form:
		r.Why = "no form is better: " + first.Success.String()
	case best.faultless() || best.Success.Above(first.Success, record.Z95):
		r.Format, r.Why = best.Form, fmt.Sprintf("better than %s: %s, not %s", first.Form, best.Success, first.Success)
	default:
		r.Why = fmt.Sprintf("no form is better: %s; the highest, %s, is %s, which may be chance", first.Success, best.Form, best.Success)
	}
}

// Tally is what was asked in a form as package learn counts it.
func Tally(asked []Asked, form string) (t learn.Tally) {
	for _, a := range asked {
		switch {
		case a.Form != form || a.Verdict == Skipped:
		case a.Verdict == Yes:
			t.Good++
		case a.Due && !a.Called:
			t.Silent++
		default:
			t.Bad++
		}
	}
	return t
}

func formsOf(reports []Report) (names []string) {
	for _, r := range reports {
		for _, m := range r.Forms {
			if !slices.Contains(names, m.Form) {
				names = append(names, m.Form)
			}
		}
	}
	return names
}

func (r Report) form(name string) *Measure {
	for i := range r.Forms {
		if r.Forms[i].Form == name {
			return &r.Forms[i]
		}
	}
	return nil
}
