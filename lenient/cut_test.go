package lenient

import (
	"fmt"
	"strings"
)

// trace reads pieces and writes down all that a caller can see. Neighbouring
// string parts are joined: where they are split is free.
func trace(r *Reader, o Options, pieces ...string) string {
	r.Reset(o)
	var b strings.Builder
	var part Token
	taken := 0
	flush := func() {
		if part.Kind == StringPart {
			fmt.Fprintf(&b, "part %q %d-%d\n", part.Text, part.At, part.End())
		}
		part = Token{}
	}
	for i := 0; ; {
		s := ""
		if i < len(pieces) {
			s = pieces[i]
		}
		t, n := r.Next(s)
		taken += n
		if i < len(pieces) {
			pieces[i] = s[n:]
		}
		if t.Kind == StringPart && part.Kind == StringPart {
			part = spanning(StringPart, part.Text+t.Text, part.At, t.End())
			continue
		}
		if t.Kind == More {
			if i++; i >= len(pieces) {
				r.End()
			}
			continue
		}
		flush()
		switch t.Kind {
		case StringPart:
			part = t
		case Done:
			fmt.Fprintf(&b, "done at %d, closed %v\nfixes %+v\n", taken, r.Closed(), r.Fixes())
			return b.String()
		case Fail:
			fmt.Fprintf(&b, "%v, cut %v, boundary %v\nfixes %+v\n", r.Err(), r.Cut(), r.Boundary(), r.Fixes())
			return b.String()
		default:
			fmt.Fprintf(&b, "%v %q %d-%d depth %d\n", t.Kind, t.Text, t.At, t.End(), r.Depth())
		}
	}
}

// pieces cuts s into pieces of n bytes.
func pieces(s string, n int) (out []string) {
	for len(s) > n {
		out, s = append(out, s[:n]), s[n:]
	}
	return append(out, s)
}

// checkCuts holds every split into two, and pieces of 1 to 5 bytes, against
// the whole.
func checkCuts(t fataler, o Options, s string) {
	t.Helper()
	var r Reader
	want := trace(&r, o, s)
	differ := func(how, got string) {
		if got != want {
			t.Fatalf("%+v %q %s:\n%s\nwhole:\n%s", o, s, how, got, want)
		}
	}
	for i := 1; i < len(s) && i < 2000; i++ {
		differ(fmt.Sprint("cut at ", i), trace(&r, o, s[:i], s[i:]))
	}
	for n := 1; n <= 5; n++ {
		differ(fmt.Sprint("in pieces of ", n), trace(&r, o, pieces(s, n)...))
	}
}

// fataler is what testing.TB and *rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, a ...any)
}
