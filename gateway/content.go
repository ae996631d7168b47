package gateway

// keepsContent reports whether the request and its reply are for Config.Content.
func (x *exchange) keepsContent() bool {
	return x.Content != nil && x.way != nil && (x.way.Content || x.client != nil && x.client.Content)
}
