package gateway

import "context"

// Cool hears at once what Tend hears each second.
func (g *Gateway) Cool(ctx context.Context) error { return g.cool(ctx, g.now.Load()) }
