package search

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// automaton finds the lines that match a program, with one look at each byte.
// Its states are sets of nodes, and are made when they are first reached. It is
// for one goroutine.
type automaton struct {
	*program
	next   []int32 // what follows a state, by its number and the class of a byte
	states []state // by number / classes
	known  map[string]int32
	first  int32 // the state in which a line begins

	held int // nodes of all states
	work int // nodes that were looked at to make states
	read int // bytes
	done bool

	set nodeSet
	hit bool // the match is in the set
	key []byte
}

// state is what may follow, and what stands before it.
type state struct {
	nodes []int32
	begin bool // nothing: the line begins
	word  bool // a letter, digit or underscore of ASCII
}

// What follows a state and is none. The numbers of states are greater.
const (
	unmade   int32 = iota // it was not needed yet
	matching              // the line matches
	hopeless              // the line does not match, whatever follows
	reserved
)

const (
	// maxEntries bounds the table of an automaton, and what its states hold.
	maxEntries = 1 << 20
	// maxWork bounds the nodes that are looked at for each byte, beyond a million:
	// an automaton that makes a state for every other byte is slower than regexp.
	maxWork = 8
)

func (p *program) automaton() *automaton {
	a := &automaton{program: p, set: nodeSet{mark: make([]uint32, len(p.nodes))}}
	a.empty()
	return a
}

// empty forgets all states.
func (a *automaton) empty() {
	none := make([]state, reserved) // whose numbers would be reserved ones
	a.next, a.states, a.known, a.held = make([]int32, len(none)*a.classes), none, map[string]int32{}, 0
	a.first = a.state([]int32{a.start}, true, false)
}

// find gives the first line at or after from, the beginning of a line, that
// matches; where there is none it begins at the end of buf. If the automaton is
// of no use for the pattern it is done, and the line is the one that it had come to.
func (a *automaton) find(buf []byte, from int) (start, end int) {
	switch {
	case from == len(buf) || a.first == hopeless:
		return len(buf), len(buf)
	case a.first == matching:
		return from, lineEnd(buf, from)
	}
	s, mark := a.first, from
	next, class := a.next, &a.class
	for i := from; i < len(buf); i++ {
		n := next[int(s)+int(class[buf[i]])]
		if n >= reserved {
			s = n
			continue
		}
		if n == unmade {
			a.read += i - mark
			mark = i
			n, next = a.step(s, buf[i]), a.next
		}
		switch n {
		case matching, unmade:
			return lineStart(buf, from, i), lineEnd(buf, i)
		case hopeless:
			if i = lineEnd(buf, i); i == len(buf) {
				return i, i
			}
			s = a.first
		default:
			s = n
		}
	}
	a.read += len(buf) - mark
	if buf[len(buf)-1] != '\n' && a.ends(s) {
		return lineStart(buf, from, len(buf)), len(buf)
	}
	return len(buf), len(buf)
}

// ends reports that a line which ends in a state matches.
func (a *automaton) ends(s int32) bool { return a.step(s, '\n') == matching || a.done }

// fits is find for one line, without its line feed.
func (a *automaton) fits(line []byte) bool {
	if len(line) == 0 && a.first >= reserved {
		return a.ends(a.first)
	}
	start, _ := a.find(line, 0)
	return start < len(line) || a.first == matching
}

// lineStart is where the line of buf[at] begins, after from.
func lineStart(buf []byte, from, at int) int {
	return from + bytes.LastIndexByte(buf[from:at], '\n') + 1
}

// sure reports that a line matches of which find says so.
func (a *automaton) sure(line []byte) bool {
	return !(a.loose && bytes.ContainsFunc(line, func(r rune) bool { return r >= 0x80 })) && !(a.crlf && bytes.IndexByte(line, '\r') >= 0)
}

// step makes what follows a state. It is unmade if the automaton is done.
func (a *automaton) step(s int32, b byte) int32 {
	if a.work > 1<<20+maxWork*a.read {
		a.done = true
		return unmade
	}
	if max(len(a.next)+a.classes, a.held) > maxEntries {
		from := a.states[int(s)/a.classes]
		a.empty()
		return a.follow(from, b)
	}
	n := a.follow(a.states[int(s)/a.classes], b)
	a.next[int(s)+int(a.class[b])] = n
	return n
}

// follow is the state after another and a byte.
func (a *automaton) follow(s state, b byte) int32 {
	if b == '\n' || b == '\r' && a.crlf {
		if a.walk(s.nodes, s.before()|syntax.EmptyEndLine|syntax.EmptyEndText|boundary(s.word, false), true); a.hit {
			return matching
		}
	}
	if b == '\n' {
		return a.first
	}
	if a.walk(s.nodes, s.before()|boundary(s.word, inWord(b)), true); a.hit {
		return matching
	}
	var out []int32
	for _, n := range a.set.all {
		if n := &a.nodes[n]; n.lo <= b && b <= n.hi {
			out = append(out, n.out)
		}
	}
	return a.state(append(out, a.start), false, inWord(b))
}

func (s state) before() syntax.EmptyOp {
	if s.begin {
		return syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	return 0
}

func boundary(before, after bool) syntax.EmptyOp {
	if before != after {
		return syntax.EmptyWordBoundary
	}
	return syntax.EmptyNoWordBoundary
}

// state is the number of the state in which nodes follow.
func (a *automaton) state(nodes []int32, begin, word bool) int32 {
	s := state{begin: begin, word: word}
	if a.walk(nodes, s.before(), false); a.hit {
		return matching
	}
	if len(a.set.all) == 0 {
		return hopeless
	}
	slices.Sort(a.set.all)
	waits := slices.ContainsFunc(a.set.all, func(n int32) bool { return a.nodes[n].kind == holds })
	s.begin, s.word = begin && waits, word && waits
	a.key = a.key[:0]
	for _, n := range a.set.all {
		a.key = binary.LittleEndian.AppendUint16(a.key, uint16(n))
	}
	if s.begin {
		a.key = append(a.key, 'b')
	}
	if s.word {
		a.key = append(a.key, 'w', 'w')
	}
	n, ok := a.known[string(a.key)]
	if !ok {
		s.nodes = slices.Clone(a.set.all)
		n = int32(len(a.next))
		a.next = append(a.next, make([]int32, a.classes)...)
		a.states = append(a.states, s)
		a.held += len(s.nodes)
		a.known[string(a.key)] = n
	}
	return n
}

// walk puts into the set the nodes that can be reached from some without a byte
// between: those that take one and, if it is not known yet what follows, the
// conditions that depend on it. true holds what is true so far.
func (a *automaton) walk(nodes []int32, truth syntax.EmptyOp, known bool) {
	a.set.clear()
	a.hit = false
	for _, n := range nodes {
		a.reach(n, truth, known)
	}
	a.work += len(nodes) + a.set.visited
}

// past are the conditions that what stands before decides.
const past = syntax.EmptyBeginLine | syntax.EmptyBeginText

func (a *automaton) reach(at int32, truth syntax.EmptyOp, known bool) {
	if !a.set.visit(at) {
		return
	}
	switch n := &a.nodes[at]; n.kind {
	case takes:
		a.set.all = append(a.set.all, at)
	case chooses:
		for _, out := range *n.or {
			a.reach(out, truth, known)
		}
	case matches:
		a.hit = true
	case holds:
		switch {
		case n.need&^truth == 0:
			a.reach(n.out, truth, known)
		case !known && n.need&past&^truth == 0:
			a.set.all = append(a.set.all, at)
		}
	}
}

// nodeSet is a set of nodes in the order in which they were put in.
type nodeSet struct {
	all  []int32
	mark []uint32 // the round in which a node was visited
	now  uint32

	visited int
}

func (s *nodeSet) clear() {
	s.all = s.all[:0]
	s.now++
	s.visited = 0
}

// visit reports whether a node was not visited before.
func (s *nodeSet) visit(n int32) bool {
	if s.mark[n] == s.now {
		return false
	}
	s.mark[n] = s.now
	s.visited++
	return true
}
