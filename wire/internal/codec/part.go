package codec

import "github.com/unifiedtoolprotocol/utp"

// Part adds a part in one piece.
func (b *Builder) Part(p utp.Part) {
	if b.done {
		return
	}
	b.startAll()
	b.endRunning()
	b.emit(utp.Event{Kind: utp.EventWhole, Part: b.number(), Value: p})
}

// EndPart ends the text or reasoning that is open: what follows is a part of its own.
func (b *Builder) EndPart() { b.endRunning() }

// Sign ends the reasoning that is open with what belongs to it. Without any,
// about is a part of its own: reasoning that is not shown.
func (b *Builder) Sign(about utp.Think) {
	if b.running != utp.EventThink {
		b.Part(about)
		return
	}
	b.think = about
	b.endRunning()
}
