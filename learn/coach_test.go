package learn_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

// reply is one of a model in a form, with calls in a dialect; bad has no call that
// can be read.
func reply(form, dialect string, bad bool) record.Reply {
	r := record.Reply{By: record.ByBx, Asked: "qwen2.5-coder", Form: form, Tools: 3, Status: 200, Stop: utp.StopTool}
	if bad {
		r.Problems = []record.Problem{{Kind: utp.ProblemMalformed, Dialect: dialect}}
	} else {
		r.Calls = []record.Call{{Name: "search_code", Source: dialect}}
	}
	return r
}

// A model whose calls in one form are broken, and those in another are not, is to
// be told in that one, with the figures.
//
// contract: Q-09
func TestTheCoachSaysWhatToChangeAndWhy(t *testing.T) {
	var c learn.Coach
	for i := range 424 {
		dialect := "tools"
		if i%16 == 0 {
			dialect = "native"
		}
		c.Add(reply("native", dialect, i%9 == 0))
		if i%5 < 2 {
			r := reply("react", "react", i == 41)
			r.Trial = true
			c.Add(r)
		}
	}
	all := c.Advice()
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	a, words := all[0], strings.Join(all[0].Why, "\n")
	if a.Kind != learn.ChangeForm || a.Model != "qwen2.5-coder" || a.From != "native" || a.To != "react" {
		t.Errorf("%+v", a)
	}
	for _, want := range []string{"native: 8", "it writes tools in 94 % of 424 calls although native was asked for", "11 % of its replies in native are bad: malformed 48", "react: 9"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is missing in\n%s", want, words)
		}
	}
}

// Success by model and form is told, whatever is proposed.
//
// contract: Q-09
func TestTheCoachTellsSuccessByModelAndForm(t *testing.T) {
	var c learn.Coach
	for i := range 20 {
		c.Add(reply("hermes", "hermes", i < 2))
		other := reply("react", "react", false)
		other.Asked = "llama3"
		c.Add(other)
	}
	ms := c.Models()
	if len(ms) != 2 || ms[0].Name != "llama3" || ms[1].Forms[0].Replies != (learn.Tally{Good: 18, Bad: 2}) || ms[1].Forms[0].Interval.High > 0.98 {
		t.Errorf("%+v", ms)
	}
	if a := c.Advice(); len(a) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestTheCoachAsksForAnExamination(t *testing.T) {
	var c learn.Coach
	for range 30 {
		c.Add(reply("native", "hermes", false))
	}
	if a := c.Advice(); len(a) != 1 || a[0].Kind != learn.AskDoctor || a[0].To != "hermes" {
		t.Errorf("%+v", a)
	}
}

func TestTheCoachProposesAliases(t *testing.T) {
	var c learn.Coach
	for i := range 12 {
		r := reply("native", "native", false)
		if i%3 == 0 {
			r.Calls = []record.Call{{Name: "search_kode", Source: "native", Hallucinated: true}}
		}
		c.Add(r)
	}
	if a := c.Advice(); len(a) != 1 || a[0].Kind != learn.AddAlias || a[0].From != "search_kode" || a[0].To != "search_code" {
		t.Errorf("%+v", a)
	}
}

// What one client sends changes nothing that all others do not.
func TestOneKeyProposesNothing(t *testing.T) {
	var c learn.Coach
	for i := range 400 {
		r := reply("native", "native", false)
		r.By, r.Backend, r.Client = record.ByServe, "gpu", "honest"+string(rune('a'+i%10))
		c.Add(r)
		r = reply("react", "react", false)
		r.By, r.Backend, r.Client, r.Trial = record.ByServe, "gpu", "honest"+string(rune('a'+i%10)), true
		c.Add(r)
		r = reply("native", "native", true)
		r.By, r.Backend, r.Client = record.ByServe, "gpu", "hostile"
		c.Add(r)
	}
	if a := c.Advice(); len(a) != 0 {
		t.Errorf("%+v", a)
	}
}
