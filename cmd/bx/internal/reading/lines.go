package reading

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"sync"
)

// Tally counts lines.
type Tally struct {
	Lines int    // that are not blank
	Bad   int    // that gave an error
	First string // the first error, with its line
}

// Lines reads JSON objects, one a line, of any length:
//
//	{"id","input","tools","model","grammar","prefill"}
//
// all but input may be missing, and what is missing is as in the options. An
// input is a text, or as JSON a provider's reply or the list of its calls. For
// each line that is not blank one line is written, in order: a Reading with the
// id in front, or {"id","error"}. The answers to what has been read are written
// before more input is waited for. An error is one of in or out, or ctx's; a
// blocked Read of in is left behind.
func Lines(ctx context.Context, in io.Reader, out io.Writer, o Options) (Tally, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *batch, workers), make(chan *batch, 2*workers)
	go cut(ctx, in, work, order)
	m := newMemory(o)
	for range workers {
		go func() {
			w := &worker{memory: m}
			for b := range work {
				b.answer(w)
			}
		}()
	}
	return write(ctx, out, order)
}

// worker answers one line at a time.
type worker struct {
	*memory
	c collector
}

// batch is a run of whole lines and their answers.
type batch struct {
	from  int // number of its first line
	in    []byte
	ends  []int // of the lines in in
	out   bytes.Buffer
	tally Tally
	err   error // of the input, behind these lines
	done  chan struct{}
}

const (
	batchSize = 128 << 10 // bytes of lines that go to one worker at a time
	maxSpare  = 4 << 20   // bytes of a batch that is kept for reuse
)

var spare = sync.Pool{New: func() any { return new(batch) }}

func newBatch(from int) *batch {
	b := spare.Get().(*batch)
	b.from, b.in, b.ends, b.tally, b.err, b.done = from, b.in[:0], b.ends[:0], Tally{}, nil, make(chan struct{})
	b.out.Reset()
	return b
}

// cut makes batches of the input and sends them to the workers and, in order,
// to the writer.
func cut(ctx context.Context, in io.Reader, work, order chan<- *batch) {
	defer close(work)
	defer close(order)
	r := bufio.NewReaderSize(in, batchSize)
	b := newBatch(1)
	for err := error(nil); err == nil; {
		if err = b.line(r); err != nil && !errors.Is(err, io.EOF) {
			b.err = err
		}
		if err == nil && len(b.in) < batchSize && another(r) {
			continue
		}
		next := b.from + len(b.ends)
		for _, to := range []chan<- *batch{work, order} {
			select {
			case to <- b:
			case <-ctx.Done():
				return
			}
		}
		b = newBatch(next)
	}
}

// another reports whether a line can be read without waiting.
func another(r *bufio.Reader) bool {
	ahead, _ := r.Peek(r.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}

// line reads one line.
func (b *batch) line(r *bufio.Reader) error {
	for {
		part, err := r.ReadSlice('\n')
		b.in = append(b.in, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		b.ends = append(b.ends, len(b.in))
		return err
	}
}

func (b *batch) answer(w *worker) {
	defer close(b.done)
	enc := json.NewEncoder(&b.out)
	enc.SetEscapeHTML(false)
	from := 0
	for i, to := range b.ends {
		if text := bytes.TrimSpace(b.in[from:to]); len(text) > 0 {
			b.tally.Lines++
			b.one(w, enc, b.from+i, text)
		}
		from = to
	}
}

// write writes the answers in order.
func write(ctx context.Context, out io.Writer, order <-chan *batch) (t Tally, err error) {
	for {
		var b *batch
		select {
		case b = <-order:
		case <-ctx.Done():
			return t, ctx.Err()
		}
		if b == nil {
			return t, ctx.Err()
		}
		<-b.done
		t.add(b.tally)
		if _, err := out.Write(b.out.Bytes()); err != nil {
			return t, err
		}
		if b.err != nil {
			return t, b.err
		}
		if cap(b.in)+b.out.Cap() < maxSpare {
			spare.Put(b)
		}
	}
}

func (t *Tally) add(u Tally) {
	t.Lines, t.Bad = t.Lines+u.Lines, t.Bad+u.Bad
	if t.First == "" {
		t.First = u.First
	}
}
