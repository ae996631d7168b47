package learn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// What makes the coach speak.
const (
	minStray  = 10  // calls of a form, before it is said that they are written in another
	stray     = 0.5 // share of them
	minAlias  = 3   // calls of a name that was invented
	shownBads = 3   // reasons of bad replies that are named
)

// Coach collects replies and says what to change. The zero Coach is ready.
type Coach struct{ models []*Model }

// Model is what was seen of one model.
type Model struct {
	By      string `json:"by"`                // record.ByBx or record.ByServe: whose configuration it is about
	Backend string `json:"backend,omitempty"` // as the gateway calls it
	Name    string `json:"model"`
	Form    string `json:"tool_format"` // of the latest reply that was no trial
	Forms   []Form `json:"forms"`

	evidence *Evidence
	invented map[string]int
	tools    map[string]bool // names that were called and are there
}

// Form is what was seen of a model in one form.
type Form struct {
	Name    string         `json:"form"`
	Replies Tally          `json:"replies"` // all of them, old ones in full
	Written map[string]int `json:"written"` // calls, by the dialect that they came in
	Bad     map[string]int `json:"bad"`     // replies, by the reason

	Success  record.Share    `json:"success"` // as it is compared: old ones count for less, and a key for a tenth
	Interval record.Interval `json:"interval"`
}

// Add counts a reply. One that offered no tools says nothing.
func (c *Coach) Add(r record.Reply) {
	outcome, reason := record.Judge(&r)
	if outcome == record.Uncounted || r.Form == "" || r.Form == record.FormNone {
		return
	}
	m := c.model(r.By, r.Backend, r.Model())
	m.evidence.Running(r.Version())
	f := m.form(r.Form)
	f.Replies.Add(outcome, 1)
	if reason != "" {
		f.Bad[reason]++
	}
	for _, one := range r.Calls {
		f.Written[one.Source]++
		if one.Hallucinated {
			m.invented[one.Name]++
		} else {
			m.tools[one.Name] = true
		}
	}
	for _, p := range r.Problems {
		f.Written[cmp.Or(p.Dialect, record.FormNative)]++
		if p.Name != "" && p.Kind == "unknown_tool" {
			m.invented[p.Name]++
		}
	}
	m.evidence.Add(r.Form, r.Client, outcome, r.Trial)
	if !r.Trial {
		m.Form = r.Form
	}
}

// Probed adds what the doctor found of a model in a form.
func (c *Coach) Probed(model, form string, t Tally) {
	for _, m := range c.models {
		if m.Name == model {
			m.form(form)
			m.evidence.Probed(form, t)
		}
	}
}

func (c *Coach) model(by, backend, name string) *Model {
	if by == record.ByBx {
		backend = "" // a profile is for a model
	}
	for _, m := range c.models {
		if m.By == by && m.Backend == backend && m.Name == name {
			return m
		}
	}
	m := &Model{By: by, Backend: backend, Name: name, evidence: NewLasting(), invented: map[string]int{}, tools: map[string]bool{}}
	c.models = append(c.models, m)
	return m
}

// form finds a form, or adds it to those that are compared.
func (m *Model) form(name string) *Form {
	for i := range m.Forms {
		if m.Forms[i].Name == name {
			return &m.Forms[i]
		}
	}
	m.Forms = append(m.Forms, Form{Name: name, Written: map[string]int{}, Bad: map[string]int{}})
	m.evidence.forms = append(m.evidence.forms, &form{name: name})
	return &m.Forms[len(m.Forms)-1]
}

// Models lists what was seen, by name, each with its forms, the best first.
func (c *Coach) Models() []Model {
	var out []Model
	for _, m := range c.models {
		one := *m
		one.Forms = nil
		for _, s := range m.evidence.Standings() {
			f := *m.form(s.Form)
			f.Success, f.Interval = s.Success, s.Success.Interval()
			one.Forms = append(one.Forms, f)
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Model) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.By, b.By))
	})
	return out
}

// Kind is what an Advice is about.
type Kind string

// The kinds.
const (
	ChangeForm Kind = "form"    // another form of tools: To in place of From
	AddAlias   Kind = "alias"   // From, which models call, means the tool To
	AskDoctor  Kind = "examine" // the model writes To where it was told in From: nothing says which is better
)

// Advice is something to change, or to find out.
type Advice struct {
	Kind    Kind     `json:"kind"`
	By      string   `json:"by"`
	Backend string   `json:"backend,omitempty"`
	Model   string   `json:"model"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Why     []string `json:"why"` // the evidence, in sentences
}

// Advice says what to change, model by model.
func (c *Coach) Advice() (out []Advice) {
	for _, m := range c.Models() {
		a := Advice{By: m.By, Backend: m.Backend, Model: m.Name, From: m.Form}
		if p, ok := m.evidence.Propose(m.Form); ok {
			a.Kind, a.To = ChangeForm, p.To.Form
			a.Why = append(m.words(p.From.Form), m.words(p.To.Form)...)
			if p.From.Below != "" {
				a.Why = append(a.Why, fmt.Sprintf("in %s it calls in %s of the replies only, in %s in %s", p.From.Form, record.Percent(p.From.Called.Rate()), p.To.Form, record.Percent(p.To.Called.Rate())))
			}
			out = append(out, a)
		} else if to, share := m.strays(); share >= stray {
			a.Kind, a.To, a.Why = AskDoctor, to, m.words(m.Form)
			out = append(out, a)
		}
		out = append(out, m.aliases()...)
	}
	return out
}

// strays is the dialect in which a model mostly calls although it was told
// another.
func (m Model) strays() (to string, share float64) {
	f := m.form(m.Form)
	n := 0
	for _, times := range f.Written {
		n += times
	}
	if n < minStray {
		return "", 0
	}
	for _, name := range slices.Sorted(maps.Keys(f.Written)) {
		if s := float64(f.Written[name]) / float64(n); name != f.Name && s > share {
			to, share = name, s
		}
	}
	return to, share
}

// words are the evidence of a form.
func (m Model) words(name string) (out []string) {
	i := slices.IndexFunc(m.Forms, func(f Form) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	f := m.Forms[i]
	out = append(out, fmt.Sprintf("%s: %s good", name, f.Success))
	n := 0
	for _, times := range f.Written {
		n += times
	}
	for _, dialect := range leading(f.Written, n) {
		if times := f.Written[dialect]; dialect != name {
			out = append(out, fmt.Sprintf("it writes %s in %s of %d calls although %s was asked for", dialect, record.Percent(float64(times)/float64(n)), n, name))
		}
	}
	if bad := f.Replies.Bad; bad > 0 {
		var reasons []string
		for _, r := range leading(f.Bad, shownBads) {
			reasons = append(reasons, fmt.Sprintf("%s %d", strings.ReplaceAll(r, "_", " "), f.Bad[r]))
		}
		out = append(out, fmt.Sprintf("%s of its replies in %s are bad: %s", record.Percent(bad/f.Replies.size()), name, strings.Join(reasons, ", ")))
	}
	return out
}

// leading are the names that were counted most, at most n.
func leading(counts map[string]int, n int) []string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}

// aliases are for names that were invented again and again and are like that of a
// tool that the model has called.
func (m Model) aliases() (out []Advice) {
	tools := slices.Sorted(maps.Keys(m.tools))
	for _, name := range leading(m.invented, len(m.invented)) {
		near := schema.Near(name, tools)
		if m.invented[name] < minAlias || len(near) == 0 {
			continue
		}
		out = append(out, Advice{Kind: AddAlias, By: m.By, Backend: m.Backend, Model: m.Name, From: name, To: near[0],
			Why: []string{fmt.Sprintf("it called %s %d times, which is no tool; %s is the nearest that it calls", name, m.invented[name], near[0])}})
	}
	return out
}
