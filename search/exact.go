package search

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Match is a line that fits a query.
type Match struct {
	Path    string
	Line    int
	Text    string // without the line feed
	Def     bool   // the line begins a definition; Scan does not say
	Test    bool   // the file is a test; Scan does not say
	Context bool   // the line stands near a match and is none
}

// maxLine is the longest Text of a Match that Exact returns, in bytes.
const maxLine = 2000

// Exact finds the lines of files that fit q, by path and line. Files that
// cannot be read or are not text are passed over. A bad pattern is an error,
// and ctx ends the search.
func Exact(ctx context.Context, root *os.Root, files []File, q Query) ([]Match, error) {
	q.CRLF = true
	var out []Match
	err := Scan(ctx, root, files, q, func(f Found) error {
		test := IsTest(f.Path)
		for _, m := range f.Matches {
			_, m.Def = Definition(m.Text)
			m.Test = test
			m.Text = strings.TrimSuffix(m.Text, "\r")
			m.Text = m.Text[:min(len(m.Text), maxLine)]
			out = append(out, m)
		}
		return nil
	})
	return out, err
}

// Found is what a search says of one file.
type Found struct {
	File
	Matches []Match // with context, by line
	Count   int     // of lines that match
	Binary  bool    // it is not text: what follows its first NUL was not searched
	Err     error   // why it could not be read
}

// ahead is how many files are searched before the first of them is reported.
const ahead = 1024

// Scan searches files in parallel and reports each that has a match, is not
// text or cannot be read, one after the other and in the order of files. An
// error of report ends the search.
func Scan(ctx context.Context, root *os.Root, files []File, q Query, report func(Found) error) error {
	p, err := Compile(q)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &scan{ctx: ctx, files: files, found: make([]chan *Found, min(len(files), ahead))}
	for i := range s.found {
		s.found[i] = make(chan *Found, 1)
	}
	defer s.workers.Wait()
	defer cancel()
	s.tickets = make(chan struct{}, len(s.found))
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		s.workers.Go(func() { s.work(newReader(root, p)) })
	}
	return s.report(report)
}

// scan hands files to workers and puts what they find back into order.
type scan struct {
	ctx     context.Context
	files   []File
	next    atomic.Int64
	tickets chan struct{} // one for each file that was begun and is not reported
	found   []chan *Found // a ring
	workers sync.WaitGroup
}

func (s *scan) work(r *reader) {
	defer r.close()
	for {
		select {
		case s.tickets <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		i := int(s.next.Add(1)) - 1
		if i >= len(s.files) {
			return
		}
		s.found[i%len(s.found)] <- r.search(s.ctx, s.files[i])
	}
}

func (s *scan) report(report func(Found) error) error {
	for i := range s.files {
		select {
		case f := <-s.found[i%len(s.found)]:
			<-s.tickets
			if f == nil {
				continue
			}
			if err := report(*f); err != nil {
				return err
			}
		case <-s.ctx.Done():
			return fmt.Errorf("search: %w", s.ctx.Err())
		}
	}
	return s.ctx.Err()
}
