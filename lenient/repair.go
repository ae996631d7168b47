package lenient

import (
	"strconv"
)

// Repair reads one value from the beginning of s and gives it as valid JSON.
// A value that is JSON already comes back byte for byte and without fixes.
// n is the number of bytes the value took; what follows is the caller's. An
// end of s inside the value is an error unless only closers are missing.
// Arguments without keyword get the keys "0", "1" and so on. The error is a
// *SyntaxError.
func Repair(s string, o Options) (json []byte, n int, fixes []Fix, err error) {
	var r Reader
	var w Writer
	r.Reset(o)
	from, place := -1, 0
	for {
		t, k := r.Next(s[n:])
		n += k
		switch t.Kind {
		case Done:
			if !r.foreign {
				return []byte(s[from:n]), n, nil, nil
			}
			return w.Bytes(), n, r.Fixes(), nil
		case Fail:
			return nil, n, r.Fixes(), r.Err()
		case More:
			r.End()
			continue
		case Positional:
			w.Token(Token{Kind: Key, Text: strconv.Itoa(place)})
			place++
		}
		if from < 0 {
			from = t.At
		}
		w.Token(t)
	}
}
