package scan

import (
	"slices"
	"testing"
)

// A text has all literals that begin it, in any case, and says whether a longer one
// may begin it once more text is there.
func TestTrieLeads(t *testing.T) {
	tr := NewTrie()
	for i, s := range []string{"<tool", "<tool_call>", "[TOOL", "<tool"} {
		tr.Add(s, int32(i))
	}
	for text, want := range map[string]struct {
		ids  []int32
		open bool
	}{
		"<tool_call>{": {[]int32{0, 3, 1}, false}, "<tool_call>": {[]int32{0, 3, 1}, false}, "<TOOL": {[]int32{0, 3}, true}, "<too": {nil, true}, "[tool_": {[]int32{2}, false}, "x": {nil, false}, "": {nil, false},
	} {
		ids, open := tr.Leads(nil, text)
		if !slices.Equal(ids, want.ids) || open != want.open {
			t.Errorf("%q: %v %v, want %v %v", text, ids, open, want.ids, want.open)
		}
	}
	grown := tr.Clone()
	grown.Add("<toolbox", 9)
	if ids, _ := tr.Leads(nil, "<toolbox"); slices.Contains(ids, 9) {
		t.Error("a trie grows with its clone")
	}
}

// A view is bounded, and tells the end of the output from the end of what may be
// looked at.
func TestViewIsBounded(t *testing.T) {
	work := 0
	long := ViewOf(string(make([]byte, MaxHead+1)), true, &work)
	if len(long.S) != MaxHead || long.End || !long.Cut || long.Ask() != No {
		t.Errorf("%d bytes, end %v, cut %v", len(long.S), long.End, long.Cut)
	}
	if v := ViewOf("a", false, &work); v.Ask() != More || ViewOf("a", true, &work).Ask() != No {
		t.Errorf("%+v", v)
	}
}

// A marker fits in any case, with any blanks where it has some, and what its slots
// hold is what stands there; half of it may still fit.
func TestMarkerFitsAtEveryCut(t *testing.T) {
	m := Compile("<call {name}>")[0]
	const text = "<Call \n now>"
	for cut := range len(text) {
		work := 0
		var c Caps
		if n, f := m.Match(ViewOf(text[:cut], false, &work), &c); f != More || n != 0 {
			t.Errorf("%q: %d %v", text[:cut], n, f)
		}
		if _, f := m.Match(ViewOf(text[:cut], true, &work), &c); f != No {
			t.Errorf("%q at the end: %v", text[:cut], f)
		}
	}
	work := 0
	var c Caps
	if n, f := m.Match(ViewOf(text, false, &work), &c); f != Yes || n != len(text) || c.Name != "now" || work == 0 {
		t.Errorf("%d %v %+v", n, f, c)
	}
}
