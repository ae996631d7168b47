package undo

// Kill lets go of a turn as the end of its process would.
func Kill(t *Turn) {
	t.log.Close()
	t.writer.Close()
}
