package backend

import "github.com/unifiedtoolprotocol/utp/format"

// adapter is the configured one, or that of the model's name. A template that
// refused the system message is remembered.
func (c *Client) adapter(model string, a *ability) format.Adapter {
	out := format.AdapterFor(model)
	if c.cfg.Adapter != nil {
		out = *c.cfg.Adapter
	}
	out.NoSystem = out.NoSystem || a.noSystem
	return out
}
