package codec

// Lead renames the tools whose names on the wire begin with a digit or "-", for
// providers that want a letter or "_" there.
func (n *Names) Lead() {
	for name, wire := range n.out {
		if led := lead(wire, name, n.max); led != wire {
			delete(n.in, wire)
			if _, taken := n.in[led]; taken {
				led = shorten(led, name, n.max)
			}
			n.out[name], n.in[led] = led, name
		}
	}
}

// OutLed is Out for such a provider.
func (n *Names) OutLed(name string) string { return lead(n.Out(name), name, n.max) }

func lead(wire, name string, max int) string {
	if wire == "" || wire[0] != '-' && (wire[0] < '0' || wire[0] > '9') {
		return wire
	}
	if wire = "_" + wire; len(wire) > max {
		return shorten(wire, name, max)
	}
	return wire
}
