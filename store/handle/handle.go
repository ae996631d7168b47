// Package handle keeps results that were shown in part, so that the rest can be
// asked for: from another process too, and for a while. A result belongs to the
// directory it was made in; from anywhere else there is no such result.
//
// Each result is a file of its own, for the user alone: one line of JSON with
// its full hash, then the bytes. A file is there as a whole or not at all.
package handle

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// MaxSize is the longest result that is kept, in bytes.
	MaxSize = 64 << 20
	// Capacity is how many bytes all results may have before the oldest go.
	Capacity = 256 << 20
	// maxAge is how long a result is kept.
	maxAge = 7 * 24 * time.Hour
	// young is the age below which a result never goes.
	young = time.Hour
	// reused is the age below which a result that is put again keeps its
	// handle. It is well below young: nobody else removes it meanwhile.
	reused = young / 2
	// pause is the least time between two looks at what can go.
	pause = time.Minute
)

// ErrNone says that there is no such result here, or not any more.
var ErrNone = errors.New("no such result, or it was removed")

// ErrTooLarge says that a result is longer than MaxSize.
var ErrTooLarge = fmt.Errorf("the result is longer than %d MB", MaxSize>>20)

// Info says what a result is.
type Info struct {
	ID   string    // "res_" and 12 hex digits
	Cmd  string    // what it is the result of
	Size int       // in bytes
	Made time.Time // or put again
}

// Store is a place for results. Several goroutines and processes may use it.
type Store struct {
	dir      string
	now      func() time.Time
	capacity int64   // how many bytes all results may have before the oldest go
	memory   *memory // if there is no dir
}

// Open returns the store in dir, which the first Put makes. Without a dir
// results are kept in memory.
func Open(dir string, now func() time.Time) *Store {
	s := &Store{dir: dir, now: now, capacity: Capacity}
	if dir == "" {
		s.memory = &memory{}
	}
	return s
}

// head is the first line of a file.
type head struct {
	V    int    `json:"v"`
	Root string `json:"root"`
	Cmd  string `json:"cmd"`
	Size int    `json:"size"`
	Hash string `json:"fnv128a"`
}

// Put keeps a result of a command that ran in root and returns its handle. The
// same result put again within half an hour has the same handle.
func (s *Store) Put(root, cmd, text string) (string, error) {
	if len(text) > MaxSize {
		return "", ErrTooLarge
	}
	if s.memory != nil {
		return s.memory.put(root, cmd, text, s.capacity, s.now()), nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", fmt.Errorf("keep a result: %w", err)
	}
	id, err := s.write(root, cmd, text)
	if err != nil {
		return "", fmt.Errorf("keep a result: %w", err)
	}
	s.clean()
	return id, nil
}

// number is the handle of a result. If its digits are taken, by another or by
// the same of another root, try counts up.
func number(text string, try int) string {
	return "res_" + hashOf(fmt.Sprint(try), text)[:12]
}

func (s *Store) write(root, cmd, text string) (string, error) {
	h := head{1, root, cmd, len(text), hashOf(text)}
	line, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	var whole string
	defer func() {
		if whole != "" {
			os.Remove(whole)
		}
	}()
	for try := 0; ; try++ {
		id := number(text, try)
		if s.again(id, h, text) {
			return id, nil
		}
		if _, err := os.Lstat(s.path(id)); err == nil {
			continue // another result, or this one, too old to be relied on
		}
		if whole == "" {
			if whole, err = s.temporary(append(line, '\n'), text); err != nil {
				return "", err
			}
		}
		err := place(whole, s.path(id))
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// place gives a file that is whole its name, unless that is taken.
func place(whole, name string) error {
	err := os.Link(whole, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(whole, name) // a file system without links
}

// again reports whether the result stands under this handle already and is
// young enough to stay there. From now on it counts as new.
func (s *Store) again(id string, h head, want string) bool {
	info, err := os.Lstat(s.path(id))
	if err != nil || s.now().Sub(info.ModTime()) > reused {
		return false
	}
	have, text, err := s.read(id)
	if err != nil || have.Root != h.Root || have.Hash != h.Hash || text != want {
		return false
	}
	return os.Chtimes(s.path(id), s.now(), s.now()) == nil
}

const temporaryName = ".new-*"

func (s *Store) temporary(line []byte, text string) (name string, err error) {
	f, err := os.CreateTemp(s.dir, temporaryName) // of mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(line)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Chtimes(f.Name(), s.now(), s.now())
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

var valid = regexp.MustCompile(`^res_[0-9a-f]{12}$`)

func (s *Store) path(id string) string { return filepath.Join(s.dir, strings.TrimPrefix(id, "res_")) }

// Get returns a result of root. A handle that is unknown, too old, damaged or
// of another root is ErrNone.
func (s *Store) Get(root, id string) (text string, info Info, err error) {
	if !valid.MatchString(id) {
		return "", Info{}, ErrNone
	}
	if s.memory != nil {
		return s.memory.get(root, id, s.now())
	}
	file, err := os.Lstat(s.path(id))
	if err != nil || s.now().Sub(file.ModTime()) > maxAge {
		return "", Info{}, ErrNone
	}
	h, text, err := s.read(id)
	if err != nil || h.Root != root {
		return "", Info{}, ErrNone
	}
	return text, Info{id, h.Cmd, h.Size, file.ModTime()}, nil
}

var errDamaged = errors.New("damaged")

func (s *Store) read(id string) (h head, text string, err error) {
	b, err := os.ReadFile(s.path(id))
	if err != nil {
		return h, "", err
	}
	line, text, _ := strings.Cut(string(b), "\n")
	if err := json.Unmarshal([]byte(line), &h); err != nil {
		return h, "", err
	}
	if h.V != 1 || h.Size != len(text) || h.Hash != hashOf(text) {
		return h, "", errDamaged
	}
	return h, text, nil
}

// hashOf tells damage and makes handles. It need not withstand an attack: two
// results are told apart by their bytes.
func hashOf(parts ...string) string {
	h := fnv.New128a()
	for i, p := range parts {
		if i > 0 {
			h.Write([]byte{0})
		}
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// List is what there is of root, the newest first.
func (s *Store) List(root string) (out []Info, err error) {
	if s.memory != nil {
		return s.memory.list(root, s.now()), nil
	}
	kept, err := s.kept()
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		if _, info, err := s.Get(root, k.id); err == nil {
			out = append(out, info)
		}
	}
	slices.SortStableFunc(out, func(a, b Info) int { return b.Made.Compare(a.Made) })
	return out, nil
}

// file is one that is kept, by what the directory says.
type file struct {
	id   string
	size int64
	made time.Time
}

func (s *Store) kept() (out []file, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && valid.MatchString("res_"+e.Name()) {
			out = append(out, file{"res_" + e.Name(), info.Size(), info.ModTime()})
		}
	}
	return out, nil
}

// clean removes what is too old or too much, and what a killed process left.
// What it cannot remove stays for the next time.
func (s *Store) clean() {
	mark := filepath.Join(s.dir, ".cleaned")
	if info, err := os.Lstat(mark); err == nil && s.now().Sub(info.ModTime()) < pause {
		return
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil || os.Chtimes(mark, s.now(), s.now()) != nil {
		return
	}
	kept, err := s.kept()
	if err != nil {
		return
	}
	for _, f := range surplus(kept, s.capacity, s.now()) {
		os.Remove(s.path(f.id))
	}
	left, _ := filepath.Glob(filepath.Join(s.dir, temporaryName))
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && s.now().Sub(info.ModTime()) > young {
			os.Remove(name)
		}
	}
}

// surplus is what is older than maxAge, and the oldest of what is more than
// capacity, but nothing that is young.
func surplus(kept []file, capacity int64, now time.Time) (out []file) {
	slices.SortStableFunc(kept, func(a, b file) int { return b.made.Compare(a.made) })
	var size int64
	for _, f := range kept {
		age := now.Sub(f.made)
		size += f.size
		if age > young && (age > maxAge || size > capacity) {
			out = append(out, f)
		}
	}
	return out
}
