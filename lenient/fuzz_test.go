package lenient

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// optionsOf spreads the option space over a byte.
func optionsOf(b byte) Options {
	o := Options{Python: b&1 != 0, Args: b&2 != 0, Strict: b&4 != 0}
	switch b >> 3 & 3 {
	case 1:
		o.Quote = `<|"|>`
	case 2:
		o.Quote = "<escape>"
	}
	if b&32 != 0 {
		o.MaxDepth = 5
	}
	return o
}

// checkLaws holds the laws of the package against one input.
func checkLaws(t fataler, o Options, s string) {
	t.Helper()
	checkCuts(t, o, s)
	out, n, fixes, err := Repair(s, o)
	if err != nil {
		return
	}
	if !json.Valid(out) || !utf8.Valid(out) {
		t.Fatalf("%+v %q: %q is not JSON", o, s, out)
	}
	if o.Strict && len(fixes) > 0 {
		t.Fatalf("%+v %q: strict, yet %+v", o, s, fixes)
	}
	again, m, more, err := Repair(string(out), Options{Strict: true})
	if err != nil || m != len(out) || len(more) > 0 || !bytes.Equal(again, out) {
		t.Fatalf("%+v %q: %q is repaired again: %q %v %v", o, s, out, again, more, err)
	}
	if n > len(s) {
		t.Fatalf("%q: took %d of %d bytes", s, n, len(s))
	}
}

// checkValid holds the law of valid JSON: no fix, no change.
func checkValid(t fataler, o Options, s string) {
	t.Helper()
	out, n, fixes, err := Repair(s, o)
	if err != nil || len(fixes) > 0 || n != len(s) || string(out) != s {
		t.Fatalf("%+v %q: %q n=%d fixes=%+v err=%v", o, s, out, n, fixes, err)
	}
}

func FuzzRepair(f *testing.F) {
	for _, c := range allCases(f) {
		f.Add(c.options, c.in)
	}
	f.Fuzz(func(t *testing.T, options byte, s string) {
		if len(s) > 300 {
			return
		}
		o := optionsOf(options)
		checkLaws(t, o, s)
		v := trimBlanks(s)
		if json.Valid([]byte(v)) && utf8.ValidString(v) && !o.Args && o.MaxDepth == 0 {
			checkValid(t, o, v)
		}
	})
}
