package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// maxPlaceholder is the length of a value that may stand for another.
const maxPlaceholder = 80

// sawValue looks whether the argument that ends here is a placeholder.
func (p *Parser) sawValue() {
	c := &p.cur
	if c.valueAt == 0 || c.blank != "" || len(c.buf)-c.valueAt > maxPlaceholder {
		return
	}
	v := c.buf[c.valueAt:]
	if len(v) < 3 || v[0] != '"' || v[len(v)-1] != '"' || strings.IndexByte("<{.yY\xe2", v[1]) < 0 {
		return
	}
	text := string(v[1 : len(v)-1])
	if body.IsPlaceholder(c.args.key, text) && p.tools.Kind(c.name, c.args.key) != schema.Choice {
		c.blank = c.args.key + " is a placeholder: " + text
	}
}

// unfilled is the Problem of a call that is an example, with a placeholder in it.
func (p *Parser) unfilled() *utp.Problem {
	if p.cur.blank == "" {
		return nil
	}
	return &utp.Problem{Kind: utp.ProblemQuoted, Message: p.cur.blank, Want: "the value itself"}
}
