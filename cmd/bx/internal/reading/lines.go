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
	"sync/atomic"
)

// Tally counts lines.
type Tally struct {
	Lines int    // that are not blank
	Bad   int    // that gave an error
	First string // the first error, with its line
}

// Lines reads JSON objects, one a line, of any length:
//
//	{"id","input","tools","model","grammar","prefill","policy","cut"}
//
// all but input may be missing, and what is missing is as in the options. An
// input is a text, or as JSON a provider's reply or the list of its calls. For
// each line that is not blank one line is written, in order: a Reading with the
// id in front, or {"id","error"}.
//
// With "op" a line asks for something else: "open" begins a text that comes in
// pieces, "feed" adds its "piece" and is answered with {"id","events"}, "close"
// ends it and is answered with its Reading; others are those of the options. Many
// such texts may be open at once. One that is open when the input ends is answered
// with an error.
//
// The answers to what has been read are written before more input is waited for,
// and no more is read than a few batches ahead of what out takes. An error is one
// of in or out, or ctx's; a blocked Read of in or Write of out is left behind.
func Lines(ctx context.Context, in io.Reader, out io.Writer, o Options) (Tally, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *batch, workers), make(chan *batch, 2*workers)
	m, s := newMemory(o), &streams{open: map[string]*stream{}}
	p := &printer{out: out}
	go cut(ctx, in, &worker{memory: m, streams: s}, work, order, p)
	for range workers {
		go func() {
			w := &worker{memory: m, streams: s}
			for b := range work {
				b.answer(w)
			}
		}()
	}
	return p.all(ctx, order)
}

// worker answers one line at a time.
type worker struct {
	*memory
	streams *streams // its batch may touch them when the one before is done
	c       collector
}

// batch is a run of whole lines and their answers.
type batch struct {
	from  int // number of its first line
	in    []byte
	ends  []int // of the lines in in
	out   bytes.Buffer
	tally Tally
	err   error // of the input, behind these lines
	last  bool
	done  chan struct{}

	before <-chan struct{} // done of the batch before
}

const (
	batchSize = 128 << 10 // bytes of lines that go to one worker at a time
	maxSpare  = 4 << 20   // bytes of a batch that is kept for reuse
	short     = 8 << 10   // bytes of a line that is answered where it is read
)

var spare = sync.Pool{New: func() any { return new(batch) }}

func newBatch(from int, before <-chan struct{}) *batch {
	b := spare.Get().(*batch)
	b.from, b.in, b.ends, b.tally, b.err, b.last, b.done, b.before = from, b.in[:0], b.ends[:0], Tally{}, nil, false, make(chan struct{}), before
	b.out.Reset()
	return b
}

// cut makes batches of the input and sends them to the workers and, in order,
// to the printer. A short line that comes alone it answers itself, and prints the
// answer if no other is to be printed before: that takes less than to wake others.
func cut(ctx context.Context, in io.Reader, w *worker, work, order chan<- *batch, p *printer) {
	defer close(work)
	defer close(order)
	r := bufio.NewReaderSize(in, batchSize)
	none := make(chan struct{})
	close(none)
	sent := int64(0)
	b := newBatch(1, none)
	for err := error(nil); err == nil; {
		if err = b.next(r); err != nil && !errors.Is(err, io.EOF) {
			b.err = err
		}
		if err == nil && len(b.in) < batchSize && another(r) {
			continue
		}
		b.last = err != nil
		next, done := b.from+len(b.ends), b.done
		to := []chan<- *batch{work, order}
		if len(b.ends) == 1 && len(b.in) < short {
			b.answer(w)
			to = to[1:]
			if err == nil && p.printed.Load() == sent && ctx.Err() == nil {
				if b.err = p.print(b); b.err == nil {
					to = nil
					spare.Put(b)
				}
			}
		}
		for _, to := range to {
			select {
			case to <- b:
			case <-ctx.Done():
				return
			}
		}
		if to != nil {
			sent++
		}
		b = newBatch(next, done)
	}
}

// another reports whether a line can be read without waiting.
func another(r *bufio.Reader) bool {
	ahead, _ := r.Peek(r.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}

// next reads one line.
func (b *batch) next(r *bufio.Reader) error {
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
	if b.last {
		<-b.before
		for _, s := range w.streams.left() {
			b.fail(enc, s.id, errors.New("the input ended before this stream was closed"))
		}
	}
}

// printer prints the answers in order.
type printer struct {
	out     io.Writer
	tally   Tally
	printed atomic.Int64 // batches of order; who has sent no more of them may print
}

// all prints the batches of order.
func (p *printer) all(ctx context.Context, order <-chan *batch) (Tally, error) {
	for {
		var b *batch
		select {
		case b = <-order:
		case <-ctx.Done():
			return Tally{}, ctx.Err()
		}
		if b == nil {
			return p.tally, ctx.Err()
		}
		<-b.done
		err := b.err
		if failed := p.print(b); failed != nil {
			err = failed
		}
		if err != nil {
			return p.tally, err
		}
		if cap(b.in)+b.out.Cap() < maxSpare {
			spare.Put(b)
		}
		p.printed.Add(1)
	}
}

// print prints the answers of one batch, once.
func (p *printer) print(b *batch) error {
	p.tally.add(b.tally)
	b.tally = Tally{}
	_, err := p.out.Write(b.out.Bytes())
	b.out.Reset()
	return err
}

func (t *Tally) add(u Tally) {
	t.Lines, t.Bad = t.Lines+u.Lines, t.Bad+u.Bad
	if t.First == "" {
		t.First = u.First
	}
}
