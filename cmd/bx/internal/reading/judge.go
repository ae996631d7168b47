package reading

import (
	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// mends reports whether repairs are allowed.
func (r *reader) mends() bool { return r.cfg.Repair != parse.Off }

// judged checks a call against its tool.
func (c *collector) judged(f *found, out *Reading) Call {
	call := Call{ID: f.call.ID, Grammar: f.call.Source, Name: f.call.Name, Fixes: []utp.Fix{}, Issues: []schema.Issue{}}
	if f.call.FromText() {
		call.Grammar = f.call.Dialect()
		call.Place = f.in.place(f.from, f.to)
	}
	call.Fixes = append(call.Fixes, f.call.Fixes...)
	switch {
	case f.broken != nil:
		call.RawArguments = &f.broken.Raw
		call.Issues = append(call.Issues, schema.Issue{Message: words(f.broken)})
	case f.call.Kind == utp.CustomCall:
		call.RawArguments = &f.call.RawArgs
	default:
		call.Arguments = f.call.Args
	}
	if set := c.r.of.set; set.Len() > 0 {
		c.fit(&call, set, out)
	}
	switch {
	case len(call.Issues) > 0:
		call.Status = Invalid
	case len(call.Fixes) > 0:
		call.Status = Repaired
	default:
		call.Status = OK
	}
	if call.Status != Invalid && call.Arguments != nil {
		call.Issues = append(call.Issues, c.r.of.set.Unknown(call.Name, call.Arguments)...)
	}
	return call
}

// fit makes a call fit its tool, or says what is wrong with it.
func (c *collector) fit(call *Call, set *schema.Set, out *Reading) {
	name, fix, ok := set.Resolve(call.Name)
	switch {
	case !ok || fix != nil && !c.r.mends():
		c.unknown(call, out)
		return
	case fix != nil:
		call.Name, call.Fixes = name, append(call.Fixes, *fix)
	}
	if call.Arguments == nil {
		return
	}
	args, fixes, issues := set.Check(call.Name, call.Arguments)
	call.Issues = append(call.Issues, issues...)
	if c.r.mends() {
		call.Arguments, call.Fixes = args, append(call.Fixes, fixes...)
		return
	}
	for _, f := range fixes {
		call.Issues = append(call.Issues, schema.Issue{Path: f.Path, Message: f.Why})
	}
}

// unknown flags a call of a tool that was not offered, if the policy says so.
// The text policy cannot make text of a native call.
func (c *collector) unknown(call *Call, out *Reading) {
	if c.r.o.Policy.Unknown == Keep {
		return
	}
	p := Problem{Kind: utp.ProblemUnknownTool, Name: call.Name, Place: call.Place, Message: meaning[utp.ProblemUnknownTool]}
	if call.Grammar != utp.SourceNative {
		p.Grammar = call.Grammar
	}
	out.Problems = append(out.Problems, p)
	call.Issues = append(call.Issues, schema.Issue{Message: p.Message})
}
