package body_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// What looks at a text says what it is, at the end of the output and where more follows.
func TestLooks(t *testing.T) {
	looks := map[string]func(scan.View) (int, scan.Found){
		"scalar": body.Scalar, "id": body.ID, "nothing": body.Nothing, "break": body.LineBreak,
		"object": func(v scan.View) (int, scan.Found) { return 0, body.ObjectBegins(v) },
		"list":   func(v scan.View) (int, scan.Found) { return 0, body.ListBegins(v) },
		"end":    func(v scan.View) (int, scan.Found) { return 0, body.LineEnd(v) },
		"json":   func(v scan.View) (int, scan.Found) { return 0, body.MayBeJSON(v) },
		"ticks": func(v scan.View) (int, scan.Found) {
			head, ticks, f := body.Ticks(v)
			return 10*head + ticks, f
		},
		"markup":  func(v scan.View) (int, scan.Found) { return body.Markup(v, false) },
		"section": func(v scan.View) (int, scan.Found) { return body.Markup(v, true) },
		"pair": func(v scan.View) (int, scan.Found) {
			ok, f := body.IsPair([]string{"city", "a-b"}, v)
			return map[bool]int{true: 1}[ok], f
		},
		"raw": func(v scan.View) (int, scan.Found) {
			return body.RawBegins(append(scan.Compile("<raw>"), scan.Compile("'''")...), v)
		},
	}
	long := strings.Repeat("w", scan.MaxSlot)
	for _, c := range []struct {
		look, text  string
		n           int
		ended, more scan.Found // at the end of the output, and where more follows
	}{
		{"scalar", "12", 2, scan.Yes, scan.More}, {"scalar", "12,", 2, scan.Yes, scan.Yes}, {"scalar", "a]", 1, scan.Yes, scan.Yes}, {"scalar", "a b", 0, scan.No, scan.No}, {"scalar", ",", 0, scan.No, scan.No},
		{"scalar", long + ",", scan.MaxSlot, scan.Yes, scan.Yes}, {"scalar", long + "w,", 0, scan.No, scan.No},
		{"object", "", 0, scan.No, scan.More}, {"object", " \n", 0, scan.No, scan.More}, {"object", ` "a`, 0, scan.Yes, scan.Yes}, {"object", "'a", 0, scan.Yes, scan.Yes}, {"object", "}", 0, scan.Yes, scan.Yes}, {"object", "a", 0, scan.No, scan.No},
		{"list", "", 0, scan.No, scan.More}, {"list", " {", 0, scan.Yes, scan.Yes}, {"list", "]", 0, scan.Yes, scan.Yes}, {"list", "-1", 0, scan.Yes, scan.Yes}, {"list", "a", 0, scan.No, scan.No},
		{"ticks", "`{", 11, scan.Yes, scan.Yes}, {"ticks", "` {", 21, scan.Yes, scan.Yes}, {"ticks", "``{", 0, scan.No, scan.No}, {"ticks", "```json\n{", 83, scan.Yes, scan.Yes}, {"ticks", "````{", 0, scan.No, scan.No},
		{"ticks", "`json {", 0, scan.No, scan.No}, {"ticks", "```json", 0, scan.No, scan.More}, {"ticks", "", 0, scan.No, scan.No}, {"ticks", "`", 0, scan.No, scan.More}, {"ticks", "{", 0, scan.No, scan.No}, {"ticks", "`a", 0, scan.No, scan.No},
		{"id", "[call_1]{", 8, scan.Yes, scan.Yes}, {"id", "[c]  {", 5, scan.Yes, scan.Yes}, {"id", "[c] x", 4, scan.No, scan.No}, {"id", "[c", 0, scan.No, scan.More}, {"id", "[c]", 0, scan.No, scan.More}, {"id", "[1]{", 0, scan.No, scan.No},
		{"id", "[c,{", 0, scan.No, scan.No}, {"id", "(c]{", 0, scan.No, scan.No}, {"id", "", 0, scan.No, scan.No}, {"id", "[" + long + "]{", scan.MaxSlot + 2, scan.Yes, scan.Yes}, {"id", "[" + long, 0, scan.No, scan.No}, {"id", "[" + long[1:], 0, scan.No, scan.More},
		{"nothing", "None", 4, scan.Yes, scan.More}, {"nothing", "n/a \t\n", 3, scan.Yes, scan.Yes}, {"nothing", "(none)\n", 6, scan.Yes, scan.Yes}, {"nothing", "no input\n", 8, scan.Yes, scan.Yes}, {"nothing", "empty box", 0, scan.No, scan.No}, {"nothing", "noth", 0, scan.No, scan.More},
		{"nothing", "null\n", 4, scan.Yes, scan.Yes}, {"nothing", "nothing\n", 7, scan.Yes, scan.Yes}, {"nothing", "", 0, scan.No, scan.More},
		{"break", "", 0, scan.No, scan.More}, {"break", "\nx", 1, scan.Yes, scan.Yes}, {"break", "\r\nx", 2, scan.Yes, scan.Yes}, {"break", "\r", 0, scan.No, scan.More}, {"break", "\rx", 0, scan.No, scan.No}, {"break", "x", 0, scan.No, scan.No},
		{"end", " \t\r\nx", 0, scan.Yes, scan.Yes}, {"end", "  ", 0, scan.Yes, scan.More}, {"end", " x", 0, scan.No, scan.No},
		{"json", "", 0, scan.No, scan.More}, {"json", " true", 0, scan.Yes, scan.Yes}, {"json", "tru", 0, scan.No, scan.More}, {"json", "try", 0, scan.No, scan.No}, {"json", "nullx", 0, scan.Yes, scan.Yes}, {"json", "false", 0, scan.Yes, scan.Yes},
		{"json", "{", 0, scan.Yes, scan.Yes}, {"json", "[", 0, scan.Yes, scan.Yes}, {"json", "-", 0, scan.Yes, scan.Yes}, {"json", "0", 0, scan.Yes, scan.Yes}, {"json", "9", 0, scan.Yes, scan.Yes}, {"json", "/", 0, scan.No, scan.No}, {"json", ":", 0, scan.No, scan.No}, {"json", `"`, 0, scan.No, scan.No},
		{"markup", "&lt;x", 4, scan.Yes, scan.Yes}, {"markup", "&#39;", 5, scan.Yes, scan.Yes}, {"markup", "&#x27;", 6, scan.Yes, scan.Yes}, {"markup", "&lt x", 0, scan.No, scan.No}, {"markup", "&lt", 0, scan.No, scan.More}, {"markup", "&none;", 0, scan.No, scan.No}, {"markup", "& x", 0, scan.No, scan.No},
		{"markup", "&twelveletters;", 0, scan.No, scan.No}, {"markup", "&twelvelette", 0, scan.No, scan.More}, {"markup", "&twelveletter", 0, scan.No, scan.More}, {"markup", "&twelvelettes", 0, scan.No, scan.More}, {"markup", "&twelveletters", 0, scan.No, scan.No},
		{"markup", "<![CDATA[x", 9, scan.Yes, scan.Yes}, {"markup", "<![CD", 0, scan.No, scan.More}, {"markup", "<x", 0, scan.No, scan.No},
		{"section", "]]>x", 3, scan.Yes, scan.Yes}, {"section", "]]", 0, scan.No, scan.More}, {"section", "]x", 0, scan.No, scan.No}, {"section", "&lt;", 0, scan.No, scan.No},
		{"pair", "city = x", 1, scan.Yes, scan.Yes}, {"pair", "a-b: x", 1, scan.Yes, scan.Yes}, {"pair", "city(x", 1, scan.Yes, scan.Yes}, {"pair", "town=x", 0, scan.Yes, scan.Yes}, {"pair", "city x", 0, scan.Yes, scan.Yes}, {"pair", "city ", 0, scan.No, scan.More}, {"pair", "cit", 0, scan.No, scan.More},
		{"raw", " <raw>\nx", 7, scan.Yes, scan.Yes}, {"raw", "<raw>x", 5, scan.Yes, scan.Yes}, {"raw", "'''\r\nx", 5, scan.Yes, scan.Yes}, {"raw", "<raw>\r", 5, scan.Yes, scan.More}, {"raw", "<raw>", 5, scan.Yes, scan.More}, {"raw", "<ra", 0, scan.No, scan.More}, {"raw", "x", 0, scan.No, scan.No},
	} {
		look, work := looks[c.look], 0
		fit := func(n int, f scan.Found) string {
			if f != scan.Yes {
				n = 0
			}
			return fmt.Sprintf("%d %v", n, f)
		}
		ended := fit(look(scan.ViewOf(c.text, true, &work)))
		if want := fit(c.n, c.ended); ended != want {
			t.Errorf("%s of %q at the end: %s, want %s", c.look, c.text, ended, want)
		}
		begun := fit(look(scan.ViewOf(c.text, false, &work)))
		if want := fit(c.n, c.more); begun != want {
			t.Errorf("%s of %q: %s, want %s", c.look, c.text, begun, want)
		}
		if cut := fit(look(scan.View{S: c.text, Cut: true, Work: &work})); c.more == scan.More && cut != fit(0, scan.No) && cut != ended {
			t.Errorf("%s of %q, of which no more is looked at: %s", c.look, c.text, cut)
		}
	}
}
