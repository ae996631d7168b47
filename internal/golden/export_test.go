package golden

// SetUpdate sets -update for a test and returns how to undo it.
func SetUpdate(on bool) (undo func()) {
	was := *update
	*update = on
	return func() { *update = was }
}
