package body_test

import (
	"fmt"
	"testing"

	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// What looks at a text answers the same whatever of it has arrived, or asks for more.
func TestAnswersDoNotDependOnTheCut(t *testing.T) {
	readers := map[string]func(scan.View) (int, scan.Found){
		"line break": body.LineBreak,
		"id":         body.ID,
		"scalar":     body.Scalar,
		"nothing":    body.Nothing,
		"json":       func(v scan.View) (int, scan.Found) { return 0, body.MayBeJSON(v) },
		"line end":   func(v scan.View) (int, scan.Found) { return 0, body.LineEnd(v) },
		"object":     func(v scan.View) (int, scan.Found) { return 0, body.ObjectBegins(v) },
		"list":       func(v scan.View) (int, scan.Found) { return 0, body.ListBegins(v) },
		"markup":     func(v scan.View) (int, scan.Found) { return body.Markup(v, false) },
	}
	texts := []string{"\r\nx", "\rx", "[call_1] {", "[call_1] x", "12, 13", "none\nx", "none at all", "no input  \n", "trust", "true", "-1 ", " \t x", " \"a\": 1", "'a'", "&amp;x", "&ampx;", "&nothing;", "<![CDATA[x", "<![C x"}
	for name, read := range readers {
		for _, text := range texts {
			work := 0
			n, f := read(scan.ViewOf(text, true, &work))
			for cut := 1; cut < len(text); cut++ {
				k, g := read(scan.ViewOf(text[:cut], false, &work))
				if g != scan.More && (k != n || g != f) {
					t.Errorf("%s of %q: %d %v, of its first %d bytes %d %v", name, text, n, f, cut, k, g)
				}
			}
		}
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(body.Quote("a\"\\\n\x01é")), `"a\"\\\n\u0001é"`},
		{body.Unescape([]byte(`a\"\u00e9`)), `a"é`},
		{body.Unescape([]byte(`\x`)), `\x`},
		{string(body.AppendCompact([]byte("["), []byte("{ \"a\" : 1 }"))), `[{"a":1}`},
		{string(body.JSONOrText(" [1, 2] ")), `[1, 2]`},
		{string(body.JSONOrText("{'a': True}")), `{"a":true}`},
		{string(body.JSONOrText("two words")), `"two words"`},
		{fmt.Sprintf("%s", body.Fields([]byte(`{"b":1,"a":{"c":2}}`))), `[{b 1} {a {"c":2}}]`},
		{fmt.Sprintf("%s", body.Elements([]byte(`[1,"a"]`))), `[1 "a"]`},
		{fmt.Sprintf("%s", body.Elements([]byte(`"a"`))), `["a"]`},
		{fmt.Sprint(body.Same([]byte(`{"a":1,"b":2}`), []byte(`{"b":2, "a":1}`))), "true"},
		{fmt.Sprint(body.Same([]byte(`1`), []byte(`1.0`))), "false"},
		{body.Valid("a\xffb\xc3"), "a\ufffdb\ufffd"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestIsPlaceholder(t *testing.T) {
	for text, want := range map[string]bool{
		"<your city>": true, "<city>": true, "<b>": false, "{{city}}": true, "...": true, "your_city_here": true,
		"<a href=x>": false, "your city": false, "{{a}} and {{b}}": false,
		"…": true, "....": false, "{{}}": true, "{{{city}}": false, "{{city}}}": false, "{{a}b}}": false, "{{city": false, "city}}": false,
		"<CITY>": true, "<your_town>": true, "<town>": false, "<city": false, "city>": false, "< city>": false, "<>": false,
		"<a=b c>": false, "<br/>": false, "<one. two>": false,
		"your-city-here": true, "YOUR_CITY_HERE": true, "your_city": false, "city_here": false, "your-city": false, "city-here": false,
	} {
		if got := body.IsPlaceholder("city", text); got != want {
			t.Errorf("IsPlaceholder(%q) = %v", text, got)
		}
	}
}

// What looks at a text says no as soon as no more text can make it a yes.
func TestWhatIsCertainIsNotWaitedFor(t *testing.T) {
	work := 0
	begun := func(s string) scan.View { return scan.ViewOf(s, false, &work) }
	for _, c := range []struct {
		text string
		read func(scan.View) (int, scan.Found)
		n    int
		want scan.Found
	}{
		{"x", body.Nothing, 0, scan.No},
		{"nonsense", body.Nothing, 0, scan.No},
		{"no", body.Nothing, 0, scan.More},
		{"none\n", body.Nothing, 4, scan.Yes},
		{"[1", body.ID, 0, scan.No},
		{"[c", body.ID, 0, scan.More},
		{"[", body.ID, 0, scan.More},
	} {
		if n, f := c.read(begun(c.text)); n != c.n || f != c.want {
			t.Errorf("%q: %d %v, want %d %v", c.text, n, f, c.n, c.want)
		}
	}
	for text, want := range map[string]bool{"query=x": true, "query : x": true, "query x": false, "other=x": false, "=x": false} {
		if ok, f := body.IsPair([]string{"query"}, begun(text)); ok != want || f != scan.Yes {
			t.Errorf("%q: %v %v, want %v", text, ok, f, want)
		}
	}
	for text, want := range map[string]string{"1 2": `"1 2"`, "{'a': 1} x": `"{'a': 1} x"`, "None": "null", "Nonsense": `"Nonsense"`, "'a'": `"'a'"`, "": `""`} {
		if got := string(body.JSONOrText(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
