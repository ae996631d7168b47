package learn_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

// fed is the evidence of two forms, of which b was seen to be better.
func fed(a, b learn.Tally) *learn.Evidence {
	e := learn.New("native", "react")
	e.Probed("native", a)
	e.Probed("react", b)
	return e
}

func add(e *learn.Evidence, form, key string, o record.Outcome, n int) {
	for range n {
		e.Add(form, key, o, false)
	}
}

func TestAnotherDigestStartsAnew(t *testing.T) {
	e := fed(learn.Tally{Good: 4, Bad: 5}, learn.Tally{Good: 9})
	e.Running("one")
	e.Running("")
	e.Running("one")
	if p := e.Best(); p.Form != "react" {
		t.Fatalf("the best is %s", p.Form)
	}
	e.Running("two")
	for _, s := range e.Standings() {
		if s.Success.Of != 0 {
			t.Errorf("%s has %v of the model that was there before", s.Form, s.Success)
		}
	}
	if p := e.Choose(1<<63, ""); p.Form != "native" || p.Why != "the best so far: nothing was seen of it yet" {
		t.Errorf("%+v", p)
	}
}

func TestOldEvidenceCountsHalf(t *testing.T) {
	e := fed(learn.Tally{Good: 100}, learn.Tally{})
	add(e, "react", "", record.Good, int(learn.HalfLife))
	for _, s := range e.Standings() {
		if s.Form == "native" && (s.Success.Of < 49.9 || s.Success.Of > 50.1) {
			t.Errorf("100 replies count for %.2f after %.0f others", s.Success.Of, learn.HalfLife)
		}
	}
	add(e, "react", "", record.Silent, 1000)
	if s := e.Standings()[0]; s.Form != "native" && s.Success.Of > learn.HalfLife {
		t.Errorf("replies without a call made evidence: %+v", s)
	}
}

// Nothing makes evidence of much more than the replies of the time in which it
// fades, however many there were.
func TestManyRepliesAreBounded(t *testing.T) {
	e := fed(learn.Tally{Good: 9}, learn.Tally{Good: 9})
	add(e, "react", "", record.Good, 20000)
	if of := e.Standings()[0].Success.Of; of < 200 || of > 230 {
		t.Errorf("%.1f, want 150 / ln 2 = 216", of)
	}
}

func TestASilentFormIsNeverPicked(t *testing.T) {
	e := fed(learn.Tally{Good: 8, Bad: 1}, learn.Tally{Silent: 9})
	for i := range uint64(2000) {
		if p := e.Choose(i<<53, ""); p.Form != "native" {
			t.Fatalf("seed %d: %+v", i, p)
		}
		e.Add("native", "", record.Good, false)
	}
	if s := e.Standings()[1]; s.Form != "react" || s.Below != "native" {
		t.Errorf("%+v", s)
	}

	// As soon as requests show it, and the other way round as well.
	e = fed(learn.Tally{Good: 9}, learn.Tally{Good: 9})
	add(e, "native", "", record.Silent, 100)
	add(e, "native", "", record.Good, 1)
	add(e, "react", "", record.Good, 10)
	add(e, "react", "", record.Silent, 10)
	if s := e.Standings()[1]; s.Form != "native" || s.Below != "react" {
		t.Errorf("%+v", s)
	}
	if p, ok := e.Propose("native"); !ok || p.To.Form != "react" {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := e.Propose("react"); ok {
		t.Errorf("a form that never calls is proposed: %+v", p)
	}
}

// A doctor always asks for a call, people do not: that is no difference of forms.
func TestRequestsWithoutACallAreNotComparedWithProbes(t *testing.T) {
	e := fed(learn.Tally{Good: 9}, learn.Tally{Good: 9})
	add(e, "native", "", record.Good, 100)
	add(e, "native", "", record.Silent, 300)
	if s := e.Standings()[0]; s.Form != "native" || s.Below != "" {
		t.Errorf("%+v", s)
	}
}

func TestAKeyThatBreaksAllItsCallsMovesNothing(t *testing.T) {
	e, calm := fed(learn.Tally{Good: 8, Bad: 1}, learn.Tally{Good: 7, Bad: 2}), fed(learn.Tally{Good: 8, Bad: 1}, learn.Tally{Good: 7, Bad: 2})
	for i := range 500 {
		key, o := fmt.Sprint(i%10), record.Good
		if i%7 == 0 {
			o = record.Bad
		}
		p, q := e.Choose(learn.Seed(fmt.Sprint(i)), key), calm.Choose(learn.Seed(fmt.Sprint(i)), key)
		if p != q {
			t.Fatalf("%d: %+v, without the key %+v", i, p, q)
		}
		e.Add(p.Form, key, o, p.Trial)
		calm.Add(q.Form, key, o, q.Trial)
		for range 3 {
			hostile := e.Choose(learn.Seed(fmt.Sprint("x", i)), "hostile")
			if hostile.Trial {
				t.Fatal("a key without a good reply is tried upon")
			}
			e.Add(hostile.Form, "hostile", record.Bad, false)
		}
	}
}

func TestTheSameBeginningPicksTheSameForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := fed(learn.Tally{Good: 9}, learn.Tally{Good: 8, Bad: 1})
		add(e, "native", "", record.Good, rapid.IntRange(0, 300).Draw(t, "replies"))
		seed := learn.Seed(rapid.String().Draw(t, "beginning"))
		if p, q := e.Choose(seed, ""), e.Choose(seed, ""); p != q {
			t.Fatalf("%+v, then %+v", p, q)
		}
		if p := e.Best(); p.Trial {
			t.Fatalf("%+v is a trial", p)
		}
	})
}

func TestNoFormNoPick(t *testing.T) {
	e := learn.New()
	e.Add("native", "", record.Good, false)
	if p, q := e.Choose(1, ""), e.Best(); p != (learn.Pick{}) || q != (learn.Pick{}) {
		t.Errorf("%+v, %+v", p, q)
	}
	if _, ok := e.Propose("native"); ok {
		t.Error("a change without a form")
	}
}
