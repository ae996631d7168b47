package tool

import (
	"crypto/sha256"
	"sync"
)

// maxSeen is how many files are remembered; what is read after them is forgotten.
const maxSeen = 10000

// seen is what files held when a call last read or wrote them, by their paths.
// A file that was not there holds the zero sum.
type seen struct {
	mu   sync.Mutex
	sums map[string][sha256.Size]byte
}

func sumOf(o *original) (sum [sha256.Size]byte) {
	if o != nil {
		sum = sha256.Sum256(o.data)
	}
	return sum
}

// note remembers what a file holds now.
func (s *seen) note(name string, o *original) { s.noteSum(name, sumOf(o)) }

func (s *seen) noteSum(name string, sum [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sums == nil {
		s.sums = map[string][sha256.Size]byte{}
	}
	if _, known := s.sums[name]; known || len(s.sums) < maxSeen {
		s.sums[name] = sum
	}
}

// first remembers what a file holds, unless an earlier call saw it.
func (s *seen) first(name string, o *original) {
	s.mu.Lock()
	_, known := s.sums[name]
	s.mu.Unlock()
	if !known {
		s.note(name, o)
	}
}

// same reports whether a file holds what a call last saw, or was not seen at all.
func (s *seen) same(name string, o *original) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, known := s.sums[name]
	return !known || sum == sumOf(o)
}
