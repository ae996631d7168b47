package journal

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/record"
)

// Options say where a Writer writes, and how much of it is kept.
type Options struct {
	Dir     string // made with 0700 if it is missing
	Program string // "bx", "serve", "te": the first part of the segments' names

	// Held is how many events may wait in memory, for at most Every, so that
	// nobody waits for a disk. 0: Append writes before it returns.
	Held  int
	Every time.Duration // 0: a second

	Segment int64 // bytes at which a new segment begins; 0: 16 MB
	Keep    Keep

	Warn func(string)     // gets one line when events begin to be lost; nil: nobody is told
	Now  func() time.Time // nil: time.Now
}

// Keep bounds what is kept: the oldest segments are removed when a new one
// begins. 0 is no bound.
type Keep struct {
	Days  int
	Bytes int64
}

// Defaults of Keep, for events and for content.
var (
	Events  = Keep{Days: 90, Bytes: 200 << 20}
	Content = Keep{Days: 7, Bytes: 200 << 20}
)

const (
	defaultEvery   = time.Second
	defaultSegment = 16 << 20
	recheck        = time.Second // how often a segment is looked for by its name, and a store that failed tried again
)

// Writer appends events to a segment. Several Writers, in one process or in
// many, may share one: each write is one append. A Writer never fails its
// caller: what cannot be written is counted, and a line says how much it was as
// soon as there is room again.
type Writer struct {
	o Options

	mu      sync.Mutex
	held    []byte // lines that wait
	count   int    // of them
	pending int    // events that wait or are being written
	dropped int    // events that were lost and of which no line tells yet
	timer   *time.Timer
	closed  bool

	disk   sync.Mutex // guards what follows, and the order of writes
	file   *os.File
	size   int64
	day    string
	seen   time.Time // when the file was last found by its name, or the store last failed
	spare  []byte    // a buffer to be used again
	broken bool      // the last write failed, and was told
	half   bool      // the last write ended inside a line
}

// New makes a Writer. Nothing is opened before the first event.
func New(o Options) *Writer {
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	if o.Segment == 0 {
		o.Segment = defaultSegment
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return &Writer{o: o}
}

// Append keeps an event and reports whether it did: it is written, or held. A
// nil Writer keeps nothing.
func (w *Writer) Append(e record.Event) bool {
	if w == nil {
		return false
	}
	if w.o.Held == 0 {
		return w.now(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.pending >= w.o.Held {
		w.dropped++
		return false
	}
	lines, err := record.Append(w.held, e)
	if err != nil {
		w.dropped++
		return false
	}
	w.held, w.count, w.pending = lines, w.count+1, w.pending+1
	switch {
	case w.count >= (w.o.Held+1)/2:
		w.stop()
		go w.Flush()
	case w.timer == nil:
		w.timer = time.AfterFunc(w.o.Every, w.Flush)
	}
	return true
}

// stop ends the wait for more events.
func (w *Writer) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// now writes an event before it returns.
func (w *Writer) now(e record.Event) bool {
	w.disk.Lock()
	defer w.disk.Unlock()
	line, err := record.Append(w.spare[:0], e)
	if w.spare = line; err != nil {
		w.lose(1)
		return false
	}
	lost := w.write(line, 1)
	w.lose(lost)
	return lost == 0
}

func (w *Writer) lose(n int) {
	w.mu.Lock()
	w.dropped += n
	w.mu.Unlock()
}

// Flush writes what is held.
func (w *Writer) Flush() {
	w.disk.Lock()
	defer w.disk.Unlock()
	w.mu.Lock()
	lines, n := w.held, w.count
	w.held, w.count = w.spare[:0], 0
	w.stop()
	w.mu.Unlock()
	w.spare = lines
	if n == 0 {
		return
	}
	lost := w.write(lines, n)
	w.mu.Lock()
	w.pending, w.dropped = w.pending-n, w.dropped+lost
	w.mu.Unlock()
}

// Close writes what is held and closes the segment. Events that come later are lost.
func (w *Writer) Close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.Flush()
	w.disk.Lock()
	defer w.disk.Unlock()
	w.mu.Lock()
	untold := w.dropped
	w.mu.Unlock()
	if untold > 0 {
		w.write(nil, 0)
	}
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return f.Close()
}

// write appends n lines in one write and says how many of them were lost. What
// was lost before is told in front of them.
func (w *Writer) write(lines []byte, n int) (lost int) {
	now := w.o.Now()
	if w.broken && w.lately(now) {
		return n
	}
	if err := w.ready(now); err != nil {
		return w.fail(err, now, n)
	}
	out, told := w.preface(lines, now)
	k, err := w.file.Write(out)
	w.size += int64(k)
	if err == nil {
		w.half, w.broken = false, false
		w.lose(-told)
		return 0
	}
	w.half = w.half && k == 0 || k > 0 && out[k-1] != '\n'
	whole := bytes.Count(out[:k], []byte("\n"))
	if before := bytes.Count(out[:len(out)-len(lines)], []byte("\n")); whole >= before {
		w.lose(-told)
		whole -= before
	} else {
		whole = 0
	}
	_ = w.file.Close()
	w.file = nil
	return w.fail(err, now, n-whole)
}

// preface puts before the lines what the segment needs: the end of a line that a
// failed write left open, and how many events were lost.
func (w *Writer) preface(lines []byte, now time.Time) (out []byte, told int) {
	w.mu.Lock()
	told = w.dropped
	w.mu.Unlock()
	if !w.half && told == 0 {
		return lines, 0
	}
	if w.half {
		out = append(out, '\n')
	}
	if told > 0 {
		out, _ = record.Append(out, record.Dropped{Time: now.UTC(), Count: told})
	}
	return append(out, lines...), told
}

// fail notes that n events are lost. Only the first of failures in a row is told.
func (w *Writer) fail(err error, now time.Time, n int) int {
	if !w.broken {
		w.o.Warn(fmt.Sprintf("events are not being recorded: %v", err))
	}
	w.broken, w.seen = true, now
	return n
}

// ready opens the segment of the day, a new one if that is full or gone.
func (w *Writer) ready(now time.Time) error {
	day := dayOf(now)
	if w.file != nil && w.day == day && w.size < w.o.Segment && (w.lately(now) || w.there(now)) {
		return nil
	}
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
	if err := os.MkdirAll(w.o.Dir, 0o700); err != nil {
		return err
	}
	f, size, err := w.open(day, now)
	if err != nil {
		return err
	}
	w.file, w.size, w.day, w.seen, w.half = f, size, day, now, w.half || ragged(f, size)
	return nil
}

// lately reports whether the segment was looked for, or the store failed, a short
// time ago.
func (w *Writer) lately(now time.Time) bool {
	d := now.Sub(w.seen)
	return d >= 0 && d < recheck
}

// there reports whether the segment still has its name, and takes the size that
// others may have given it.
func (w *Writer) there(now time.Time) bool {
	byName, err := os.Lstat(w.file.Name())
	if err != nil {
		return false
	}
	own, err := w.file.Stat()
	if err != nil || !os.SameFile(byName, own) {
		return false
	}
	w.size, w.seen = own.Size(), now
	return w.size < w.o.Segment
}

// open opens the newest segment of the program and the day that has room.
func (w *Writer) open(day string, now time.Time) (*os.File, int64, error) {
	all, err := List(w.o.Dir)
	if err != nil {
		return nil, 0, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if s := all[i]; s.Program == w.o.Program && s.Day == day && s.Size < w.o.Segment {
			f, err := os.OpenFile(pathOf(w.o.Dir, s.Name), os.O_APPEND|os.O_RDWR, 0)
			if err == nil {
				return f, s.Size, nil
			}
		}
	}
	f, err := os.OpenFile(pathOf(w.o.Dir, newName(w.o.Program, day, now)), os.O_APPEND|os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, 0, err
	}
	w.o.Keep.prune(w.o.Dir, all, now)
	return f, 0, nil
}

// ragged reports whether the last line of a segment has no end.
func ragged(f *os.File, size int64) bool {
	if size == 0 {
		return false
	}
	var last [1]byte
	_, err := f.ReadAt(last[:], size-1)
	return err != nil || last[0] != '\n'
}

// prune removes the segments that are too old, and the oldest until the rest is
// small enough.
func (k Keep) prune(dir string, all []Segment, now time.Time) {
	var sum int64
	for i := len(all) - 1; i >= 0; i-- {
		sum += all[i].Size
		old := k.Days > 0 && all[i].Day < dayOf(now.AddDate(0, 0, -k.Days))
		if old || k.Bytes > 0 && sum > k.Bytes {
			_ = os.Remove(pathOf(dir, all[i].Name))
		}
	}
}

// Purge removes the segments of days before the day of before, or all of them if
// it is zero, and says how many there were. Writers begin new ones.
func Purge(dir string, before time.Time) (segments int, bytes int64, err error) {
	all, err := List(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range all {
		if !before.IsZero() && s.Day >= dayOf(before) {
			continue
		}
		switch e := os.Remove(pathOf(dir, s.Name)); {
		case e == nil:
			segments, bytes = segments+1, bytes+s.Size
		case !os.IsNotExist(e) && err == nil:
			err = e
		}
	}
	return segments, bytes, err
}
