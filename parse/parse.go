package parse

import (
	"math"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Unknown says what becomes of a call whose tool was not offered.
type Unknown int

const (
	KeepUnknown Unknown = iota // it is a call like any other; who runs it refuses
	TextUnknown                // it stays text, with a Problem
)

// Policy is what the caller wants done with doubtful calls.
type Policy struct {
	Unknown  Unknown
	Shown    bool // run calls that the reply only shows: in a sentence, in a fence with words after it
	Repeated bool // run calls that repeat one which a tool or a user wrote
}

// Repair says how much may be mended.
type Repair int

const (
	Safe       Repair = iota // what is unambiguous
	Off                      // nothing: a call that needs a Fix is a Problem
	Aggressive               // what is ambiguous too, by the likelier reading; never a call that is cut off
)

// Config is what a parser may know about the model and its request. The zero
// Config reads every dialect. In auto, markers that are ordinary words
// ("Thought:") count only in a dialect that is preferred; a shorter list says
// that the text is of its dialects, and all their markers count.
type Config struct {
	Grammars []*grammar.Grammar // the only ones; nil, or a list that holds every built-in one: "auto"
	More     []*grammar.Grammar // join them, before them; one of the same name takes the place of a built-in one
	Prefer   []string           // names of grammars to rank first
	Tools    *schema.Set        // the tools that were offered; nil or empty: not known
	Forced   string             // tool_choice named: an object alone is this tool's arguments
	Prefill  string             // how the prompt ended: an opened "<think>\n"
	Stops    []string           // stop sequences of the request: the server leaves them out of the text
	Seen     []string           // what tools and users said in the request: a call that repeats one of it is a Problem
	Made     []string           // Fingerprints of the calls made before in the conversation
	Marks    grammar.Marks      // what the model's family writes beside its answers
	OneCall  bool               // one call in a reply: what follows the first does not count
	Answers  bool               // a reply from "Thought:" to "Final Answer:" is in the words of ReAct in auto, too: its first KB waits for the second
	Policy   Policy
	Repair   Repair
	Check    bool // arguments are made to fit, as by schema.Set.Fit, and come in one piece; those that do not fit are a Problem, Invalid
	MaxCall  int  // bytes; 0 is 16 MiB

	machine *machine // of Compiled
}

// Compiled is c with its grammars made ready, for callers that parse many replies.
// Where Grammars or More are changed later, that is lost; all else may be changed.
func (c Config) Compiled() Config {
	c.machine = machineOf(c)
	return c
}

const defaultMaxCall = 16 << 20

// Text parses the tool calls out of a whole text.
func Text(c Config, s string) utp.Reply {
	p := New(c)
	evs := slices.Clone(p.Feed(s))
	return utp.Collect(append(evs, p.Close(false)...))
}

// New makes a parser for one reply.
func New(c Config) *Parser {
	m := c.machine
	if m == nil || !m.reads(c) {
		m = machineOf(c)
	}
	if len(c.Marks.Noise)+len(c.Marks.Drop)+len(c.Marks.Ends) > 0 {
		m = m.with(c.Marks)
	}
	p, t := newParser(c, m, aReply)
	p.through = t
	p.through.tally = newTally(p)
	return p
}

// newParser makes a parser and all that it holds, in one piece of memory. through is
// for one that is not within another.
func newParser(c Config, m *machine, r reading) (p *Parser, t *through) {
	if c.MaxCall <= 0 {
		c.MaxCall = defaultMaxCall
	}
	all := new(struct {
		Parser
		window
		moment
		attempts
		tried
		history
		block
		offer
		told
		Config
		through
		cand  [16]int32
		parts [4]int
	})
	p, t = &all.Parser, &all.through
	t.edges.begun, t.edges.parts = -1, all.parts[:0]
	all.moment, all.tried, all.Config = begin, untried, c
	p.window, p.cfg, p.m, p.reads, p.tools, p.now = &all.window, &all.Config, m, r, &all.offer, &all.moment
	p.tries, p.tried, p.made, p.others, p.block, p.cand = &all.attempts, &all.tried, &all.history, &all.told, &all.block, all.cand[:0]
	if c.Tools.Len() > 0 {
		p.tools.Set = c.Tools
	}
	if len(c.Prefer) > 0 {
		for _, g := range m.grams {
			if preferred(g.Grammar, c.Prefer) {
				p.preferred = append(p.preferred, g)
			}
		}
	}
	p.sentence = p.readsSentences()
	if text := p.promptEnd(); text != "" {
		p.prefill(text)
	}
	return p, t
}

// promptEnd is how the prompt ended: as the caller says, or as the model's only
// grammar or the first preferred one has it.
func (p *Parser) promptEnd() string {
	switch {
	case p.reads != aReply:
		return ""
	case p.cfg.Prefill != "":
		return p.cfg.Prefill
	case len(p.m.grams) == 1:
		return p.m.grams[0].Prefill
	case len(p.preferred) > 0:
		return p.preferred[0].Prefill
	}
	return ""
}

// machineOf picks the grammars.
func machineOf(c Config) *machine {
	if c.Grammars == nil && len(c.More) == 0 {
		return all(len(c.Prefer) > 0 || c.Answers)
	}
	list, w := c.Grammars, inFull
	if list == nil || holdsAll(list) {
		w = onHint
	}
	if list == nil {
		list = grammar.All()
	}
	if w == onHint && len(c.More) == 0 && len(list) == len(grammar.All()) {
		return all(len(c.Prefer) > 0 || c.Answers)
	}
	m := build(joined(c.More, list), w)
	m.list, m.more = slices.Clone(c.Grammars), slices.Clone(c.More)
	return m
}

// holdsAll reports whether every built-in grammar is in a list.
func holdsAll(list []*grammar.Grammar) bool {
	return !slices.ContainsFunc(grammar.All(), func(g *grammar.Grammar) bool { return !slices.Contains(list, g) })
}

// joined is a list with more before it, in place of those of their names.
func joined(more, list []*grammar.Grammar) []*grammar.Grammar {
	named := func(g *grammar.Grammar) bool {
		return slices.ContainsFunc(more, func(m *grammar.Grammar) bool { return strings.EqualFold(m.Name, g.Name) })
	}
	return append(slices.Clone(more), slices.DeleteFunc(slices.Clone(list), named)...)
}

// prefers reports whether g is preferred.
func (p *Parser) prefers(g *gram) bool { return slices.Contains(p.preferred, g) }

func preferred(g *grammar.Grammar, names []string) bool { return slices.ContainsFunc(names, g.GoesBy) }

// prefill reads the end of the prompt, which is no part of the model's text. A
// call that it opens is read together with what the model makes of it.
func (p *Parser) prefill(text string) {
	at := len(text)
	for {
		p.try(attempt{prompt: true})
		p.feed(text[:at])
		open := p.opened()
		if open >= at {
			break
		}
		at = open
		p.tries.open = p.tries.open[:1]
		p.takeBack()
		*p.window, *p.tried, *p.block = window{work: p.work}, untried, block{}
	}
	*p.window = window{hold: text[at-len(p.hold):], prev: p.prev, work: p.work}
	p.base = -len(p.hold)
	*p.tries, *p.tried, p.made.calls = attempts{}, untried, nil
	p.now.textPart, p.now.nextPart, p.now.sofar, p.now.foreign = -1, 0, lineSoFar{}, false
	p.now.line = p.now.line || p.hold == ""
}

// opened is the offset of what stands open and may be a call.
func (p *Parser) opened() int {
	switch {
	case p.tries.holding() && !p.cur.open && p.block.group == nil:
		return math.MaxInt
	case len(p.tries.open) > 1:
		return p.tries.open[1].start
	case p.cur.open || p.block.group != nil:
		return p.block.start
	}
	return math.MaxInt
}

// Feed takes more of the text. It never fails: what cannot be read is a
// Problem event. The slice is valid until the next Feed or Close.
func (p *Parser) Feed(s string) []utp.Event {
	if evs := p.flow(s); evs != nil {
		return evs
	}
	return p.through.edges.events(p.through.tally.events(p.feedTail(s)))
}

func (p *Parser) feed(s string) []utp.Event {
	p.tries.out = p.tries.out[:0]
	p.run(s)
	return p.tries.out
}

// Close ends the text. cut says that the output ended early: at a length
// limit, or because the stream broke. A parser is not used after Close.
func (p *Parser) Close(cut bool) []utp.Event {
	return p.through.edges.end(p.through.tally.last(p.close(cut), cut, p.now.part))
}

func (p *Parser) close(cut bool) []utp.Event {
	p.tries.out = p.tries.out[:0]
	rest, tokens := "", ""
	if p.through != nil {
		rest, tokens = p.through.tail.end()
	}
	p.eof, p.cut = true, cut
	p.run(rest)
	for len(p.tries.open) > 0 {
		if p.tries.holding() {
			p.settlePlace(true)
			continue
		}
		p.tries.keep() // calls inside thinking that never closed
	}
	p.text()
	if tokens != "" {
		p.tries.out = append(p.tries.out, utp.Event{Kind: utp.EventMark, Part: max(p.now.textPart, 0), Raw: tokens})
	}
	return p.tries.out
}
