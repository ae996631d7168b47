package scan

import "slices"

// Trie finds which of many literals begin a text, in any case.
type Trie struct {
	nodes []node
	root  [256]int32 // the first node of each literal
}

type node struct {
	edges []edge
	ids   []int32 // of the literals that end here
}

type edge struct {
	b  byte
	to int32
}

func NewTrie() *Trie { return &Trie{nodes: make([]node, 1)} }

// Clone is a trie that can grow without t.
func (t *Trie) Clone() *Trie {
	out := &Trie{nodes: slices.Clone(t.nodes), root: t.root}
	for i := range out.nodes {
		out.nodes[i].edges, out.nodes[i].ids = slices.Clip(out.nodes[i].edges), slices.Clip(out.nodes[i].ids)
	}
	return out
}

// Add files a literal under an id.
func (t *Trie) Add(literal string, id int32) {
	at := int32(0)
	for k := 0; k < len(literal); k++ {
		at = t.child(at, Lower(literal[k]))
	}
	t.nodes[at].ids = append(t.nodes[at].ids, id)
}

func (t *Trie) child(at int32, b byte) int32 {
	if to := t.next(at, b); to >= 0 {
		return to
	}
	to := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{})
	t.nodes[at].edges = append(t.nodes[at].edges, edge{b, to})
	if at == 0 {
		t.root[b] = to
	}
	return to
}

// next is the node that b leads to, or -1.
func (t *Trie) next(at int32, b byte) int32 {
	if at == 0 {
		if to := t.root[b]; to > 0 {
			return to
		}
		return -1
	}
	for _, e := range t.nodes[at].edges {
		if e.b == b {
			return e.to
		}
	}
	return -1
}

// Leads collects into dst the ids of the literals that begin s. open says that a
// longer literal may begin it once more text is there.
func (t *Trie) Leads(dst []int32, s string) (out []int32, open bool) {
	at := int32(0)
	for i := range len(s) {
		if at = t.next(at, Lower(s[i])); at < 0 {
			return dst, false
		}
		if ids := t.nodes[at].ids; len(ids) > 0 {
			dst = append(dst, ids...)
		}
	}
	return dst, len(t.nodes[at].edges) > 0 && at != 0
}

// Longer reports whether a literal begins with b and goes on.
func (t *Trie) Longer(b byte) bool {
	return len(t.nodes[t.root[Lower(b)]].edges) > 0 && t.root[Lower(b)] > 0
}
