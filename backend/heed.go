package backend

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// maxHeeds bounds how often a request is changed by what a server says of it.
const maxHeeds = 6

// heedTime is how long a refusal is remembered: servers and their models change.
const heedTime = 10 * time.Minute

// heeded is a refusal that a server has made.
type heeded struct {
	until time.Time
	why   string   // in its words
	takes []string // the efforts that it named as those that it takes
	plain bool     // true in place of a level
}

// heeds are the refusals in force for a model, by their places in the table.
type heeds map[int]heeded

// has reports a refusal in force with a remedy.
func (h heeds) has(done remedy) bool {
	for i := range h {
		if refusals[i].remedy == done {
			return true
		}
	}
	return false
}

// heeded are the refusals that are remembered of a model.
func (c *Client) heeded(model string) heeds {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.refused[model]
	if len(known) == 0 {
		return nil
	}
	now := c.cfg.Now()
	maps.DeleteFunc(known, func(_ int, h heeded) bool { return !now.Before(h.until) })
	return maps.Clone(known)
}

// asText says why the model gets its tools in the prompt whatever is set; "" if it
// need not.
func (h heeds) asText() string {
	if h.has(toolsInText) {
		return "the server refuses native tools"
	}
	return ""
}

// heeds reports whether an error says what of the request is refused, so that it
// can be asked again without that: never for the same part twice. What the server
// said is remembered.
func (c *Client) heeds(p *plan, err error, tried heeds) bool {
	var e *wire.Error
	if !errors.As(err, &e) || len(tried) >= maxHeeds {
		return false
	}
	for _, i := range named(e) {
		if _, again := tried[i]; again {
			continue
		}
		if _, known := p.heeded[i]; known || !p.has(&refusals[i]) {
			continue
		}
		said := heeded{until: c.cfg.Now().Add(heedTime), why: e.Message}
		if refusals[i].remedy == nearest {
			said.takes, said.plain = efforts(e.Message), p.leveled()
		}
		tried[i] = said
		c.mu.Lock()
		if c.refused[p.model] == nil {
			c.refused[p.model] = heeds{}
		}
		c.refused[p.model][i] = said
		c.mu.Unlock()
		c.warn("%s refuses %s for %s (%s): %s", c.Server(), refusals[i].what, p.model, e.Message, done[refusals[i].remedy])
		return true
	}
	return false
}

// done says what is done about a refusal.
var done = map[remedy]string{
	leaveOut: "it is left out", nearest: "it is left out or the nearest is asked for", turnOff: "it is turned off", rename: "it goes under its other name",
	toolsInText: "they go into the prompt instead", systemInUser: "sending it in the first user message",
}

// has reports whether a request has what is refused.
func (p *plan) has(r *refusal) bool {
	switch r.remedy {
	case toolsInText:
		return p.native
	case systemInUser:
		return !p.adapter.NoSystem
	}
	x := *p.exchange
	return r.change(&x, heeded{}) != nil
}

// leveled reports a request with a level of thinking where true may do.
func (p *plan) leveled() bool {
	x := *p.exchange
	return x.Edit("think", func(v json.RawMessage) json.RawMessage {
		if v[0] == '"' {
			return nil
		}
		return v
	})
}

// obey changes the request as the refusals say, and notes what it lost.
func (p *plan) obey() {
	for _, i := range slices.Sorted(maps.Keys(p.heeded)) {
		p.exchange.Losses = append(p.exchange.Losses, refusals[i].change(p.exchange, p.heeded[i])...)
	}
}

// change takes what is refused out of a request, or says it otherwise.
func (r *refusal) change(x *wire.Exchange, said heeded) (lost []wire.Loss) {
	what, edit := "dropped", func(json.RawMessage) json.RawMessage { return nil }
	switch r.remedy {
	case nearest:
		if lost, ok := said.effort(x); ok {
			return lost
		}
	case turnOff:
		what, edit = "turned off", func(v json.RawMessage) json.RawMessage {
			if string(v) == "true" {
				return json.RawMessage("false")
			}
			return v
		}
	case rename:
		what = "sent as " + r.as
	}
	for _, path := range r.paths {
		var old json.RawMessage
		if !x.Edit(path, func(v json.RawMessage) json.RawMessage { old = v; return edit(v) }) {
			continue
		}
		if r.remedy == rename {
			x.Put(r.as, old)
		}
		lost = append(lost, said.loss(path, what))
	}
	return lost
}

func (h heeded) loss(path, what string) wire.Loss {
	return wire.Loss{Path: path, What: what, Why: "the server refuses it: " + h.why}
}

// effort says an effort as the server takes it; ok is false if it must be left out.
func (h heeded) effort(x *wire.Exchange) (lost []wire.Loss, ok bool) {
	if len(h.takes) == 0 && !h.plain {
		return nil, false
	}
	for _, path := range levels {
		now := json.RawMessage(nil)
		changed := x.Edit(path, func(v json.RawMessage) json.RawMessage {
			now = h.level(v)
			if ok = ok || now != nil; now == nil {
				return v
			}
			return now
		})
		if changed {
			lost = append(lost, h.loss(path, "sent as "+strings.Trim(string(now), `"`)))
		}
	}
	return lost, ok
}

// level is what a level becomes; nil if there is nothing near.
func (h heeded) level(v json.RawMessage) json.RawMessage {
	var word string
	switch {
	case json.Unmarshal(v, &word) != nil:
		return v
	case h.plain && len(h.takes) == 0:
		return json.RawMessage("true")
	}
	now := wire.NearestEffort(strings.ToLower(word), h.takes)
	switch {
	case now == "":
		return nil
	case word == strings.ToUpper(word):
		now = strings.ToUpper(now)
	}
	return json.RawMessage(`"` + now + `"`)
}

// reading is how a refusal is recognised.
type reading struct {
	names []*regexp.Regexp
	paths []string // the names as the ends of a path
}

// readings are those of the refusals, made once.
var readings = func() []reading {
	out := make([]reading, len(refusals))
	for i, r := range refusals {
		for _, name := range r.names {
			name = squeezed(name)
			out[i].names = append(out[i].names, mention(name))
			out[i].paths = append(out[i].paths, "."+name)
		}
	}
	return out
}()

// mention finds a name in an error. One that is an ordinary word must stand where
// errors name a field: in quotation marks, behind "parameter", as the end of a path.
func mention(name string) *regexp.Regexp {
	const quotes = `'"` + "`" + `“”‘’`
	before := `(?:^|[^\w])`
	if !strings.ContainsAny(name, ". ") && slices.Contains(ordinary, name) {
		before = `(?:[` + quotes + `]|\.|(?:supplied|model|parameters?|arguments?|field|property|name|option|param):? )`
	}
	return regexp.MustCompile(before + regexp.QuoteMeta(name) + `(?:$|[^\w.]|\.(?:\s|$))`)
}

// ordinary are names that are words of English too.
var ordinary = []string{"include", "effort", "thinking", "think", "reasoning", "user", "metadata", "strict", "seed", "stop", "store", "temperature", "verbosity"}

// squeezed is an error's text as names are looked for in it: presence_penalty and
// presencePenalty are one.
func squeezed(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }

// unquoted is an error's text as words are looked for in it.
var unquoted = strings.NewReplacer("`", "", `"`, "", "'", "", "“", "", "”", "", "‘", "", "’", "")

// named lists the refusals that an error may be, the likeliest first.
func named(e *wire.Error) (rows []int) {
	if e.Overflow() {
		return nil
	}
	words := strings.ToLower(unquoted.Replace(e.Message + " " + e.Code))
	text := squeezed(e.Message)
	field := "." + squeezed(index.ReplaceAllString(e.Param, ""))
	refused, value := says(words, notSupported), says(words, badValue)
	place := map[int]int{}
	for i, r := range refusals {
		at, found := readings[i].find(text, field)
		switch {
		case says(words, r.words) && (r.remedy >= toolsInText || aboutFields(e.Status)):
			place[i] = -2
		case found && aboutFields(e.Status) && (refused || value && r.values):
			place[i] = at
		default:
			continue
		}
		rows = append(rows, i)
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
	return rows
}

// index is one in a path: "tools[0]".
var index = regexp.MustCompile(`\[\d+\]`)

// find is where an error names the field: -1 where it says so apart.
func (r *reading) find(text, field string) (at int, found bool) {
	for i, name := range r.names {
		if strings.HasSuffix(field, r.paths[i]) {
			return -1, true
		}
		if m := name.FindStringIndex(text); m != nil && (!found || m[0] < at) {
			at, found = m[0], true
		}
	}
	return at, found
}

func says(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// aboutFields reports a status with which servers refuse a field: llama.cpp and
// vLLM also say 500.
func aboutFields(status int) bool {
	return status == 400 || status == 422 || status == 500 || status == 501
}

var (
	marker = regexp.MustCompile(`supported values|valid levels|valid values|must be|should be|expected one of|one of`)
	word   = regexp.MustCompile(`\b(?:none|minimal|low|medium|high|xhigh|max)\b`)
)

// efforts are those that an error names as the ones to choose from.
func efforts(message string) []string {
	text := strings.ToLower(message)
	at := marker.FindStringIndex(text)
	if at == nil {
		return nil
	}
	text, _, _ = strings.Cut(text[at[1]:], "received")
	return word.FindAllString(text, -1)
}
