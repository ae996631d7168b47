package gateway

import (
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// maxFits is how many tools of clients are held compiled: they come with every
// request.
const maxFits = 512

// fits are tools of clients, compiled to look whether calls fit them.
type fits struct {
	mu sync.Mutex
	of map[fitKey]*schema.Set
}

type fitKey struct{ name, schema string }

// tool is a set of one tool.
func (f *fits) tool(t utp.Tool) *schema.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := fitKey{t.Name, string(t.Schema)}
	s := f.of[key]
	if s == nil {
		if f.of == nil || len(f.of) >= maxFits {
			f.of = map[fitKey]*schema.Set{}
		}
		s = schema.Compile([]utp.Tool{t})
		f.of[key] = s
	}
	return s
}

// called counts a call: whether its tool was offered, where the request names
// all that there are, and whether its arguments fit.
func (x *exchange) called(c utp.Call) {
	r := &x.report
	one := record.CallOf(c)
	if i := slices.IndexFunc(x.request.Tools, func(t utp.Tool) bool { return t.Name == c.Name }); i >= 0 {
		_, issues := x.gate.fits.tool(x.request.Tools[i]).Fit(c)
		one.Invalid = len(issues) > 0
	} else if c.Kind == utp.FunctionCall && len(x.request.Tools) > 0 {
		one.Hallucinated = !slices.ContainsFunc(x.request.Tools, func(t utp.Tool) bool { return t.Kind == utp.HostedTool || t.Kind == utp.NamespaceTool })
	}
	r.Calls = append(r.Calls, one)
	r.Fixes = append(r.Fixes, c.Fixes...)
}
