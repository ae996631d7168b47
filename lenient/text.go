package lenient

import (
	"unicode/utf8"
)

// quoteKind is what a string stands between.
type quoteKind uint8

const (
	double  quoteKind = iota // "
	single                   // '
	back                     // `
	smart                    // “ ”, closed by " too
	smart1                   // ‘ ’, closed by ' too
	literal                  // Options.Quote; the content has no escapes
	escaped                  // \" of JSON that was escaped once more
)

// text is the string being read.
type text struct {
	kind   quoteKind
	triple bool
	raw    bool // no escapes (r"…")
	key    bool
	some   bool       // it has content
	broken bool       // a quote inside it was not escaped
	odd    bool       // an odd number of them
	depth  int        // brackets opened in the content, less those closed
	told   uint64     // bits of why that were noted
	stops  *[256]int8 // see stop
	at     int        // of the opening quote
	only   string     // the content of a key, while it is one piece
	buf    []byte     // else
	fixes  []Fix      // of a key, until it is known
}

// stop marks bytes that a run of plain content may end at; the others count
// their share of depth.
const stop int8 = -128

func stopTable(quotes string) *[256]int8 {
	t := new([256]int8)
	for c := range t {
		if c < 0x20 || c >= utf8.RuneSelf {
			t[c] = stop
		}
	}
	t['('], t['['], t['{'] = 1, 1, 1
	t[')'], t[']'], t['}'] = -1, -1, -1
	for _, c := range []byte(`\"` + quotes) {
		t[c] = stop
	}
	return t
}

var (
	jsonStops  = stopTable("")
	otherStops = stopTable("'`")
)

// open begins a string, or the next literal of one, with a delimiter of n bytes.
func (r *Reader) open(k quoteKind, n int) int {
	t := &r.str
	glue := r.state == sGlue
	if !glue {
		key := r.state == sKey || r.state == sKeyFirst
		*t = text{key: key, at: r.off, buf: t.buf[:0], fixes: t.fixes[:0], raw: t.raw}
		if !key {
			r.begin()
			r.emit(StringOpen, "", n)
		}
	}
	t.raw = t.raw && !glue
	t.kind, t.triple, t.broken, t.odd, t.depth = k, false, false, false, 0
	switch k {
	case double, escaped:
		t.stops = jsonStops
	case literal:
		t.stops = r.literalStops()
	default:
		t.stops = otherStops
	}
	r.state = sString
	return n
}

func (r *Reader) literalStops() *[256]int8 {
	if c := r.o.Quote[0]; r.stops == nil || r.stopsFor != c {
		r.stops, r.stopsFor = stopTable(string(rune(c&0x7f))), c
	}
	return r.stops
}

// quoted opens a string at a quote character of n bytes.
func (r *Reader) quoted(c byte, w string, n int) (int, bool) {
	k, y := single, singleQuotes
	switch {
	case c == '"' && n > 1:
		k, y = smart, smartQuotes
	case n > 1:
		k, y = smart1, smartQuotes
	case c == '"':
		k = double
	case c == '`':
		k, y = back, backQuotes
	}
	triple := no
	if k <= single && r.mayTriple() {
		triple = prefix(w, []string{`"""`, `'''`}[k], r.ended)
	}
	if triple == maybe {
		return 0, true
	}
	if triple == yes {
		n, y = 3, tripleQuotes
	}
	r.open(k, n)
	r.str.triple = triple == yes
	switch {
	case k == double && triple == no:
	case k <= single && r.o.Python:
		r.foreign = true
	default:
		r.mendText(y, w[:n], `"`)
	}
	return n, false
}

// mayTriple: a root "" is a whole JSON value, whatever follows.
func (r *Reader) mayTriple() bool {
	key := r.state == sKey || r.state == sKeyFirst
	return !key && len(r.stack) > 0 && (r.o.Python || !r.o.Strict)
}

// text reads string content: a run that stands as it is, or one special thing.
func (r *Reader) text(w string) (int, bool) {
	if n := r.run(w); n > 0 {
		r.part(w[:n], n)
		return n, false
	}
	return r.special(w)
}

// run is the length of the content at the start of w that stands as it is.
func (r *Reader) run(w string) (i int) {
	t := &r.str
	depth, stops := t.depth, t.stops
	for i < len(w) {
		if d := stops[w[i]]; d != stop {
			depth += int(d)
			i++
			continue
		}
		n := r.plain(w[i:])
		if n == 0 {
			break
		}
		i += n
	}
	t.depth = depth
	return i
}

// plain is the length of what stands as it is although it starts with a stop
// byte: a character beyond ASCII, a JSON escape, a foreign quote.
func (r *Reader) plain(w string) int {
	t := &r.str
	c := w[0]
	if t.kind >= smart || c < utf8.RuneSelf {
		if n, m := r.closes(w); n > 0 || m == maybe {
			return 0
		}
	}
	switch {
	case c >= utf8.RuneSelf:
		if ch, n := utf8.DecodeRuneInString(w); ch != utf8.RuneError || n > 1 {
			return n
		}
	case c == '\\':
		if t.kind < literal && !t.raw {
			return jsonEscape(w)
		}
	case c != '"' && c >= ' ':
		return 1
	}
	return 0
}

// closes is the width of a closing delimiter at the start of w.
func (r *Reader) closes(w string) (n int, m match) {
	t := &r.str
	c := w[0]
	switch t.kind {
	case double, single, back:
		q := "\"'`"[t.kind]
		if c != q {
			return 0, no
		}
		if !t.triple {
			return 1, yes
		}
		return width(prefix(w, []string{`"""`, `'''`}[t.kind], r.ended), 3)
	case smart, smart1:
		return smartClose(t.kind, w, r.ended)
	case literal:
		if c == r.o.Quote[0] {
			return width(prefix(w, r.o.Quote, r.ended), len(r.o.Quote))
		}
	case escaped:
		if c == '\\' {
			return width(prefix(w, `\"`, r.ended), 2)
		}
	}
	return 0, no
}

func width(m match, n int) (int, match) {
	if m == yes {
		return n, m
	}
	return 0, m
}

// smartClose: “ is closed by ”, “ or ", ‘ by ’, ‘ or '.
func smartClose(k quoteKind, w string, end bool) (int, match) {
	want := byte('"')
	if k == smart1 {
		want = '\''
	}
	switch c, n := glyph(w, end); {
	case n == 0:
		return 0, maybe
	case c == want:
		return n, yes
	}
	return 0, no
}

// special reads a closing delimiter or something that must be rewritten.
func (r *Reader) special(w string) (int, bool) {
	if n, m := r.closes(w); n > 0 {
		return r.quote(w, n)
	} else if m == maybe {
		return 0, true
	}
	switch c := w[0]; {
	case c >= utf8.RuneSelf:
		if !r.ended && !utf8.FullRuneInString(w) {
			return 0, true
		}
		if r.mendText(badUTF8, "", "\ufffd") {
			r.part("\ufffd", 1)
		}
	case c == '\\':
		return r.escape(w)
	case c == '"':
		r.part(`\"`, 1)
	default:
		native := r.str.kind == literal || r.o.Python && r.str.triple
		if native || r.mendText(rawControl, escapes[c], escapes[c]) {
			r.part(escapes[c], 1)
		}
	}
	return 1, false
}

// part gives a piece of content that stands for the next n bytes.
func (r *Reader) part(s string, n int) {
	t := &r.str
	if s == "" {
		return
	}
	t.some = true
	switch {
	case !t.key:
		r.emit(StringPart, s, n)
	case t.only == "" && len(t.buf) == 0:
		t.only = s
	default:
		t.buf = append(append(t.buf, t.only...), s...)
		t.only = ""
	}
}

// mendText notes a repair inside the string, each kind once.
func (r *Reader) mendText(y why, was, now string) bool {
	t := &r.str
	bit := uint64(1) << y
	if t.told&bit != 0 {
		return true
	}
	t.told |= bit
	if !t.key || r.o.Strict {
		return r.mend(here, y, was, now)
	}
	t.fixes = append(t.fixes, Fix{Was: short(was, maxQuote), Now: short(now, maxQuote), Why: whys[y], Guess: guesses[y]})
	return true
}

// quote decides about a possible closing delimiter of n bytes.
func (r *Reader) quote(w string, n int) (int, bool) {
	v := r.verdict
	if v == undecided {
		v = r.decide(w[n:])
	}
	if v == undecided {
		r.state = sLook
		return 0, true
	}
	r.verdict = undecided
	switch v {
	case closing:
		r.closeText(n)
	case glued:
		r.state = sGlue
		r.foreign = true
	case unclear:
		if r.o.Guess {
			r.innerQuote(w[:n], n)
			break
		}
		return r.fail(`"," or a closer behind the string, or \" inside it`), false
	case inner:
		r.innerQuote(w[:n], n)
	}
	return n, false
}

// decide looks at what follows the delimiter.
func (r *Reader) decide(w string) verdict {
	t := &r.str
	if t.triple || t.kind >= literal || r.o.Strict || len(r.stack) == 0 {
		return closing
	}
	if len(w) > 0 && (t.key && w[0] == ':' || !t.key && !t.broken && (w[0] == '}' || w[0] == ']')) {
		return closing // as look would say
	}
	r.look = r.newLook()
	for i := 0; i < len(w); i++ {
		if v := r.look.step(w[i]); v != undecided {
			return v
		}
	}
	if r.ended {
		return r.look.end()
	}
	return undecided
}

// innerQuote keeps a quote as content.
func (r *Reader) innerQuote(q string, n int) {
	t := &r.str
	t.broken, t.odd = true, !t.odd
	now := q
	if q == `"` {
		now = `\"`
	}
	if r.mendText(innerQuote, q, now) {
		r.part(now, n)
	}
}

// closeText ends the string with a delimiter of n bytes.
func (r *Reader) closeText(n int) {
	t := &r.str
	t.raw = false
	if !t.key {
		r.emit(StringClose, "", n)
		r.valued()
		return
	}
	s := t.only
	if len(t.buf) > 0 {
		s = string(t.buf)
	}
	r.keyed(unescape(s), t.at, n)
	for _, f := range t.fixes {
		f.Path = r.pointer(here)
		r.note(f)
	}
}

// keyed gives a key that ends n bytes from here.
func (r *Reader) keyed(key string, at, n int) {
	f := &r.stack[len(r.stack)-1]
	f.key, f.has, r.named = short(key, maxKey), true, false
	r.put(spanning(Key, key, at, r.off+n))
	r.state = sColon
}
