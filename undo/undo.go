// Package undo keeps what files held before they were changed, turn by turn, so
// that a turn can be taken back. It also sees to it that one turn at a time
// writes below a directory.
//
// A store is a folder of plain files: a log for each turn, and what files held
// under the names of their sums. A log is written and synced before the change
// that it tells of.
package undo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/unifiedtoolprotocol/utp/safefile"
	"github.com/unifiedtoolprotocol/utp/search"
)

// MaxFile is the size in bytes above which a file is not kept.
const MaxFile = 50 << 20

// keepTurns is how many turns are kept.
const keepTurns = 100

// patience is how long a turn waits for another one that writes.
const patience = 3 * time.Second

// File is what a file held. A nil *File is one that was not there; the mode 0 is
// whatever the system gives a new file.
type File struct {
	Data []byte
	Mode fs.FileMode
}

// state is a File in a log: its sum stands for its content.
type state struct {
	Sum  string      `json:"sum"`
	Mode fs.FileMode `json:"mode"`
}

func (s *state) same(o *state) bool {
	return s == nil && o == nil || s != nil && o != nil && s.Sum == o.Sum && (s.Mode == o.Mode || s.Mode == 0 || o.Mode == 0)
}

// line is a line of a log. The first has Session, Pid and At.
type line struct {
	Session string    `json:"session,omitempty"`
	Pid     int       `json:"pid,omitempty"`
	At      time.Time `json:"at,omitzero"`

	Path string   `json:"path,omitempty"`
	Was  *state   `json:"was,omitempty"` // nil: no file
	Now  *state   `json:"now,omitempty"`
	Temp string   `json:"temp,omitempty"` // a file that the change leaves behind when it is killed
	Dirs []string `json:"dirs,omitempty"` // directories that the change makes

	End    bool `json:"end,omitempty"`    // of the turn
	Undone bool `json:"undone,omitempty"` // the turn was taken back
	Redone bool `json:"redone,omitempty"` // and done again
}

// Store keeps the turns of one directory.
type Store struct {
	dir  string
	root *os.Root
}

// Open opens the store of a directory below dir; it is made by the first turn.
// Files that a killed turn left behind are removed.
func Open(dir string, root *os.Root) (*Store, error) {
	sum := sha256.Sum256([]byte(root.Name()))
	s := &Store{dir: filepath.Join(dir, hex.EncodeToString(sum[:8])), root: root}
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	w, err := s.take("", 0)
	var busy *Busy
	if errors.As(err, &busy) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return s, s.sweep()
}

// sweep removes what the last turn left behind, if it did not come to its end.
func (s *Store) sweep() error {
	turns, err := s.turns()
	if err != nil || len(turns) == 0 {
		return err
	}
	last := turns[len(turns)-1]
	if last.ended {
		return nil
	}
	for _, l := range last.lines {
		if l.Temp != "" {
			err = errors.Join(err, safefile.Discard(s.root, l.Temp))
		}
	}
	return err
}

// Busy says that another turn writes below the directory.
type Busy struct {
	Session string    `json:"session"`
	Pid     int       `json:"pid"`
	Since   time.Time `json:"since"`
}

// Error names who writes.
func (b *Busy) Error() string {
	who := "another program"
	if b.Session != "" {
		who = "session " + b.Session
	}
	return fmt.Sprintf("busy: %s (pid %d) writes since %s", who, b.Pid, b.Since.Format(time.TimeOnly))
}

// take makes this process the one that writes, until the file is closed.
func (s *Store) take(session string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "writer"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := safefile.Lock(ctx, f); err != nil {
		defer f.Close()
		b := &Busy{}
		text, _ := io.ReadAll(io.LimitReader(f, 4096))
		if errors.Is(err, safefile.ErrLocked) && json.Unmarshal(bytes.TrimSpace(text), b) == nil {
			return nil, b
		}
		return nil, err
	}
	text, _ := json.Marshal(Busy{session, os.Getpid(), time.Now().Round(0)})
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Turn is a turn that writes.
type Turn struct {
	store  *Store
	writer *os.File
	log    *os.File
}

// Begin begins a turn of a session. While another turn writes it waits for three
// seconds, then the error is a *Busy. What was taken back before cannot be done
// again any more.
func (s *Store) Begin(session string) (*Turn, error) {
	if err := os.MkdirAll(filepath.Join(s.dir, "files"), 0o700); err != nil {
		return nil, err
	}
	w, err := s.take(session, patience)
	if err != nil {
		return nil, err
	}
	t, err := s.begin(session, w)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return t, nil
}

func (s *Store) begin(session string, w *os.File) (*Turn, error) {
	turns, err := s.turns()
	if err != nil {
		return nil, err
	}
	next := 1
	if len(turns) > 0 {
		next = turns[len(turns)-1].number + 1
	}
	if err := s.prune(turns); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.log(next), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	t := &Turn{s, w, f}
	return t, t.write(line{Session: session, Pid: os.Getpid(), At: time.Now().Round(0)})
}

func (s *Store) log(number int) string { return filepath.Join(s.dir, fmt.Sprintf("%08d.log", number)) }

// write adds lines to the log and sees them to the disk.
func (t *Turn) write(lines ...line) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	_, err := t.log.Write(b.Bytes())
	return errors.Join(err, t.log.Sync())
}

// Note keeps what a file holds before a change makes it now. temp is the file
// that the change writes first; it may be "".
func (t *Turn) Note(path string, was, now *File, temp string) error {
	before, err := t.store.keep(was)
	if err != nil {
		return err
	}
	var dirs []string
	if now != nil {
		dirs = safefile.Missing(t.store.root, path)
	}
	return t.write(line{Path: path, Was: before, Now: stateOf(now), Temp: temp, Dirs: dirs})
}

// Changed keeps what a file held before a change that was made already, and the
// directories that were made with it.
func (t *Turn) Changed(path string, was, now *File, dirs []string) error {
	before, err := t.store.keep(was)
	if err != nil {
		return err
	}
	return t.write(line{Path: path, Was: before, Now: stateOf(now), Dirs: dirs})
}

// End ends the turn, so that others may write.
func (t *Turn) End() error {
	return errors.Join(t.write(line{End: true}), t.log.Close(), t.writer.Close())
}

func stateOf(f *File) *state {
	if f == nil {
		return nil
	}
	sum := sha256.Sum256(f.Data)
	return &state{hex.EncodeToString(sum[:]), f.Mode}
}

// keep puts the content of a file into the store.
func (s *Store) keep(f *File) (*state, error) {
	st := stateOf(f)
	if st == nil {
		return nil, nil
	}
	files, err := os.OpenRoot(filepath.Join(s.dir, "files"))
	if err != nil {
		return nil, err
	}
	defer files.Close()
	if info, err := files.Lstat(st.Sum); err == nil && info.Size() == int64(len(f.Data)) {
		return st, nil
	}
	return st, safefile.Replace(files, st.Sum, safefile.Temp(st.Sum), f.Data, 0o600)
}

// kept is a file out of the store.
func (s *Store) kept(st *state) (*File, error) {
	if st == nil {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(s.dir, "files", st.Sum))
	if err != nil {
		return nil, err
	}
	if f := (&File{data, st.Mode}); stateOf(f).same(st) {
		return f, nil
	}
	return nil, fmt.Errorf("the kept file %s is damaged", st.Sum)
}

// read is a file of the directory as it is now.
func (s *Store) read(path string) (*File, error) {
	f, info, err := search.Open(s.root, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = search.ErrTooLarge
	}
	return &File{data, info.Mode().Perm()}, err
}

// past is a turn as its log tells it.
type past struct {
	number int
	lines  []line
	ended  bool
	undone bool
}

// changes are what the turn made of each file, in the order of the first change.
func (p past) changes() (out []line) {
	for _, l := range p.lines {
		if l.Path == "" {
			continue
		}
		if i := slices.IndexFunc(out, func(o line) bool { return o.Path == l.Path }); i >= 0 {
			out[i].Now = l.Now
			out[i].Dirs = append(out[i].Dirs, l.Dirs...)
			continue
		}
		out = append(out, l)
	}
	return slices.DeleteFunc(out, func(l line) bool { return l.Was.same(l.Now) && len(l.Dirs) == 0 })
}

// turns reads the logs, the oldest first. A last line that was cut is passed over.
func (s *Store) turns() (out []past, err error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		number, err := strconv.Atoi(filepath.Base(name)[:len(filepath.Base(name))-len(".log")])
		if err != nil {
			continue
		}
		p, err := readLog(name)
		if err != nil {
			return nil, err
		}
		p.number = number
		out = append(out, p)
	}
	return out, nil
}

func readLog(name string) (p past, err error) {
	f, err := os.Open(name)
	if err != nil {
		return p, err
	}
	defer f.Close()
	for r := bufio.NewReader(f); ; {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		var l line
		if json.Unmarshal(text, &l) != nil {
			return p, nil
		}
		p.lines = append(p.lines, l)
		p.ended = p.ended || l.End
		p.undone = (p.undone || l.Undone) && !l.Redone
	}
}

// prune removes the turns that were taken back and those that are too old, and
// what only they kept.
func (s *Store) prune(turns []past) error {
	old := max(len(turns)-keepTurns, 0)
	used, gone := map[string]bool{}, 0
	for i, p := range turns {
		if i >= old && !p.undone {
			for _, l := range p.lines {
				if l.Was != nil {
					used[l.Was.Sum] = true
				}
			}
			continue
		}
		gone++
		if err := os.Remove(s.log(p.number)); err != nil {
			return err
		}
	}
	if gone == 0 {
		return nil
	}
	files, err := os.ReadDir(filepath.Join(s.dir, "files"))
	for _, f := range files {
		if !used[f.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, "files", f.Name())))
		}
	}
	return err
}
