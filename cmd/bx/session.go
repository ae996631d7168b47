package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/store"
)

// shownSessions is how many -l lists.
const shownSessions = 10

// session is the conversation that a question belongs to. It is created when
// something is first kept in it.
type session struct {
	db          *store.DB
	root, model string
	kept        *store.Session // nil: not created yet
}

func (j *job) openStore(ctx context.Context) (*store.DB, error) {
	dir, err := j.app.dataDir(j.set.Session.Storage)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the directory for sessions cannot be made: %w", err)
	}
	return store.Open(ctx, store.Config{Path: filepath.Join(dir, "sessions.db"), NewID: newID, Now: time.Now})
}

// newID makes 8 hexadecimal digits.
func newID() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// openSession finds the session of -s, the current one of the repository, or a
// new one. Only with -s is a session that cannot be had an error.
func (j *job) openSession(ctx context.Context, model string) (*session, error) {
	if j.app.noSession {
		return nil, nil
	}
	db, err := j.openStore(ctx)
	if err != nil {
		if j.app.session != "" {
			return nil, err
		}
		j.view.Warn("this question is kept in no session: %v", err)
		return nil, nil
	}
	s := &session{db: db, root: j.root, model: model}
	switch {
	case j.app.session != "":
		s.kept, err = j.getSession(ctx, db, j.app.session)
	case !j.app.fresh:
		s.kept, err = j.currentSession(ctx, db)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

func (j *job) getSession(ctx context.Context, db *store.DB, id string) (*store.Session, error) {
	s, err := db.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		return nil, &coded{exitNoSession, fmt.Errorf("session %q: %w (bx -l lists the sessions)", id, plain(err))}
	}
	if err != nil {
		return nil, err
	}
	return s, db.Use(ctx, s)
}

// plain is what went wrong, without the file and the operation.
func plain(err error) error {
	var e *store.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func (j *job) currentSession(ctx context.Context, db *store.DB) (*store.Session, error) {
	hours := j.set.Session.TimeoutHours
	s, stale, err := db.Current(ctx, j.root, time.Duration(hours*float64(time.Hour)))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case stale:
		j.view.Line(view.Normal, "session %s is older than %g hours: starting a new one (-s %s continues it)", s.ID, hours, s.ID)
		return nil, nil
	}
	j.view.Line(view.Verbose, "continuing session %s (%d messages; -n starts a new one)", s.ID, s.Count)
	return s, nil
}

// Messages lists what was kept so far.
func (s *session) Messages(ctx context.Context) ([]utp.Message, error) {
	if s.kept == nil {
		return nil, nil
	}
	return s.kept.Messages(ctx)
}

// Append keeps messages, in a new session if need be.
func (s *session) Append(ctx context.Context, ms ...utp.Message) (err error) {
	if s.kept == nil {
		if s.kept, err = s.db.Create(ctx, s.root, s.model); err != nil {
			return err
		}
	}
	return s.kept.Append(ctx, ms...)
}

// count is the number of messages kept.
func (s *session) count(ctx context.Context) (id string, n int) {
	if s == nil || s.kept == nil {
		return "", 0
	}
	ms, err := s.kept.Messages(ctx)
	if err != nil {
		return s.kept.ID, 0
	}
	return s.kept.ID, len(ms)
}

func (s *session) close() {
	if s != nil {
		s.db.Close()
	}
}

// listSessions is bx -l.
func (j *job) listSessions(ctx context.Context) error {
	db, err := j.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := db.List(ctx, shownSessions)
	if err != nil {
		return err
	}
	if j.app.json {
		return view.JSON(j.app.out, append([]store.Info{}, list...))
	}
	view.Sessions(j.app.out, list)
	return nil
}

// recallLast is bx -r: the last exchange of the current session, or of -s.
func (j *job) recallLast(ctx context.Context) error {
	db, err := j.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := j.pick(ctx, db)
	if err != nil {
		return err
	}
	x, err := s.Last(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return &coded{exitNoSession, plain(err)}
	}
	if err != nil {
		return err
	}
	if j.app.json {
		return view.JSON(j.app.out, map[string]string{"session_id": s.ID, "question": x.Question, "response": x.Answer})
	}
	j.view.Line(view.Normal, "session %s: %s", s.ID, x.Question)
	j.view.Answer(x.Answer)
	return nil
}

func (j *job) pick(ctx context.Context, db *store.DB) (*store.Session, error) {
	if j.app.session != "" {
		return j.getSession(ctx, db, j.app.session)
	}
	s, _, err := db.Current(ctx, j.root, 0)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fail(exitNoSession, "there is no session for %s yet: ask something first", j.root)
	}
	return s, err
}
