package scan

// Starts finds where in a text one of many literals may begin, in any case: by the
// first two bytes of each. Some places where none begins pass as well.
type Starts struct {
	of [256]uint64 // of each byte the sets of literals with it in the second place and, in the upper half, in the first
}

// Add files a literal in the set of those that begin as it does.
func (t *Starts) Add(literal string) {
	set := uint64(1) << (Lower(literal[0]) & 31)
	for _, c := range cases(literal[0]) {
		t.of[c] |= set << 32
	}
	if len(literal) == 1 {
		for c := range t.of {
			t.of[c] |= set
		}
		return
	}
	for _, c := range cases(literal[1]) {
		t.of[c] |= set
	}
}

// Has reports whether a literal begins with c.
func (t *Starts) Has(c byte) bool { return t.of[c]>>32 != 0 }

// Begin reports whether a literal may begin with a and b.
func (t *Starts) Begin(a, b byte) bool { return t.of[a]>>32&t.of[b] != 0 }

// Next is the first place from s[i] on where a literal may begin; len(s) if there is
// none. prev stands before s.
func (t *Starts) Next(s string, i int, prev byte) int {
	sets, begun := &t.of, uint64(0) // begun: the sets of literals that may begin at the byte before
	for k, c := range []byte(s[i:]) {
		of := sets[c]
		if begun&of != 0 && !midWord(s, i+k-1, prev) {
			return i + k - 1
		}
		begun = of >> 32
	}
	if begun != 0 && !midWord(s, len(s)-1, prev) {
		return len(s) - 1
	}
	return len(s)
}

// midWord reports whether a letter stands at s[i] after another: literals that begin
// with a letter begin a word. prev stands before s.
func midWord(s string, i int, prev byte) bool {
	if i > 0 {
		prev = s[i-1]
	}
	return IsASCIILetter(s[i]) && IsASCIILetter(prev)
}

func cases(c byte) [2]byte { return [2]byte{Lower(c), Upper(c)} }
