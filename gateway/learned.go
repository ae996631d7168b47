package gateway

import (
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

// lessons holds the evidence on models and the forms of their tools. It survives a Reload.
type lessons struct {
	mu sync.Mutex
	of map[spot]*learn.Evidence
}

// with calls do with the evidence of a model, which first loads if there is none.
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

// forget drops evidence without any form, so that it is loaded again: the model may have
// been examined since.
func (l *lessons) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, e := range l.of {
		if len(e.Forms()) == 0 {
			delete(l.of, at)
		}
	}
}

// lesson is the form of a conversation on a Learned route.
type lesson struct {
	at   spot
	pick learn.Pick
}

// formKept is the approximate size of a kept form, in bytes.
const formKept = 512

// form returns the form for a target's model, "" if none is learned. A conversation
// keeps its form: it is stored under the conversation's beginning and, as clients
// shorten conversations, under its calls; after a restart the ids of the calls tell it.
// A conversation whose form is lost gets the best proven one instead of a drawn one, and
// so do requests that must call and Steady clients.
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

// learned returns the learned form of the request, "" if there is none.
func (x *exchange) learned() string {
	if x.lesson == nil {
		return ""
	}
	return x.lesson.pick.Form
}

// digest returns the version of the model, "" if its server does not report it.
func (t Target) digest(model string) string {
	if t.stock == nil {
		return ""
	}
	if m := t.stock.had(t.asked(model)); m != nil {
		return m.Digest
	}
	return ""
}

// who returns the source of a reply as evidence; "" counts in full.
func (x *exchange) who() string {
	if x.client == nil || x.client.Trusted {
		return ""
	}
	return x.client.Name
}

func formPlace(at spot, what string) place {
	return place{"form", at.target + "\x00" + at.model + "\x00" + what}
}

// formsToKeep returns the form of the conversation, under its beginning or the ids of
// calls.
func (x *exchange) formsToKeep(under []string) (out []*kept) {
	for _, what := range under {
		if l := x.lesson; l != nil && what != "" {
			out = append(out, &kept{place: formPlace(l.at, what), size: formKept, pick: l.pick})
		}
	}
	return out
}

// savedForms returns the forms kept for the conversation: under its beginning, then
// under its calls, the latest first.
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

// keptForm returns the first saved form that still exists, else the one that the ids of
// the calls tell.
func (x *exchange) keptForm(saved []*kept, forms []string) *learn.Pick {
	for _, e := range saved {
		if e != nil && slices.Contains(forms, e.pick.Form) {
			return &e.pick
		}
	}
	return x.formOfCalls(forms)
}

// formOfCalls returns the form in the id of the latest call whose id was made here.
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

// taught adds the reply to the evidence of its form, and reports why that form was used.
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
