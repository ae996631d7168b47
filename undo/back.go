package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/safefile"
)

// ErrNothing says that there is no turn to take back, or to do again.
var ErrNothing = errors.New("there is nothing left to take back")

// Report is what taking a turn back, or doing it again, came to.
type Report struct {
	Session  string    `json:"session"`
	At       time.Time `json:"at"`       // when the turn began
	Restored []string  `json:"restored"` // files that have their former content again
	Removed  []string  `json:"removed"`  // files that the turn had made
	Left     []string  `json:"left"`     // files that somebody else has changed since: they stay as they are
}

// Undo takes back the last turn that is not taken back yet. A file that was
// changed since then by anybody else stays as it is unless force says otherwise.
func (s *Store) Undo(force bool) (Report, error) {
	return s.turnBack(force, func(turns []past) (past, bool) {
		for i := len(turns) - 1; i >= 0; i-- {
			if !turns[i].undone && len(turns[i].changes()) > 0 {
				return turns[i], true
			}
		}
		return past{}, false
	}, line{Undone: true}, func(c line) (from, to *state) { return c.Now, c.Was })
}

// Redo does the turn again that was taken back last.
func (s *Store) Redo(force bool) (Report, error) {
	return s.turnBack(force, func(turns []past) (past, bool) {
		i := slices.IndexFunc(turns, func(p past) bool { return p.undone })
		if i < 0 {
			return past{}, false
		}
		return turns[i], true
	}, line{Redone: true}, func(c line) (from, to *state) { return c.Was, c.Now })
}

// turnBack brings the files of a turn from one state to the other.
func (s *Store) turnBack(force bool, choose func([]past) (past, bool), done line, way func(line) (from, to *state)) (r Report, err error) {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return r, ErrNothing
	}
	w, err := s.take("", patience)
	if err != nil {
		return r, err
	}
	defer w.Close()
	turns, err := s.turns()
	if err != nil {
		return r, err
	}
	p, ok := choose(turns)
	if !ok {
		return r, ErrNothing
	}
	r = Report{p.lines[0].Session, p.lines[0].At, []string{}, []string{}, []string{}}
	changes := p.changes()
	for _, c := range changes {
		from, to := way(c)
		if err := s.bring(c, from, to, force, &r); err != nil {
			return r, fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	if done.Undone {
		s.removeDirs(changes)
	}
	f, err := os.OpenFile(s.log(p.number), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return r, err
	}
	t := &Turn{store: s, log: f}
	return r, errors.Join(t.write(done), f.Close())
}

// bring brings one file from a state to another. What it holds now is kept.
func (s *Store) bring(c line, from, to *state, force bool, r *Report) error {
	now, err := s.read(c.Path)
	has := stateOf(now)
	switch {
	case err != nil && !force, err == nil && !has.same(from) && !has.same(to) && !force:
		r.Left = append(r.Left, c.Path)
		return nil
	case err != nil:
		return err
	case has.same(to):
		return nil
	}
	if _, err := s.keep(now); err != nil {
		return err
	}
	if to == nil {
		r.Removed = append(r.Removed, c.Path)
		return s.root.Remove(c.Path)
	}
	file, err := s.kept(to)
	if errors.Is(err, fs.ErrNotExist) {
		r.Left = append(r.Left, c.Path)
		return nil
	}
	if err != nil {
		return err
	}
	r.Restored = append(r.Restored, c.Path)
	return safefile.Replace(s.root, c.Path, safefile.Temp(c.Path), file.Data, file.Mode)
}

// removeDirs removes the directories that a turn made, as far as they are empty.
func (s *Store) removeDirs(changes []line) {
	var dirs []string
	for _, c := range changes {
		dirs = append(dirs, c.Dirs...)
	}
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, d := range dirs {
		_ = s.root.Remove(d) // one that holds something stays
	}
}

// Listed is a turn: who changed what, and when.
type Listed struct {
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Files   []string  `json:"files"`
	Undone  bool      `json:"undone"`
}

// List lists the turns that are kept, the latest first.
func (s *Store) List() ([]Listed, error) {
	turns, err := s.turns()
	if err != nil {
		return nil, err
	}
	var out []Listed
	for _, p := range slices.Backward(turns) {
		changes := p.changes()
		if len(changes) == 0 {
			continue
		}
		l := Listed{Session: p.lines[0].Session, At: p.lines[0].At, Undone: p.undone}
		for _, c := range changes {
			l.Files = append(l.Files, c.Path)
		}
		out = append(out, l)
	}
	return out, nil
}

// String says in a sentence what was done.
func (r Report) String() string {
	var parts []string
	for _, p := range []struct {
		what  string
		files []string
	}{{"restored", r.Restored}, {"removed", r.Removed}, {"left as changed since", r.Left}} {
		if len(p.files) > 0 {
			parts = append(parts, p.what+" "+strings.Join(p.files, ", "))
		}
	}
	if len(parts) == 0 {
		return "no file was changed."
	}
	return strings.Join(parts, "; ") + "."
}

// Tell leaves a word for the next turn.
func (s *Store) Tell(text string) error {
	f, err := os.OpenFile(s.news(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

// News takes the words that were left; "" is none.
func (s *Store) News() string {
	text, err := os.ReadFile(s.news())
	if err != nil || os.Remove(s.news()) != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func (s *Store) news() string { return filepath.Join(s.dir, "news") }
