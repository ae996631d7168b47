package tool

import (
	"errors"
	"fmt"

	"github.com/unifiedtoolprotocol/utp/undo"
)

// Turn makes all that is written until end is called one turn of a session,
// whose name is asked for at the first change. Undo takes it back as one. From
// its first change on nobody else writes below the root. Without it each call is
// a turn of its own.
func (s *Set) Turn(session func() string) (end func() error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.session, s.together = session, true
	return func() error {
		s.writing.Lock()
		defer s.writing.Unlock()
		s.together = false
		return s.endTurn()
	}
}

// Undo is the store of what was there before; nil without one, and then why, if
// there should be one.
func (s *Set) Undo() (*undo.Store, error) { return s.store, s.storeErr }

// beginTurn begins a turn before its first change. The caller holds s.writing.
func (s *Set) beginTurn() error {
	if s.store == nil || s.turn != nil {
		return nil
	}
	session := ""
	if s.session != nil {
		session = s.session()
	}
	t, err := s.store.Begin(session)
	var busy *undo.Busy
	if errors.As(err, &busy) {
		return fail("%v. Nothing was written: try again later", busy)
	}
	if err != nil {
		return fmt.Errorf("what was there before cannot be kept, nothing was written: %w", bare(err))
	}
	s.turn = t
	return nil
}

// endTurn ends the turn that writes, if there is one.
func (s *Set) endTurn() error {
	if s.turn == nil {
		return nil
	}
	t := s.turn
	s.turn = nil
	return t.End()
}

// note keeps what a file holds before a change.
func (s *Set) note(c change, temp string) error {
	if s.turn == nil {
		return nil
	}
	var was, now *undo.File
	if c.old != nil {
		was = &undo.File{Data: c.old.data, Mode: c.old.mode}
	}
	if !c.gone {
		now = &undo.File{Data: c.data, Mode: c.newMode()}
	}
	if err := s.turn.Note(c.at.real, was, now, temp); err != nil {
		return fmt.Errorf("what was there before cannot be kept, nothing was written: %w", bare(err))
	}
	return nil
}
