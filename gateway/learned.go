package gateway

import (
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

// lessons is what was seen of models in the forms of tools. It outlives a Reload.
type lessons struct {
	mu sync.Mutex
	of map[spot]*learn.Evidence
}

// with hands out the evidence of a model, which first brings where there is none.
func (l *lessons) with(at spot, first func(target, model string) *learn.Evidence, do func(*learn.Evidence)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of[at]
	if e == nil {
		e = first(at.target, at.model)
		if l.of == nil {
			l.of = map[spot]*learn.Evidence{}
		}
		l.of[at] = e
	}
	do(e)
}

// forget has the evidence brought anew that knows of no form: an examination may
// have come since.
func (l *lessons) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, e := range l.of {
		if len(e.Forms()) == 0 {
			delete(l.of, at)
		}
	}
}

// lesson is the form that a conversation has, where forms are learned.
type lesson struct {
	at   spot
	pick learn.Pick
}

// formKept is about what a kept form takes, in bytes.
const formKept = 512

// form is the form for a target's model, "" where none is learned. Once a
// conversation has one, it stays: it is kept by the conversation's beginning, and
// by its calls for clients that shorten conversations; after a restart the ids of
// its calls tell it. One that is not known any more gets the form that is proved
// best, and no draw; so do requests that must call, and keys that nothing is to be
// tried upon.
func (x *exchange) form(t Target) string {
	if !x.way.Learned || x.Lessons == nil {
		return ""
	}
	at := t.spot(x.request.Model)
	if x.lesson != nil && x.lesson.at == at {
		return x.lesson.pick.Form // another try
	}
	x.lesson = nil
	t.stock.renew(x.r.Context(), t.asked(x.request.Model))
	var pick learn.Pick
	saved := x.savedForms(at)
	x.gate.lessons.with(at, x.Lessons, func(e *learn.Evidence) {
		e.Running(t.digest(x.request.Model))
		switch kept := x.keptForm(saved, e.Forms()); {
		case x.report.Required:
			pick = e.Best()
			return
		case kept != nil:
			pick = *kept
		case x.report.Tools == 0:
			return
		case x.client != nil && x.client.Steady || slices.ContainsFunc(x.request.Messages, func(m utp.Message) bool { return m.Role == utp.RoleAssistant }):
			pick = e.Best()
		default:
			pick = e.Choose(learn.Seed(x.report.Conversation), x.who())
		}
	})
	if pick.Form == "" {
		return ""
	}
	x.lesson = &lesson{at, pick}
	own := formPlace(at, x.report.Conversation)
	known := slices.ContainsFunc(saved, func(k *kept) bool { return k != nil && k.place == own && k.pick.Form == pick.Form })
	if !known && !x.report.Required {
		x.store(x.formsToKeep([]string{x.report.Conversation})...)
	}
	return pick.Form
}

// learned is the form that the request was told in, where it is learned.
func (x *exchange) learned() string {
	if x.lesson == nil {
		return ""
	}
	return x.lesson.pick.Form
}

// digest is the version of the model, where its server has told it.
func (t Target) digest(model string) string {
	if t.stock == nil {
		return ""
	}
	if m := t.stock.had(t.asked(model)); m != nil {
		return m.Digest
	}
	return ""
}

// who is whose evidence a reply is: "" counts in full.
func (x *exchange) who() string {
	if x.client == nil || x.client.Trusted {
		return ""
	}
	return x.client.Name
}

func formPlace(at spot, what string) place {
	return place{"form", at.target + "\x00" + at.model + "\x00" + what}
}

// formsToKeep are the form of the conversation, under its beginning or the ids of calls.
func (x *exchange) formsToKeep(under []string) (out []*kept) {
	for _, what := range under {
		if l := x.lesson; l != nil && what != "" {
			out = append(out, &kept{place: formPlace(l.at, what), size: formKept, pick: l.pick})
		}
	}
	return out
}

// savedForms are what is known of the conversation's form, by its beginning, then by
// its calls, the latest first.
func (x *exchange) savedForms(at spot) []*kept {
	names := []string{x.report.Conversation}
	for _, m := range slices.Backward(x.request.Messages) {
		for _, c := range slices.Backward(m.Calls()) {
			names = append(names, c.ID)
		}
	}
	var places []place
	for _, name := range names {
		if name != "" {
			places = append(places, formPlace(at, name))
		}
	}
	found, _ := x.fetch(places...) // without it the conversation is taken for one that is not known any more
	return found
}

// keptForm is the first of the forms that were saved which there still is, else the
// one that its calls tell.
func (x *exchange) keptForm(saved []*kept, forms []string) *learn.Pick {
	for _, e := range saved {
		if e != nil && slices.Contains(forms, e.pick.Form) {
			return &e.pick
		}
	}
	return x.formOfCalls(forms)
}

// formOfCalls is the form of the latest call in the history whose id was made
// here, as the id says.
func (x *exchange) formOfCalls(forms []string) *learn.Pick {
	for i, m := range slices.Backward(x.request.Messages) {
		for place, c := range m.Calls() {
			for _, form := range forms {
				if c.ID == mint(x.request.Messages[:i], place, c.Name, form) {
					return &learn.Pick{Form: form, Why: "the one of the calls before"}
				}
			}
		}
	}
	return nil
}

// taught adds the reply to the evidence of its form, and says in the report why
// it came in that form.
func (x *exchange) taught() {
	l, r := x.lesson, &x.report
	if l == nil {
		return
	}
	if r.Form == l.pick.Form {
		r.Why, r.Trial = l.pick.Why, l.pick.Trial
	}
	outcome, _ := record.Judge(&r.Reply)
	x.gate.lessons.with(l.at, x.Lessons, func(e *learn.Evidence) {
		e.Running(r.Version())
		e.Add(r.Form, x.who(), outcome, r.Trial)
	})
}
