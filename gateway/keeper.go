package gateway

import (
	"container/list"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/learn"
)

// keeper keeps what clients do not send back: conversations by the id of their last
// response, and what a provider expects back with its calls, by their ids. It evicts
// the least recently used.
type keeper struct {
	mu    sync.Mutex
	max   int // bytes
	size  int
	order *list.List // of *kept, the most recently used first
	by    map[string]*list.Element
}

type kept struct {
	place
	key      string // the place and its owner, in memory
	size     int
	at       time.Time
	messages []utp.Message // a conversation
	thoughts []utp.Part    // before the call
	call     utp.Call
	pick     learn.Pick // the form of a conversation
	target   string     // the spot of a conversation
}

// keepTime is how long an entry is kept after it was last used.
const keepTime = 24 * time.Hour

func newKeeper(max int) *keeper {
	return &keeper{max: max, order: list.New(), by: map[string]*list.Element{}}
}

func (k *keeper) put(e *kept, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(e.key)
	if e.size > k.max {
		return
	}
	e.at = now
	k.by[e.key] = k.order.PushFront(e)
	k.size += e.size
	for k.size > k.max || now.Sub(k.last().at) > keepTime {
		k.drop(k.last().key)
	}
}

func (k *keeper) resize(max int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.max = max; k.size > k.max; {
		k.drop(k.last().key)
	}
}

func (k *keeper) last() *kept { return k.order.Back().Value.(*kept) }

func (k *keeper) drop(key string) {
	if at := k.by[key]; at != nil {
		k.size -= at.Value.(*kept).size
		k.order.Remove(at)
		delete(k.by, key)
	}
}

func (k *keeper) get(key string, now time.Time) *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.by[key]
	if at == nil || now.Sub(at.Value.(*kept).at) > keepTime {
		return nil
	}
	e := at.Value.(*kept)
	e.at = now
	k.order.MoveToFront(at)
	return e
}

func (k *keeper) empty() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.size == 0
}

// The approximate overhead of a message and of a part, in bytes.
const (
	messageRoom = 512
	partRoom    = 64
)

// measure returns about how many bytes messages take.
func measure(ms []utp.Message) (n int) {
	for _, m := range ms {
		n += messageRoom + len(m.Extra) + measureParts(m.Parts)
	}
	return n
}

func measureParts(parts []utp.Part) (n int) {
	for _, p := range parts {
		n += partRoom
		switch p := p.(type) {
		case utp.Text:
			n += len(p.Text) + len(p.Extra)
		case utp.Think:
			n += len(p.Text) + len(p.Signature) + len(p.Extra)
		case utp.Call:
			n += len(p.Name) + len(p.Args) + len(p.RawArgs) + len(p.Extra)
		case utp.Result:
			n += measureParts(p.Parts) + len(p.Extra)
		case utp.Blob:
			n += len(p.Data) + len(p.URL) + len(p.Extra)
		case utp.Unknown:
			n += len(p.Raw)
		}
	}
	return n
}
