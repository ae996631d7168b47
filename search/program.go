package search

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// program is a regular expression as steps over bytes, for automata.
type program struct {
	nodes   []node
	start   int32
	class   [256]uint8 // bytes of one class are the same to every node
	classes int

	crlf  bool // a line may end in "\r", too
	loose bool // more bytes may fit than regexp takes, none of them ASCII

	tails map[node]int32 // nodes of one byte
}

// node is a step: a byte in a range, a condition, a choice, or the end.
type node struct {
	kind   nodeKind
	lo, hi byte           // of takes
	need   syntax.EmptyOp // of holds
	out    int32          // what follows
	or     *[]int32       // what may follow a choice
}

type nodeKind uint8

const (
	takes nodeKind = iota
	holds
	chooses
	matches
)

// maxNodes bounds a program.
const maxNodes = 8192

// newProgram makes a program of a regular expression of Perl's syntax. It is
// nil for one that is too long.
func newProgram(text string, crlf bool) *program {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	code, err := syntax.Compile(tree.Simplify())
	if err != nil || len(code.Inst) > maxNodes {
		return nil
	}
	p := &program{nodes: make([]node, len(code.Inst)), start: int32(code.Start), crlf: crlf, tails: map[node]int32{}}
	for i := range code.Inst {
		p.add(i, &code.Inst[i])
		if len(p.nodes) > maxNodes {
			return nil
		}
	}
	p.classify()
	p.tails = nil
	return p
}

func (p *program) add(i int, in *syntax.Inst) {
	n := node{kind: chooses, out: int32(in.Out)}
	var or []int32
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		or = []int32{int32(in.Out), int32(in.Arg)}
	case syntax.InstCapture, syntax.InstNop:
		or = []int32{int32(in.Out)}
	case syntax.InstEmptyWidth:
		n.kind, n.need = holds, syntax.EmptyOp(in.Arg)
		p.loose = p.loose || n.need&syntax.EmptyNoWordBoundary != 0 // holds between the bytes of a letter, too
	case syntax.InstMatch:
		n.kind = matches
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		or = p.letters(or, 0, unicode.MaxRune, n.out)
	case syntax.InstRune, syntax.InstRune1:
		if len(in.Rune) == 1 {
			or = p.letters(or, in.Rune[0], in.Rune[0], n.out)
			for r := unicode.SimpleFold(in.Rune[0]); syntax.Flags(in.Arg)&syntax.FoldCase != 0 && r != in.Rune[0]; r = unicode.SimpleFold(r) {
				or = p.letters(or, r, r, n.out)
			}
			break
		}
		for k := 0; k+1 < len(in.Rune); k += 2 {
			or = p.letters(or, in.Rune[k], in.Rune[k+1], n.out)
		}
	}
	if n.kind == chooses {
		n.or = &or
	}
	p.nodes[i] = n
}

// letters adds the ways in which a letter of a range can stand in UTF-8.
func (p *program) letters(or []int32, lo, hi rune, out int32) []int32 {
	if lo <= utf8.RuneError && utf8.RuneError <= hi { // regexp takes a byte that is no UTF-8 for it
		p.loose = true
		or = append(or, p.tail(0x80, 0xff, out))
	}
	for _, part := range [][2]rune{{0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xd7ff}, {0xe000, 0xffff}, {0x10000, unicode.MaxRune}} {
		if l, h := max(lo, part[0]), min(hi, part[1]); l <= h {
			or = p.sequences(or, l, h, out)
		}
	}
	return or
}

// sequences adds the letters of a range that all have the same number of bytes.
func (p *program) sequences(or []int32, lo, hi rune, out int32) []int32 {
	n := utf8.RuneLen(lo)
	for i := 1; i < n; i++ {
		m := rune(1)<<(6*i) - 1
		if lo&^m == hi&^m {
			continue
		}
		if lo&m != 0 {
			return p.sequences(p.sequences(or, lo, lo|m, out), (lo|m)+1, hi, out)
		}
		if hi&m != m {
			return p.sequences(p.sequences(or, lo, hi&^m-1, out), hi&^m, hi, out)
		}
	}
	var first, last [utf8.UTFMax]byte
	utf8.EncodeRune(first[:], lo)
	utf8.EncodeRune(last[:], hi)
	for i := n - 1; i >= 0; i-- {
		out = p.tail(first[i], last[i], out)
	}
	return append(or, out)
}

// tail is the node that takes a byte and goes on to out.
func (p *program) tail(lo, hi byte, out int32) int32 {
	n := node{kind: takes, lo: lo, hi: hi, out: out}
	at, ok := p.tails[n]
	if !ok {
		at = int32(len(p.nodes))
		p.nodes = append(p.nodes, n)
		p.tails[n] = at
	}
	return at
}

// classify gives bytes that no node tells apart one class.
func (p *program) classify() {
	var edge [257]bool // a class begins
	mark := func(lo, hi byte) { edge[lo], edge[int(hi)+1] = true, true }
	mark('\n', '\n')
	mark('\r', '\r')
	for _, n := range p.nodes {
		switch {
		case n.kind == takes:
			mark(n.lo, n.hi)
		case n.need&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0:
			mark('0', '9')
			mark('A', 'Z')
			mark('a', 'z')
			mark('_', '_')
		}
	}
	for c := 1; c < 256; c++ {
		if edge[c] {
			p.classes++
		}
		p.class[c] = uint8(p.classes)
	}
	p.classes++
}
