package database

import (
	"context"
	"slices"
	"sync"
	"time"
)

// turns has a replica do together what draws on one thing. While one transaction is
// under way the next gathers, so that what many draw on waits once for the disk for
// all of them, and not once for each.
type turns[T any] struct {
	do   func(ctx context.Context, some []T)
	id   func(T) string // no two of one id are done together
	gap  time.Duration  // between the beginnings of two turns of a queue where several came together
	mu   sync.Mutex
	wait map[string][]*turn[T] // in queues: there is one while its transaction is under way
}

type turn[T any] struct {
	what T
	done chan struct{}
}

// mostTogether bounds what is done together, and togetherTime the time for it.
const (
	mostTogether = 128
	togetherTime = 5 * time.Second
)

// await has something done in the turn of its queue. If ctx ends first, it may be
// done or not.
func (q *turns[T]) await(ctx context.Context, queue string, what T) error {
	own := &turn[T]{what, make(chan struct{})}
	q.mu.Lock()
	if q.wait == nil {
		q.wait = map[string][]*turn[T]{}
	}
	waiting, busy := q.wait[queue]
	q.wait[queue] = append(waiting, own)
	q.mu.Unlock()
	if !busy {
		go q.work(queue)
	}
	select {
	case <-own.done:
		return nil
	case <-ctx.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		if at := slices.Index(q.wait[queue], own); at >= 0 {
			q.wait[queue] = slices.Delete(q.wait[queue], at, at+1)
		}
		return ctx.Err()
	}
}

// work does what waits in a queue until nothing does. Who comes alone never waits for a
// gap; it has those who come close behind each other asked for in fewer statements.
func (q *turns[T]) work(queue string) {
	for {
		some := q.take(queue)
		if len(some) == 0 {
			return
		}
		var what []T
		for _, t := range some {
			what = append(what, t.what)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), togetherTime)
		q.do(ctx, what)
		cancel()
		for _, t := range some {
			close(t.done)
		}
		if len(some) > 1 || q.waiting(queue) {
			time.Sleep(q.gap - time.Since(began))
		}
	}
}

func (q *turns[T]) waiting(queue string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.wait[queue]) > 0
}

// take takes what has waited longest. An empty queue ends.
func (q *turns[T]) take(queue string) (some []*turn[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.wait[queue]
	if len(waiting) == 0 {
		delete(q.wait, queue)
		return nil
	}
	ids := map[string]bool{}
	for _, t := range waiting {
		if id := q.id(t.what); ids[id] || len(some) == mostTogether {
			break
		} else {
			ids[id] = true
		}
		some = append(some, t)
	}
	q.wait[queue] = slices.Clone(waiting[len(some):])
	return some
}
