package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Version is that of the lines that Append writes.
const Version = 1

// MaxLine bounds a line, in bytes. Append refuses what is longer.
const MaxLine = 4 << 20

// Bounds of what a model may write without end.
const (
	maxText = 128 // bytes of a name
	maxList = 64  // calls, problems, losses, each; fixes of a call
)

// Append adds the line of e, with its line feed, to b. Names that are too long
// end in "…", and Reply.Left counts the calls, problems and losses for which a
// line has no room.
func Append(b []byte, e Event) ([]byte, error) {
	var line any
	switch e := e.(type) {
	case Reply:
		line = struct {
			frame
			Reply
		}{frame{Version, e.kind()}, e.bounded()}
	case Command:
		line = struct {
			frame
			Command
		}{frame{Version, e.kind()}, e.bounded()}
	case Content:
		line = struct {
			frame
			Content
		}{frame{Version, e.kind()}, e}
	case Dropped:
		line = struct {
			frame
			Dropped
		}{frame{Version, e.kind()}, e}
	default:
		return b, fmt.Errorf("record: %T is no event", e)
	}
	to := bytes.NewBuffer(b)
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		return b, fmt.Errorf("record: %s: %w", e.kind(), err)
	}
	if to.Len()-len(b) > MaxLine {
		return b, fmt.Errorf("record: a %s of %d bytes; a line has at most %d", e.kind(), to.Len()-len(b), MaxLine)
	}
	return to.Bytes(), nil
}

type frame struct {
	V    int    `json:"v"`
	Kind string `json:"kind"`
}

// Why a line is no event.
var (
	ErrBroken = errors.New("no JSON object of an event")
	ErrNewer  = errors.New("a later version")
	ErrKind   = errors.New("an unknown kind")
)

// Decode reads a line, with or without its line feed. Its error wraps
// ErrBroken, ErrNewer or ErrKind.
func Decode(line []byte) (Event, error) {
	var h frame
	if err := json.Unmarshal(line, &h); err != nil || h.V < 1 {
		return nil, fmt.Errorf("record: %w", ErrBroken)
	}
	if h.V > Version {
		return nil, fmt.Errorf("record: version %d, known is %d: %w", h.V, Version, ErrNewer)
	}
	switch h.Kind {
	case Reply{}.kind():
		return decode[Reply](line)
	case Command{}.kind():
		return decode[Command](line)
	case Content{}.kind():
		return decode[Content](line)
	case Dropped{}.kind():
		return decode[Dropped](line)
	}
	return nil, fmt.Errorf("record: %q: %w", h.Kind, ErrKind)
}

func decode[E Event](line []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("record: %s: %w", e.kind(), ErrBroken)
	}
	return e, nil
}

// Skipped counts lines that are no events.
type Skipped struct {
	Broken int `json:"broken,omitempty"`
	Newer  int `json:"newer,omitempty"`
	Kinds  int `json:"kinds,omitempty"` // of unknown kinds
}

// Note counts an error of Decode.
func (s *Skipped) Note(err error) {
	switch {
	case errors.Is(err, ErrNewer):
		s.Newer++
	case errors.Is(err, ErrKind):
		s.Kinds++
	case err != nil:
		s.Broken++
	}
}

// Add counts what o counted.
func (s *Skipped) Add(o Skipped) {
	s.Broken, s.Newer, s.Kinds = s.Broken+o.Broken, s.Newer+o.Newer, s.Kinds+o.Kinds
}

// Lines is the number of lines that were skipped.
func (s Skipped) Lines() int { return s.Broken + s.Newer + s.Kinds }

// bounded is the reply as it is written.
func (r Reply) bounded() Reply {
	for _, s := range []*string{&r.ID, &r.Conversation, &r.Session, &r.Client, &r.API, &r.Speaks, &r.Backend, &r.Route, &r.Asked,
		&r.Answered, &r.Digest, &r.Form, &r.Why, &r.Reason, &r.Again} {
		*s = short(*s)
	}
	r.Time = r.Time.UTC()
	r.Calls, r.Problems, r.Losses = head(r.Calls, &r.Left), head(r.Problems, &r.Left), head(r.Losses, &r.Left)
	return r
}

func (c Command) bounded() Command {
	for _, s := range []*string{&c.ID, &c.Agent, &c.Session, &c.Cmd, &c.Query, &c.Handle, &c.Error} {
		*s = short(*s)
	}
	c.Time = c.Time.UTC()
	return c
}

// head is the list as it is written; left grows by what is not.
func head[T any](list []T, left *int) []T {
	n := min(len(list), maxList)
	*left += len(list) - n
	return list[:n]
}

// short cuts a text that a line has no room for.
func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
