package handle

import (
	"slices"
	"sync"
	"time"
)

// memory keeps results for one process, with the bounds of a directory.
type memory struct {
	mu   sync.Mutex
	held map[string]held
}

type held struct {
	root, text string
	info       Info
}

func (m *memory) put(root, cmd, text string, capacity int64, now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		m.held = map[string]held{}
	}
	for try := 0; ; try++ {
		id := number(text, try)
		if h, taken := m.held[id]; taken && (h.root != root || h.text != text) {
			continue
		}
		m.held[id] = held{root, text, Info{id, cmd, len(text), now}}
		m.clean(capacity, now)
		return id
	}
}

func (m *memory) clean(capacity int64, now time.Time) {
	var all []file
	for id, h := range m.held {
		all = append(all, file{id, int64(len(h.text)), h.info.Made})
	}
	for _, f := range surplus(all, capacity, now) {
		delete(m.held, f.id)
	}
}

func (m *memory) get(root, id string, now time.Time) (string, Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.held[id]
	if !ok || h.root != root || now.Sub(h.info.Made) > maxAge {
		return "", Info{}, ErrNone
	}
	return h.text, h.info, nil
}

func (m *memory) list(root string, now time.Time) (out []Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.held {
		if h.root == root && now.Sub(h.info.Made) <= maxAge {
			out = append(out, h.info)
		}
	}
	slices.SortStableFunc(out, func(a, b Info) int { return b.Made.Compare(a.Made) })
	return out
}
