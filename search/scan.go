package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// blockSize is how much of a file is searched at a time, in bytes. A line
	// that is longer makes the block longer.
	blockSize = 256 << 10
	// textHead is where a NUL makes a file one that is not text.
	textHead = 64 << 10
	// maxWhole bounds what has to be in memory at once, a line or a file in
	// UTF-16, in bytes.
	maxWhole = 64 << 20
)

// reader searches one file after the other.
type reader struct {
	root   *os.Root
	finder *finder
	query  Query
	buf    []byte

	dir string // that is open as in
	in  *os.Root
}

func newReader(root *os.Root, p *Pattern) *reader {
	return &reader{root: root, finder: p.finder(), query: p.query, buf: make([]byte, blockSize)}
}

func (r *reader) close() {
	if r.in != nil {
		r.in.Close()
	}
}

// open opens a file. The directory stays open for the next one.
func (r *reader) open(name string) (f *os.File, size int64, err error) {
	dir := path.Dir(name)
	if r.in == nil || dir != r.dir {
		r.close()
		r.in = nil
		in, err := r.root.OpenRoot(dir)
		if err != nil {
			return nil, 0, err
		}
		r.dir, r.in = dir, in
	}
	if f, err = r.in.OpenFile(path.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, 0, errors.Join(err, ErrNotRegular)
	}
	return impatient(f), info.Size(), nil
}

// search returns nil for a file that has nothing to report.
func (r *reader) search(ctx context.Context, file File) *Found {
	f, size, err := r.open(file.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since the files were listed
		}
		return &Found{File: file, Err: err}
	}
	defer f.Close()
	l := &lines{reader: r, found: Found{File: file}, number: 1}
	l.found.Err = l.read(ctx, f, size)
	if l.found.Count == 0 && !l.found.Binary && l.found.Err == nil {
		return nil
	}
	return &l.found
}

// lines is the search of one file. Blocks pass through the reader's buffer;
// what one leaves over, its last line if that is not whole and the lines
// before it that context may want, begins the next.
type lines struct {
	*reader
	found Found

	have    int // bytes in the buffer
	done    int // of them have been searched
	number  int // of the line at done
	trailed int // how far lines have been reported, as context or matches; before done
	after   int // lines of context that are still wanted
	full    bool
}

// read searches f. At size it ends without being asked for more.
func (l *lines) read(ctx context.Context, f io.Reader, size int64) error {
	var offset int64
	for !l.full || l.after > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.have >= maxWhole {
			return ErrTooLarge
		}
		if l.have == len(l.buf) {
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
		n, err := io.ReadAtLeast(f, l.buf[l.have:], wanted(len(l.buf)-l.have, size-offset))
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || n > 0 && offset+int64(n) == size
		if err != nil && !last {
			return err
		}
		fresh := l.buf[l.have : l.have+n]
		if offset == 0 {
			if wide, order := utf16Mark(fresh); wide {
				return l.wide(fresh[2:], f, order)
			}
			if bytes.HasPrefix(fresh, []byte("\xef\xbb\xbf")) {
				l.done, l.trailed = 3, 3
			}
		}
		n, last = l.checkBinary(fresh, offset, last)
		l.have += n
		offset += int64(n)
		l.block(last)
		if last {
			return nil
		}
	}
	return nil
}

// wanted is how many bytes fill a buffer that has room, or end the file.
func wanted(room int, left int64) int {
	if left <= 0 {
		return room // the file has no size, as in /proc, or it has grown
	}
	return int(min(int64(room), left))
}

// checkBinary ends a file at its first NUL, or before anything of it if that
// is near its beginning.
func (l *lines) checkBinary(fresh []byte, offset int64, last bool) (int, bool) {
	nul := -1
	if !l.query.Binary {
		nul = bytes.IndexByte(fresh, 0)
	}
	switch {
	case nul < 0:
		return len(fresh), last
	case offset+int64(nul) < textHead:
		nul = 0
	}
	l.found.Binary = true
	return nul, true
}

// block searches the buffer up to its last whole line, or all of it if it is
// the last of the file.
func (l *lines) block(last bool) {
	end := l.have
	if !last {
		end = bytes.LastIndexByte(l.buf[:l.have], '\n') + 1
	}
	if end > l.done {
		l.lines(l.buf[:end])
	}
	l.keep(end)
}

// lines searches what is not done of buf, which ends where a line ends.
func (l *lines) lines(buf []byte) {
	l.finder.begin(buf)
	for l.done < len(buf) && !l.full {
		start, end, ok := l.finder.next(buf, l.done)
		switch {
		case l.query.Invert:
			if !ok {
				start, end = len(buf), len(buf)
			}
			for l.done < start && !l.full {
				l.hit(buf, l.done, lineEnd(buf, l.done))
			}
			if ok && !l.full {
				l.pass(buf, end)
			}
		case ok:
			l.pass(buf, start)
			l.hit(buf, start, end)
		default:
			l.pass(buf, len(buf))
		}
	}
	if l.full {
		l.pass(buf, len(buf))
	}
	l.trail(buf, l.done)
}

// pass counts the lines up to at.
func (l *lines) pass(buf []byte, at int) {
	at = min(at, len(buf))
	l.number += bytes.Count(buf[l.done:at], []byte("\n"))
	l.done = at
	if l.done < len(buf) && buf[l.done] == '\n' && l.query.Invert {
		l.number++
		l.done++
	}
}

// hit reports a match and the lines before it.
func (l *lines) hit(buf []byte, start, end int) {
	l.trail(buf, start)
	if l.query.Before > 0 {
		l.lead(buf, start)
	}
	l.report(string(buf[start:end]), l.number, false)
	l.found.Count++
	l.full = l.query.Max > 0 && l.found.Count == l.query.Max
	l.after = l.query.After
	l.number++
	l.done = min(end+1, len(buf))
	l.trailed = l.done
}

// lead reports the lines before a match as context.
func (l *lines) lead(buf []byte, start int) {
	at, n := start, 0
	for n < l.query.Before && at > l.trailed {
		at = bytes.LastIndexByte(buf[l.trailed:at-1], '\n') + 1 + l.trailed
		n++
	}
	for ; at < start; n-- {
		end := lineEnd(buf, at)
		l.report(string(buf[at:end]), l.number-n, true)
		at = end + 1
	}
}

// trail reports lines after a match as context, as far as to.
func (l *lines) trail(buf []byte, to int) {
	if l.after == 0 || l.trailed >= to {
		return
	}
	number := l.number - bytes.Count(buf[l.trailed:to], []byte("\n"))
	for l.after > 0 && l.trailed < to {
		end := lineEnd(buf, l.trailed)
		l.report(string(buf[l.trailed:end]), number, true)
		l.trailed = min(end+1, len(buf))
		l.after--
		number++
	}
}

func (l *lines) report(text string, number int, context bool) {
	l.found.Matches = append(l.found.Matches, Match{Path: l.found.Path, Line: number, Text: text, Context: context})
}

// keep moves what the next block needs to the front of the buffer.
func (l *lines) keep(end int) {
	from := end
	for range l.query.Before {
		if from == 0 {
			break
		}
		from = bytes.LastIndexByte(l.buf[:from-1], '\n') + 1
	}
	from = max(from, min(l.trailed, end))
	copy(l.buf, l.buf[from:l.have])
	l.have -= from
	l.done = end - from
	l.trailed = max(l.trailed-from, 0)
}

func utf16Mark(b []byte) (bool, binary.ByteOrder) {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return true, binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return true, binary.BigEndian
	}
	return false, nil
}

// wide searches a file in UTF-16, whose first bytes are in head.
func (l *lines) wide(head []byte, f io.Reader, order binary.ByteOrder) error {
	src, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(bytes.Clone(head)), f), maxWhole+1))
	if err != nil {
		return err
	}
	if len(src) > maxWhole {
		return ErrTooLarge
	}
	text := fromUTF16(src, order)
	l.buf = append(l.buf[:0], text...)
	l.have = len(text)
	l.block(true)
	l.buf = l.buf[:cap(l.buf)]
	return nil
}

func fromUTF16(src []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, (len(src)+1)/2)
	for i := range units {
		if 2*i+1 < len(src) {
			units[i] = order.Uint16(src[2*i:])
		} else {
			units[i] = utf8.RuneError
		}
	}
	var out []byte
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	return out
}
