// Package dialect loads a user's own dialects of tool calls: grammars of package grammar
// in JSON. Each is tested: package parse must read what package prompt writes in it back
// unchanged, without a repair.
package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Load reads a dialect from JSON, checks it as grammar.Load does, and tests it with Try.
func Load(b []byte) (*grammar.Grammar, error) {
	g, err := grammar.Load(b)
	if err != nil {
		return nil, err
	}
	return g, Try(g)
}

var book = utp.Tool{Name: "book_table", Schema: json.RawMessage(`{"type":"object","properties":{
	"place":{"type":"string"},"guests":{"type":"integer"},"inside":{"type":"boolean"},"price":{"type":"number"},
	"names":{"type":"array","items":{"type":"string"}},"at":{"type":"object","properties":{"day":{"type":"string"},"hour":{"type":"integer"}}}}}`)}

// samples are the turns that a dialect is tested with, each harder than the one before.
var samples = [][]utp.Call{
	{call(`{"place":"Oslo"}`)},
	{call(`{"place":"A café by the sea","guests":3,"inside":true}`)},
	{call(`{}`)},
	{call(`{"place":"Say \"hi\",\nthen it's {2} <b> & [more]: a\\b","price":1.5}`)},
	{call(`{"names":["Ann","Bob Lee"],"at":{"day":"Monday","hour":19}}`)},
	{call(`{"place":"Oslo"}`), call(`{"guests":2}`)},
}

func call(args string) utp.Call { return utp.Call{Name: book.Name, Args: json.RawMessage(args)} }

// plain is how many samples, from the first, every dialect must be able to write. It may
// refuse the others.
const plain = 3

// Try writes calls in g and reads them back. It returns an error that quotes the first
// one that comes back changed, repaired or not at all.
func Try(g *grammar.Grammar) error {
	c := parse.Config{Grammars: []*grammar.Grammar{g}, Tools: schema.Compile([]utp.Tool{book})}
	for i, calls := range samples {
		text, err := prompt.Calls(g, calls)
		if err != nil && i < plain {
			return fmt.Errorf("grammar %s: a call cannot be written: %w", g.Name, err)
		}
		if err != nil {
			continue
		}
		if wrong := differs(calls, parse.Text(c, text)); wrong != "" {
			return fmt.Errorf("grammar %s: a call is written as %q, but read back %s: want markers that end each part of a call beyond doubt", g.Name, text, wrong)
		}
	}
	return nil
}

// differs returns how a reply differs from the calls, "" if it does not.
func differs(calls []utp.Call, r utp.Reply) string {
	got := r.Calls()
	switch {
	case len(r.Problems) > 0:
		return "it is " + r.Problems[0].Error()
	case len(got) != len(calls):
		return fmt.Sprintf("it is %d calls, not %d", len(got), len(calls))
	case strings.TrimSpace(r.Text()) != "":
		return fmt.Sprintf("it leaves the text %q", r.Text())
	}
	for i, c := range calls {
		switch g := got[i]; {
		case g.Fingerprint() != c.Fingerprint():
			return fmt.Sprintf("it is %s %s", g.Name, g.Args)
		case len(g.Fixes) > 0:
			return "it has to be mended: " + g.Fixes[0].Why
		}
	}
	return ""
}
