package gateway

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
)

// called counts a call: whether its tool was offered, if the request lists all of them,
// and whether its arguments fit.
func (x *exchange) called(c utp.Call) {
	r := &x.report
	one := record.CallOf(c)
	if i := slices.IndexFunc(x.request.Tools, func(t utp.Tool) bool { return t.Name == c.Name }); i >= 0 {
		_, issues := x.Compile(x.request.Tools[i : i+1]).Fit(c)
		one.Invalid = len(issues) > 0
	} else if c.Kind == utp.FunctionCall && len(x.request.Tools) > 0 {
		one.Hallucinated = !slices.ContainsFunc(x.request.Tools, func(t utp.Tool) bool { return t.Kind == utp.HostedTool || t.Kind == utp.NamespaceTool })
	}
	r.Calls = append(r.Calls, one)
	x.calls = append(x.calls, c.ID)
	r.Fixes = append(r.Fixes, c.Fixes...)
}
