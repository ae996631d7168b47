package reading

import (
	"errors"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// offer is a list of tools, ready to use.
type offer struct {
	set     *schema.Set
	replies Replies
	err     error
}

// memory keeps what many lines have in common: tools, grammars. It is safe for
// concurrent use.
type memory struct {
	o     *Options
	offer *offer // of the options

	mu       sync.Mutex
	offers   map[offerKey]*offer
	dialects map[hint]dialects
}

// offerKey is what an offer is made of: the JSON of the tools, or "" for those of
// the options, and what the policy says of empty texts.
type offerKey struct {
	tools     string
	dropEmpty bool
}

// hint is what a line says of its dialect.
type hint struct{ grammar, model string }

// dialects are what comes of a hint.
type dialects struct {
	cfg parse.Config
	err error
}

func newMemory(o Options) *memory {
	m := &memory{o: &o, offers: map[offerKey]*offer{}, dialects: map[hint]dialects{}}
	m.offer = m.open(o.Tools, o.Policy.DropEmpty)
	return m
}

func (m *memory) open(tools []utp.Tool, dropEmpty bool) *offer {
	o := &offer{set: schema.CompileWith(tools, schema.Options{DropEmptyOptional: dropEmpty})}
	if m.o.Replies != nil {
		o.replies = m.o.Replies(unique(o.set))
	}
	return o
}

// unique lists the tools of a set, each name once.
func unique(set *schema.Set) (tools []utp.Tool) {
	for _, name := range set.Names() {
		t, _ := set.Tool(name)
		tools = append(tools, t)
	}
	return tools
}

// maxKept bounds what is remembered of the lines before.
const maxKept = 64

// offered reads the tools of a line; without any they are those of the options.
// The same text gives the same offer.
func (m *memory) offered(tools []byte, dropEmpty bool) *offer {
	if string(tools) == "null" {
		tools = nil
	}
	if len(tools) == 0 && dropEmpty == m.o.Policy.DropEmpty {
		return m.offer
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.offers[offerKey{string(tools), dropEmpty}]; o != nil {
		return o
	}
	list, err := m.o.Tools, error(nil)
	if len(tools) > 0 {
		list, err = ParseTools(tools)
	}
	o := &offer{err: err}
	if err == nil {
		o = m.open(list, dropEmpty)
	}
	if len(m.offers) >= maxKept {
		clear(m.offers)
	}
	m.offers[offerKey{string(tools), dropEmpty}] = o
	return o
}

// hinted gives the parser's configuration for a line's hint; what the hint
// leaves out is as in the options.
func (m *memory) hinted(h hint) (parse.Config, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d, ok := m.dialects[h]; ok {
		return d.cfg, d.err
	}
	d := m.o.Dialects
	var err error
	if h.grammar != "" {
		d, err = m.named(h.grammar)
	}
	if d.Model = m.o.Dialects.Model; h.model != "" {
		d.Model = h.model
	}
	if len(m.dialects) >= maxKept {
		clear(m.dialects)
	}
	m.dialects[h] = dialects{d.config(), err}
	return m.dialects[h].cfg, err
}

// named reads the grammar of a line: one of the options' or a built-in one. A
// line names no files.
func (m *memory) named(name string) (Dialects, error) {
	for _, g := range m.o.Dialects.Grammars {
		if g.Name == name {
			return Dialects{Grammars: []*grammar.Grammar{g}}, nil
		}
	}
	if IsFile(name) {
		return Dialects{}, errors.New("grammar: a line names a grammar, no file: give the file with --grammar")
	}
	return ParseDialects(name, nil, m.o.Dialects.Own...)
}

// reader makes a reader of one input.
func (o *Options) reader(of *offer, cfg parse.Config, prefill string, c *collector) *reader {
	c.own = reader{o: o, of: of, cfg: cfg, c: c}
	c.own.cfg.Tools, c.own.cfg.Prefill = of.set, prefill
	o.Policy.apply(&c.own.cfg)
	return &c.own
}
