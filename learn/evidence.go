package learn

import (
	"math"
	"slices"

	"github.com/unifiedtoolprotocol/utp/record"
)

// Tally counts replies by outcome. Old ones count for less.
type Tally struct {
	Good   float64 `json:"good"`
	Bad    float64 `json:"bad"`
	Silent float64 `json:"silent"`
}

// Add counts n replies of an outcome; those that do not count are left out.
func (t *Tally) Add(o record.Outcome, n float64) {
	switch o {
	case record.Good:
		t.Good += n
	case record.Bad:
		t.Bad += n
	case record.Silent:
		t.Silent += n
	}
}

// Success is the share of good replies among those that count.
func (t Tally) Success() record.Share { return record.Share{Good: t.Good, Of: t.Good + t.Bad} }

// Called is the share of replies with a call, or a try at one, among all.
func (t Tally) Called() record.Share {
	return record.Share{Good: t.Good + t.Bad, Of: t.Good + t.Bad + t.Silent}
}

func (t Tally) times(w float64) Tally { return Tally{t.Good * w, t.Bad * w, t.Silent * w} }

func (t Tally) plus(u Tally) Tally { return Tally{t.Good + u.Good, t.Bad + u.Bad, t.Silent + u.Silent} }

// Evidence is what was seen of one model. Its forms are those that the doctor
// found working: no other is ever picked. It is not safe for several goroutines.
type Evidence struct {
	forms   []*form
	keys    []*client
	digest  string
	fading  float64 // what unit grows by
	unit    float64 // what a reply counts now: it grows, so that older ones fade
	replies int     // that counted
	trials  int     // of those
	picks   int     // conversations
	ages    float64 // by how many replies it has grown older
}

// client is a key and what it has done. One that never had a good reply says
// nothing of a form, and leaves nothing behind.
type client struct {
	name string
	good bool
	ages float64
}

// form is one of them.
type form struct {
	name   string
	probes Tally   // of the doctor, as old as they are
	asked  Tally   // the same, never fading: whether it calls at all
	own    Tally   // of whoever is trusted
	keys   []Tally // of all others, in the order of Evidence.keys
}

// New makes the evidence of a model that can be told its tools in forms, the
// first of which stands before the others where nothing tells them apart.
func New(forms ...string) *Evidence { return fresh(HalfLife, forms) }

// NewLasting makes evidence that fades more slowly, for proposals.
func NewLasting(forms ...string) *Evidence { return fresh(LastingLife, forms) }

func fresh(half float64, forms []string) *Evidence {
	e := &Evidence{unit: 1, fading: math.Exp2(1 / half)}
	for _, name := range forms {
		e.forms = append(e.forms, &form{name: name})
	}
	return e
}

// Forms lists the forms.
func (e *Evidence) Forms() (names []string) {
	for _, f := range e.forms {
		names = append(names, f.name)
	}
	return names
}

// Probed adds what the doctor found in a form; an unknown one is left out.
func (e *Evidence) Probed(name string, t Tally) {
	if f := e.form(name); f != nil {
		f.probes, f.asked = f.probes.plus(t.times(e.unit)), f.asked.plus(t)
	}
}

// Add counts a reply in a form. Key is who asked; "" is somebody whose replies
// count in full. What comes in another form than those of e is left out.
func (e *Evidence) Add(name, key string, o record.Outcome, trial bool) {
	f := e.form(name)
	if f == nil || o == record.Uncounted {
		return
	}
	i, c := e.client(key)
	if c == nil {
		f.own.Add(o, e.unit)
	} else {
		c.good = c.good || o == record.Good
		for len(f.keys) <= i {
			f.keys = append(f.keys, Tally{})
		}
		f.keys[i].Add(o, e.unit)
	}
	if !c.counts() {
		return
	}
	e.replies++
	if trial {
		e.trials++
	}
	if o != record.Silent && c.mayAge(e.ages) {
		e.age()
	}
}

// client finds a key, or makes it; nil is whoever counts in full.
func (e *Evidence) client(key string) (int, *client) {
	if key == "" {
		return 0, nil
	}
	i := slices.IndexFunc(e.keys, func(c *client) bool { return c.name == key })
	if i < 0 {
		i = len(e.keys)
		e.keys = append(e.keys, &client{name: key})
	}
	return i, e.keys[i]
}

func (c *client) counts() bool { return c == nil || c.good }

// mayAge bounds how far one key makes the evidence of all fade.
func (c *client) mayAge(ages float64) bool {
	if c == nil {
		return true
	}
	if c.ages > keyPart*ages {
		return false
	}
	c.ages++
	return true
}

// Running tells the digest or version of the model that answers. With another
// one than before all evidence is forgotten; "" says nothing.
func (e *Evidence) Running(digest string) {
	if digest == "" || digest == e.digest {
		return
	}
	if e.digest != "" {
		forms, fading := e.Forms(), e.fading
		*e = *New(forms...)
		e.fading = fading
	}
	e.digest = digest
}

// Trials is the share of the replies that came of trials.
func (e *Evidence) Trials() record.Share {
	return record.Share{Good: float64(e.trials), Of: float64(e.replies)}
}

// age makes all replies so far one older.
func (e *Evidence) age() {
	e.ages++
	e.unit *= e.fading
	if e.unit < most {
		return
	}
	for _, f := range e.forms {
		f.probes, f.own = f.probes.times(1/e.unit), f.own.times(1/e.unit)
		for i := range f.keys {
			f.keys[i] = f.keys[i].times(1 / e.unit)
		}
	}
	e.unit = 1
}

// most bounds unit, so that sums keep their digits.
const most = 1e9

func (e *Evidence) form(name string) *form {
	for _, f := range e.forms {
		if f.name == name {
			return f
		}
	}
	return nil
}

// live is what requests have shown of a form. A key counts for a tenth at most,
// and one whose replies lie far from those of all others not at all: that says
// something of the key.
func (e *Evidence) live(f *form) Tally {
	now := 1 / e.unit
	out := f.own.times(now)
	if len(f.keys) == 0 {
		return out
	}
	all := out.plus(f.probes.times(now))
	var own, kept []Tally
	for i, t := range f.keys {
		if e.keys[i].good && t.size() > 0 {
			own = append(own, t.times(now))
			all = all.plus(t.times(now))
		}
	}
	for _, t := range own {
		rest := Tally{all.Good - t.Good, all.Bad - t.Bad, all.Silent - t.Silent}
		if !far(t.Success(), rest.Success()) && !far(t.Called(), rest.Called()) {
			kept = append(kept, t)
		}
	}
	bound := tenth(f.asked.size()+out.size(), kept)
	for _, t := range kept {
		if n := t.size(); n > bound {
			t = t.times(bound / n)
		}
		out = out.plus(t)
	}
	return out
}

func far(a, b record.Share) bool { return a.Above(b, apart) || b.Above(a, apart) }

func (t Tally) size() float64 { return t.Good + t.Bad + t.Silent }

// tenth is how much each of the tallies may count so that none of them is more
// than keyPart of their sum and of others.
func tenth(others float64, ts []Tally) float64 {
	var sizes []float64
	for _, t := range ts {
		sizes = append(sizes, t.size())
		others += t.size()
	}
	slices.Sort(sizes)
	for cut := 0; ; cut++ { // as many of the largest are cut down
		bound := keyPart * others / (1 - keyPart*float64(cut))
		if cut == len(sizes) || sizes[len(sizes)-1-cut] <= bound {
			return bound
		}
		others -= sizes[len(sizes)-1-cut]
	}
}
