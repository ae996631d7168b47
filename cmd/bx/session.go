package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/store"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// maxStore is how many bytes all sessions together may take.
const maxStore = 1 << 30

// session is the log of a question, and of those before it in its conversation.
// It is created when something is first logged.
type session struct {
	job   *job
	db    *store.DB // nil: nothing is kept
	model string
	kept  *store.Session // nil: not created yet
	n     int            // entries so far
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

// openSession finds the session of -s or -c, or begins a new one. Only with one
// of these is a session that cannot be had an error.
func (j *job) openSession(ctx context.Context, model string) (*session, error) {
	s := &session{job: j, model: model}
	if j.app.noSession {
		return s, nil
	}
	goesOn := j.app.session != "" || j.app.goOn
	db, err := j.openStore(ctx)
	if err != nil {
		if goesOn || ctx.Err() != nil {
			return nil, err
		}
		j.view.Warn("this question is kept in no session: %v", err)
		return s, nil
	}
	s.db = db
	if goesOn {
		err = s.goOn(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// checkSession looks for the session of -s or -c before any server is asked.
func (j *job) checkSession(ctx context.Context) error {
	if j.app.session == "" && !j.app.goOn {
		return nil
	}
	db, err := j.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := j.pick(ctx, db)
	if err == nil {
		j.app.going = s.ID
	}
	return err
}

// goOn takes the session of -s or -c.
func (s *session) goOn(ctx context.Context) error {
	found, err := s.job.pick(ctx, s.db)
	if err != nil {
		return err
	}
	age := time.Since(found.Updated)
	if s.job.app.session == "" && !s.job.freshEnough(ctx, found, age) {
		return nil
	}
	if err := found.Take(ctx, os.Getpid(), alive); err != nil {
		return fail(exitError, "session %s: %w; wait for it, or go on in a copy: bx sessions fork %s", found.ID, plain(err), found.ID)
	}
	s.kept = found
	log, err := found.Entries(ctx)
	if err != nil {
		return err
	}
	s.n = len(log)
	if s.job.talk == nil {
		s.job.view.Line(view.Normal, "%s", goesOn(found))
	}
	return nil
}

// goesOn says which session goes on.
func goesOn(s *store.Session) string {
	broken := ""
	if s.Broken {
		broken = "; its last turn broke off"
	}
	return fmt.Sprintf("continuing session %s: %s, last used %s ago%s", s.ID, view.Count(s.Count, "message"), view.Age(time.Since(s.Updated)), broken)
}

// freshEnough asks before an old session goes on, where there is somebody to ask.
func (j *job) freshEnough(ctx context.Context, s *store.Session, age time.Duration) bool {
	hours := j.set.Session.TimeoutHours
	if age.Hours() <= hours || !isTerminal(j.app.in) {
		return true
	}
	yes, _ := j.app.yesNo(ctx, fmt.Sprintf("The last session, %s (%q), was used %s ago. Continue it?", s.ID, view.Short(s.First), view.Age(age)))
	return yes
}

// alive reports whether a process runs on this machine.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// pick is the session of -s, else the last of the repository.
func (j *job) pick(ctx context.Context, db *store.DB) (*store.Session, error) {
	if j.app.session != "" {
		return getSession(ctx, db, j.app.session)
	}
	s, _, err := db.Current(ctx, j.root, 0)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fail(exitNoSession, "there is no session for %s yet: ask something first", cmp.Or(j.root, "this folder"))
	}
	return s, err
}

func getSession(ctx context.Context, db *store.DB, id string) (*store.Session, error) {
	s, err := db.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		return nil, &coded{exitNoSession, fmt.Errorf("session %q: %w (bx sessions list shows them)", id, plain(err))}
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

// Entries lists what was logged so far.
func (s *session) Entries(ctx context.Context) ([]transcript.Entry, error) {
	if s.kept == nil {
		return nil, nil
	}
	return s.kept.Entries(ctx)
}

// Append keeps entries, in a new session if need be, and prints them where they
// are asked for. What cannot be kept is told once and costs nobody the answer.
func (s *session) Append(ctx context.Context, es ...transcript.Entry) error {
	if s.db != nil {
		if err := s.keep(ctx, es); err != nil {
			s.db.Close()
			s.db = nil
			s.job.view.Warn("from here on this question is kept in no session: %v", err)
		}
	}
	if !s.job.app.streams() {
		return nil
	}
	for _, e := range es {
		s.n++
		e.N = s.n
		if err := view.Entry(s.job.app.out, s.id(), e); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) keep(ctx context.Context, es []transcript.Entry) (err error) {
	if s.kept == nil {
		if _, err := s.db.Prune(ctx, time.Duration(s.job.set.Session.KeepDays)*24*time.Hour, maxStore); err != nil {
			return err
		}
		if s.kept, err = s.db.Create(ctx, s.job.root, s.model); err != nil {
			return err
		}
		if err := s.kept.Take(ctx, os.Getpid(), alive); err != nil {
			return err
		}
	}
	return s.kept.Append(ctx, es...)
}

// id of the session; "" where none is kept.
func (s *session) id() string {
	if s.kept == nil {
		return ""
	}
	return s.kept.ID
}

// count is the number of messages kept.
func (s *session) count(ctx context.Context) (id string, n int) {
	log, err := s.Entries(ctx)
	if err != nil {
		return s.id(), 0
	}
	return s.id(), len(transcript.Messages(log))
}

// close ends the use of a session, also after Ctrl-C.
func (s *session) close() {
	if s == nil || s.db == nil {
		return
	}
	if s.kept != nil {
		if err := s.kept.Free(context.Background(), os.Getpid()); err != nil {
			s.job.view.Line(view.Verbose, "warning: %v", err)
		}
	}
	s.db.Close()
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

// sessionID is the beginning of a session's id.
var sessionID = regexp.MustCompile("^[0-9a-f]{2,8}$")
