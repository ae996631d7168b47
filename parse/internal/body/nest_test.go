package body_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// nest is <item>…</item> and <k=KEY>…</k>.
func nest(xml bool) *body.Nest {
	n := &body.Nest{Item: scan.Compile("<item>"), ItemClose: scan.Compile("</item>"), Arg: scan.Compile("<k={key}>"), ArgClose: scan.Compile("</k>"), Hot: new([256]bool), XML: xml}
	n.Open, n.Close = append(append(n.Open, n.Item...), n.Arg...), append(append(n.Close, n.ItemClose...), n.ArgClose...)
	n.Hot['<'] = true
	return n
}

func TestNest(t *testing.T) {
	for _, c := range []struct{ in, want, rest string }{
		{"1", "1", ""},
		{" two </k>x", `" two "`, "</k>x"},
		{" 2 </k>x", "2", "</k>x"},
		{"2x</item>", `"2x"`, "</item>"},
		{"", `""`, ""},
		{"x", `"x"`, ""},
		{"true", "true", ""}, {"null", "null", ""}, {"false", "false", ""}, {"-1", "-1", ""}, {`{"a": 1}`, `{"a": 1}`, ""}, {"[1]", "[1]", ""}, {`"q"`, `"\"q\""`, ""},
		{"a &lt; b", `"a &lt; b"`, ""},
		{"<item>1</item>\n<item>b</item>", `[1,"b"]`, ""},
		{"<item><item>1</item></item>", `[[1]]`, ""},
		{"<k=a>1</k><k=b>x</k> </k>y", `{"a":1,"b":"x"}`, "</k>y"},
		{"<k=a>1</k><k=b>2</k><k=a>3</k>", `{"a":[1,3],"b":2}`, ""},
		{"<k=a><k=b>1</k></k>", `{"a":{"b":1}}`, ""},
		{"<k=a>1 <k=b>2</k>", `{"a":{"b":2,"$text":"1 "}}`, ""},
		{"<k=a>1</k> and more</k>", `{"a":1,"$text":" and more"}`, "</k>"},
		{"first <k=a>1</k> then <k=b>2</k>", `{"a":1,"b":2,"$text":"first  then "}`, ""},
		{"<item>1</item> and more", `[1]`, " and more"},
		{"note <item>1</item>", `{"item":[1],"$text":"note "}`, ""},
		{"<item>1</item><k=a>2</k>", `{"a":2,"item":[1]}`, ""},
		{"<item>1<item>2</item>", `[{"item":[2],"$text":"1"}]`, ""},
		{"<item>1", `[1]`, ""},
		{"<k=a>1</item>", `{"a":1}`, "</item>"},
		{"<x>1</x></k>", `"<x>1</x>"`, "</k>"},
		{"1 < 2", `"1 < 2"`, ""},
	} {
		work := 0
		if v, rest := nest(false).Read(c.in, false, &work); string(v) != c.want || rest != c.rest {
			t.Errorf("%q: %s and %q, want %s and %q", c.in, v, rest, c.want, c.rest)
		}
	}
	work := 0
	if v, _ := nest(true).Read("<k=a>a &lt; 1</k>", false, &work); string(v) != `{"a":"a < 1"}` {
		t.Errorf("entities: %s", v)
	}
	if v, _ := nest(false).Read("<item>1</item><item>true</item>", true, &work); string(v) != `["1","true"]` {
		t.Errorf("texts: %s", v)
	}
	if work == 0 {
		t.Error("no bytes looked at")
	}
	deep := strings.Repeat("<item>", 101) + "1"
	if v, _ := nest(false).Read(deep, false, &work); string(v) != strings.Repeat("[", 100)+`"<item>1"`+strings.Repeat("]", 100) {
		t.Errorf("a hundred deep: %s", v)
	}
}

func TestJSONOfTexts(t *testing.T) {
	for got, want := range map[string]string{
		string(body.AppendCompact([]byte("x"), []byte("{ \"a\":"))): `x{ "a":`,
		string(body.AppendCompact(nil, []byte("[1,\r\n\t2]"))):      "[1,2]",
		string(body.AppendEscaped(nil, "a\x1f\x00\t\r\x7f ")):       `a\u001f\u0000\t\r` + "\x7f ",
		string(body.List(nil)):                      "[]",
		body.Unescape([]byte("plain")):              "plain",
		string(body.JSONOrText("[True]")):           "[true]",
		string(body.JSONOrText("True")):             "true",
		string(body.JSONOrText("False")):            "false",
		string(body.JSONOrText("[1] x")):            `"[1] x"`,
		string(body.Elements([]byte("[1"))[0]):      "[1",
		string(body.Quote(body.Valid("a\xc3\x28"))): "\"a\ufffd(\"",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if n := len(body.Fields([]byte(`[1]`))); n != 0 {
		t.Errorf("%d members of a list", n)
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{{"1", "1", true}, {"12345678901234567890", "12345678901234567891", false}, {"[1, 2]", "[1,2]", true}, {"x", "y", false}, {"{", "{", true}} {
		if body.Same([]byte(c.a), []byte(c.b)) != c.same {
			t.Errorf("%s and %s the same: %v", c.a, c.b, !c.same)
		}
	}
	for text, want := range map[string]bool{"": false, "a": false, "a\nb": true, "\n": true} {
		if body.HasNewline(text) != want {
			t.Errorf("%q ends a line: %v", text, !want)
		}
	}
}
