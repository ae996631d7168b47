package lenient

import (
	"errors"
	"strings"
	"testing"
)

// kinds reads s whole and lists the kinds of its tokens.
func kinds(r *Reader, s string) (out []Kind) {
	for {
		t, n := r.Next(s)
		s = s[n:]
		if t.Kind == More {
			return out
		}
		out = append(out, t.Kind)
		if t.Kind == Done || t.Kind == Fail {
			return out
		}
	}
}

func TestZeroReader(t *testing.T) {
	var r Reader
	got := kinds(&r, `{"a": ["x", 1]} rest`)
	want := []Kind{ObjectOpen, Key, ArrayOpen, StringOpen, StringPart, StringClose, Scalar, ArrayClose, ObjectClose, Done}
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%d: %v, want %v", i, got[i], want[i])
		}
	}
	if !r.Closed() || r.Err() != nil || r.Fixes() != nil || r.Offset() != 15 {
		t.Error(r.Closed(), r.Err(), r.Fixes(), r.Offset())
	}
	if tok, n := r.Next("more"); tok.Kind != Done || n != 0 {
		t.Error("after Done:", tok, n)
	}
}

func TestResetKeepsWhatWasGiven(t *testing.T) {
	var r Reader
	kinds(&r, `{'a': 1,}`)
	fixes := r.Fixes()
	first := fixes[0]
	r.Reset(Options{})
	kinds(&r, `[1,,2,`)
	if len(fixes) != 2 || fixes[0] != first {
		t.Error(fixes)
	}
	if len(r.Fixes()) != 1 {
		t.Error(r.Fixes())
	}
}

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		in          string
		last        Kind
		closed, cut bool
	}{
		{`{"a": 1}`, Done, true, false},
		{`{"a": "b"`, Done, false, false},
		{`{"a": [1]`, Done, false, false},
		{`{"a": true`, Done, false, false},
		{`{{"a": true}`, Done, true, false},
		{`{"a": [1}`, Done, true, false}, // closed by its own brace
		{`{"a": "b`, Fail, false, true},
		{`{"a": 1`, Fail, false, true},
		{`{"a": 1,`, Fail, false, true},
		{`{"a":`, Fail, false, true},
		{`{`, Fail, false, true},
		{``, Fail, false, true},
		{`{"a": x(`, Fail, false, false},
		{`1`, Done, true, false},
	} {
		var r Reader
		got := kinds(&r, c.in)
		if len(got) == 0 || got[len(got)-1] < Done {
			r.End()
			got = append(got, kinds(&r, "")...)
		}
		if last := got[len(got)-1]; last != c.last || r.Closed() != c.closed || r.Cut() != c.cut {
			t.Errorf("%s: %v closed=%v cut=%v", c.in, last, r.Closed(), r.Cut())
		}
	}
}

// A caller that finds its own marker where the value failed takes the value as
// it stood in front of it.
func TestBoundary(t *testing.T) {
	const in = `{"a": {"b": "x"}</tool_call>`
	for n := 1; n <= len(in); n++ {
		var r Reader
		var w Writer
		taken := 0
		for _, piece := range pieces(in, n) {
			for more := true; more; {
				tok, k := r.Next(piece)
				piece = piece[k:]
				taken += k
				w.Token(tok)
				more = tok.Kind < Done && tok.Kind != More
			}
		}
		var syntax *SyntaxError
		if !errors.As(r.Err(), &syntax) || syntax.Offset != 16 || !r.Boundary() {
			t.Fatal(r.Err(), r.Boundary())
		}
		r.End()
		for tok, _ := r.Next(""); tok.Kind != Done; tok, _ = r.Next("") {
			if tok.Kind == Fail {
				t.Fatal(r.Err())
			}
			w.Token(tok)
		}
		if got := string(w.Bytes()); got != `{"a":{"b":"x"}}` || r.Closed() || r.Err() != nil || len(r.Fixes()) != 1 {
			t.Errorf("%s %v %v %v", got, r.Closed(), r.Err(), r.Fixes())
		}
	}
}

func TestNoBoundary(t *testing.T) {
	var r Reader
	kinds(&r, `{"a": <`)
	if r.Err() == nil || r.Boundary() {
		t.Fatal(r.Err(), r.Boundary())
	}
	r.End()
	if tok, _ := r.Next(""); tok.Kind != Fail {
		t.Error(tok)
	}
}

func TestInString(t *testing.T) {
	var r Reader
	for _, c := range []struct {
		piece            string
		string, boundary bool
		depth            int
	}{
		{`{"k`, true, false, 1},
		{`":`, false, false, 1},
		{` "v`, true, false, 1},
		{`" `, false, true, 1}, // may be closed
		{`;`, true, false, 1},  // was not
		{`"`, false, true, 1},
		{`, -`, true, false, 1},
		{`", "b": [{`, false, false, 3},
		{`}`, false, true, 2},
	} {
		kinds(&r, c.piece)
		if r.InString() != c.string || r.Boundary() != c.boundary || r.Depth() != c.depth {
			t.Errorf("behind %s: in string %v, boundary %v, depth %d", c.piece, r.InString(), r.Boundary(), r.Depth())
		}
	}
}

func TestTokensCoverTheInput(t *testing.T) {
	const in = `{"key": [12.50, "té\nxt", true ], k2: word}`
	want := map[Kind][]string{Key: {`"key"`, "k2"}, Scalar: {"12.50", "true"}, StringPart: {`té\nxt`, "word"},
		ArrayOpen: {"["}, ArrayClose: {"]"}, ObjectOpen: {"{"}, ObjectClose: {"}"}}
	var r Reader
	for s := in; ; {
		tok, n := r.Next(s)
		s = s[n:]
		if tok.Kind == Done {
			break
		}
		if list := want[tok.Kind]; len(list) > 0 {
			if got := in[tok.At:tok.End()]; got != list[0] {
				t.Errorf("%v covers %q, want %q", tok.Kind, got, list[0])
			}
			want[tok.Kind] = list[1:]
		}
	}
}

func TestFixesAreLimited(t *testing.T) {
	_, _, fixes, err := Repair("["+strings.Repeat(",", 1000)+"1]", Options{})
	if err != nil || len(fixes) != maxFixes+1 {
		t.Fatal(len(fixes), err)
	}
	if last := fixes[maxFixes].Why; !strings.Contains(last, "not listed") {
		t.Error(last)
	}
}

// A string argument is passed on without work for the collector, whatever the
// size of the pieces.
func TestNextDoesNotAllocate(t *testing.T) {
	text := strings.Repeat(`The quick brown fox (\"it\") doesn't care: ok. `, 100)
	for _, n := range []int{len(text), 64, 4} {
		var r Reader
		kinds(&r, `{"text": "`)
		cut := pieces(text, n)
		got := testing.AllocsPerRun(20, func() {
			for _, p := range cut {
				for p != "" {
					_, k := r.Next(p)
					p = p[k:]
				}
			}
		})
		if escapes := float64(2 * 100); n == 4 && got > escapes || n > 4 && got > 2*float64(len(cut)) || n == len(text) && got > 0 {
			t.Errorf("pieces of %d: %v allocations", n, got)
		}
	}
}

func TestReaderIsReusable(t *testing.T) {
	var r Reader
	read := func() {
		r.Reset(Options{})
		kinds2(&r, `{"name": "f", "arguments": {"a": [1, 2, true], "b": "x"}}`)
	}
	read()
	if n := testing.AllocsPerRun(20, read); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// kinds2 reads s and forgets it.
func kinds2(r *Reader, s string) {
	for {
		t, n := r.Next(s)
		s = s[n:]
		if t.Kind == More || t.Kind >= Done {
			return
		}
	}
}
