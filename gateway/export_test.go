package gateway

import "context"

// Cool hears at once what Tend hears each second.
func (g *Gateway) Cool(ctx context.Context) error { return g.cool(ctx, g.now.Load()) }

// Sweep charges what replicas had reserved that are gone, as Tend does now and then.
func (g *Gateway) Sweep(ctx context.Context) error { return g.sweep(ctx, g.now.Load()) }
