package backend

import "github.com/unifiedtoolprotocol/utp/format"

// adapter is the configured one, or that of the model's name; a template that
// refuses the system message gets none.
func (c *Client) adapter(model string, h heeds) format.Adapter {
	out := format.AdapterFor(model)
	if c.cfg.Adapter != nil {
		out = *c.cfg.Adapter
	}
	out.NoSystem = out.NoSystem || h.has(systemInUser)
	return out
}
