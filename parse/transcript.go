package parse

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Transcript prints a reply as test cases have it, one thing a line, with every
// field that is set. Texts are JSON strings; raw is left out where it equals the
// arguments.
//
//	text "…"
//	think "…"
//	call NAME ARGUMENTS [id=ID] [orig=ID] [kind=KIND] from=SOURCE [raw="…"] [extra=JSON]
//	fix NAME PATH "WHY" [was="…"] [now="…"]
//	problem KIND "RAW" at=OFFSET [grammar=NAME] [name="…"] [want="…"] [why="…"]
func Transcript(r utp.Reply) string {
	var b strings.Builder
	for _, p := range r.Parts {
		switch p := p.(type) {
		case utp.Text:
			fmt.Fprintf(&b, "text %s\n", quoteJSON(p.Text))
		case utp.Think:
			fmt.Fprintf(&b, "think %s\n", quoteJSON(p.Text))
		case utp.Call:
			transcribe(&b, p)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "problem %s %s at=%d%s%s%s%s\n", p.Kind, quoteJSON(p.Raw), p.Offset,
			bare("grammar", p.Grammar), given("name", p.Name), given("want", p.Want), given("why", p.Message))
	}
	return b.String()
}

func transcribe(b *strings.Builder, c utp.Call) {
	raw := c.RawArgs
	if raw == string(c.Args) {
		raw = ""
	}
	fmt.Fprintf(b, "call %s %s%s%s%s%s%s%s\n", c.Name, c.Args, bare("id", c.ID), bare("orig", c.OrigID), bare("kind", string(c.Kind)),
		bare("from", c.Source), given("raw", raw), bare("extra", string(c.Extra)))
	for _, f := range c.Fixes {
		fmt.Fprintf(b, "fix %s %s %s%s%s\n", c.Name, f.Path, quoteJSON(f.Why), given("was", f.Was), given("now", f.Now))
	}
}

// bare is " key=value" for a value without blanks, given for any; nothing for
// an empty one.
func bare(key, value string) string {
	if value == "" {
		return ""
	}
	return " " + key + "=" + value
}

func given(key, value string) string {
	if value == "" {
		return ""
	}
	return " " + key + "=" + quoteJSON(value)
}

func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSpace(b.String())
}
