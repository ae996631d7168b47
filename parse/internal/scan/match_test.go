package scan

import (
	"reflect"
	"strings"
	"testing"
)

// A marker fits, or does not, whatever of the text has arrived; what its slots hold
// is what stands there.
func TestMarkersFit(t *testing.T) {
	long := strings.Repeat("n", MaxSlot)
	for _, c := range []struct {
		template, text string
		n              int // bytes that fit, 0 if it does not
		held           Caps
	}{
		{"<Zap>", "<zAP>", 5, Caps{}},
		{"<call>", "<caller>", 0, Caps{}},
		{"  <call>\n", "<call>\nx", 6, Caps{}},
		{"<call> {name}>", "<call>\\n\u010a now >x", 16, Caps{Name: "now"}},

		{"<call {name}>", "<call >", 0, Caps{}},
		{"<call {name}>", "<call get me>x", 13, Caps{Name: "get me"}},
		{"<call {name}>", "<call get.me>x", 13, Caps{Name: "get.me"}},
		{"<call {name}>", "<call get , me>x", 0, Caps{}},
		{"<call {name}>", "<call " + long + ">x", 7 + MaxSlot, Caps{Name: long}},
		{"<call {name}>", "<call " + long + "n>x", 0, Caps{}},
		{"<call {name}>", "<call a " + long + ">x", 0, Caps{}},
		{"{name} says", "nowĠĊ says x", 12, Caps{Name: "now"}},
		{"{name}:", "now:x", 4, Caps{Name: "now"}},
		{"{name} {", "now  {x", 6, Caps{Name: "now"}},
		{"call {name}", "call now{", 8, Caps{Name: "now"}},

		{"<k={key}>", "<k=a b >x", 8, Caps{Key: "a b"}},
		{"<k={key}>", "<k=/a>x", 0, Caps{}},
		{"<k={key}>", "<k=a\"b>x", 0, Caps{}},
		{"<k={key}>", "<k=a=b>x", 0, Caps{}},
		{"<k={key}>", "<k=a{b>x", 0, Caps{}},
		{"<k={key}>", "<k=a|b>x", 0, Caps{}},
		{"<k={key}>", "<k=a<b>x", 0, Caps{}},
		{"<k={key}>", "<k=a\nb>x", 0, Caps{}},
		{"<k>{key}</k>", "<k>a<b>c</k>x", 12, Caps{Key: "a<b>c"}},
		{"<k>{key}</k>", "<k>a</kx", 0, Caps{}},
		{"<k>{key}:", "<k>a<b:x", 0, Caps{}},
		{"<k>{key}:", "<k>a</k:x", 0, Caps{}},
		{"<t>{name}</t>", "<t>a<b</t>x", 0, Caps{}},

		{"f_{n}(", "f_12(x", 5, Caps{}},
		{"f_{n}(", "f_09(x", 5, Caps{}},
		{"f_{n}(", "f_(x", 0, Caps{}},
		{"f_{n}(", "f_a(x", 0, Caps{}},
		{"f_{n}(", "f_/(x", 0, Caps{}},
		{"f_{n}(", "f_:(x", 0, Caps{}},
		{"<c{sfx}>", "<c:1>x", 5, Caps{}},
		{"<c{sfx}>", "<c>x", 3, Caps{}},
		{"<c{sfx}>", "<c:>x", 0, Caps{}},
		{"<c{sfx}>", "<cx>x", 0, Caps{}},
		{"<c{sfx}>", "<c :1>x", 0, Caps{}},
		{"<c{sfx}>", "<c:1 >x", 6, Caps{}},
		{"<c{sfx}>", "<c:<>x", 0, Caps{}},
		{"<c{any}>", "<c it is {1}>x", 13, Caps{}},
		{"<c{any}>", "<c it\n>x", 7, Caps{}},
		{"<c{any}>", "<c it\nis>x", 0, Caps{}},
		{"[{id}]", "[id-1]x", 6, Caps{ID: "id-1"}},
		{"[{id}]", "[]x", 0, Caps{}},
		{"<{type}>", "<int>x", 5, Caps{Typ: "int"}},
		{"<{type}>", "<>x", 2, Caps{}},

		{`<p name="{key}" as="{type}">`, `<p name="a b" as='int'>x`, 23, Caps{Key: "a b", Typ: "int"}},
		{`<p name="{key}" as="{type}">`, `<p as=int name=a>x`, 17, Caps{Key: "a", Typ: "int"}},
		{`<p name="{key}" as="{type}">`, `<P NAME = "a&amp;b" >x`, 21, Caps{Key: "a&b"}},
		{`<p name="{key}" as="{type}">`, `<p as="int">x`, 0, Caps{}},
		{`<p name="{key}" as="{type}">`, `<p name="a"/>x`, 13, Caps{Key: "a", Closed: true}},
		{`<p name="{key}" as="{type}">`, `<p name="a"/ >x`, 0, Caps{}},
		{`<p name="{key}" as="{type}">`, `<p name=a/>x`, 11, Caps{Key: "a", Closed: true}},
		{`<p name="{key}" as="{type}">`, `<p name="/a">x`, 0, Caps{}},
		{`<p name="{key}" as="{type}">`, `<p xml:o.1-b_="2" name="a">x`, 27, Caps{Key: "a"}},
		{`<p name="{key}" as="{type}">`, `<p ="a">x`, 0, Caps{}},
		{`<p name="{key}" as="{type}">`, `<p name>x`, 0, Caps{}},
		{`<p name="{key}" as="{type}">`, `<p name "a">x`, 0, Caps{}},
		{`<p name="{key}" id="{id}">`, `<p name="a">x`, 0, Caps{}},
		{`<p name="{key}" id="{id}">`, `<p name="a" id="">x`, 0, Caps{}},
		{`<p name="{key}" id="{id}">`, `<p name="a" id="7">x`, 19, Caps{Key: "a", ID: "7"}},
		{`<p name="{key}" id="{id}">`, `<p name="a" name="a">x`, 21, Caps{Key: "a"}},
		{`<c name="{name}"> (`, `<c name="a">  (x`, 15, Caps{Name: "a"}},
	} {
		m, work := Compile(c.template)[0], 0
		var held Caps
		n, f := m.Match(ViewOf(c.text, true, &work), &held)
		if f != Either(c.n > 0) || n != c.n || f == Yes && !reflect.DeepEqual(held, c.held) {
			t.Errorf("%s fits %q: %d %v %+v, want %d %+v", c.template, c.text, n, f, held, c.n, c.held)
		}
		if work == 0 {
			t.Errorf("%s in %q: no bytes looked at", c.template, c.text)
		}
		for cut := range len(c.text) {
			held = Caps{}
			k, g := m.Match(ViewOf(c.text[:cut], false, &work), &held)
			if g != More && (g != f || k != n || g == Yes && !reflect.DeepEqual(held, c.held)) {
				t.Errorf("%s fits the first %d bytes of %q: %d %v %+v", c.template, cut, c.text, k, g, held)
			}
		}
	}
}

// What no more text can make fit is not waited for.
func TestAMisfitIsKnownAtOnce(t *testing.T) {
	for _, c := range []struct{ template, text string }{
		{"<call>", "<cx"}, {"<call {name}>", "<call {"}, {"<call {name}>", "<call a,"}, {"[{id}]", "[ab]x"[:1] + "]"}, {`<p name="{key}">`, "<p ,"}, {`<p name="{key}">`, "<p a,"},
		{`<p name="{key}">`, "<p>"}, {"f_{n}(", "f_a"}, {"<c{sfx}>", "<cx>"},
	} {
		m, work := Compile(c.template)[0], 0
		if _, f := m.Match(ViewOf(c.text, false, &work), new(Caps)); f != No {
			t.Errorf("%s in %q: %v", c.template, c.text, f)
		}
	}
	m, work := Compile("<call {name}>")[0], 0
	if _, f := m.Match(View{S: "<call", Cut: true, Work: &work}, new(Caps)); f != No {
		t.Errorf("beyond what a decision may look at: %v", f)
	}
}

// compiled are the pieces of each marker of a template, slots in braces.
func compiled(list []Marker) (out []string) {
	for _, m := range list {
		var parts []string
		for _, p := range m.Pieces {
			parts = append(parts, p.Name+p.Text)
		}
		out = append(out, strings.Join(parts, "·"))
	}
	return out
}

// A template has the spellings of rule 5 and those with ASCII bars.
func TestSpellings(t *testing.T) {
	for template, want := range map[string][]string{
		"":                nil,
		"  \n":            nil,
		"{wrong}":         nil,
		"<a>":             {"<a>"},
		"]":               {"]"},
		"]x":              {"]x", "x"},
		"] {name}":        {"]· ·name", "name"},
		"]{name}":         {"]·name", "name"},
		"x]":              {"x]"},
		"{name}]":         {"name·]"},
		"x[":              {"x··["},
		"[":               {"["},
		"{name}[":         {"name·["},
		"<｜tool▁call｜>":   {"<｜tool▁call｜>", "<|tool▁call|>", "<|tool_call|>"},
		"<｜DSML｜call>":    {"<｜DSML｜call>", "<|DSML|call>"},
		"<|tool▁call|>":   {"<|tool▁call|>"},
		`<a x="{name}">`:  {"<a· ·xname·>"},
		"<a>{key}: \n":    {"<a>·key·:"},
		" [ {name} ] \n ": {"[· ·name· ·]"},
	} {
		if got := compiled(Compile(template)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", template, got, want)
		}
	}
}

// What is known of a marker without a text.
func TestWhatAMarkerIs(t *testing.T) {
	for _, c := range []struct {
		template, lead             string
		strong, names, ends, known bool
	}{
		{"<call {name}>\n", "<call", true, true, true, true},
		{"<call> ", "<call>", true, false, false, false},
		{"{name}(", "", false, true, false, true},
		{"<|{name}call>", "<|", false, true, false, true},
		{`<a x="{id}">`, "<a", true, true, false, false},
		{`<7 x="{key}">`, "<7", false, false, false, false},
		{"<k>{key}", "<k>", true, false, false, true},
		{"[ name ]\r\n", "[", true, false, true, false},
		{"[ {id} ]", "[", false, true, false, false},
		{"[1]", "[1]", false, false, false, false},
		{"▁", "▁", true, false, false, false},
	} {
		m := Compile(c.template)[0]
		if m.Lead != c.lead || m.Strong != c.strong || m.Names() != c.names || m.Ends != c.ends {
			t.Errorf("%q: begins with %q, strong %v, names %v, ends %v", c.template, m.Lead, m.Strong, m.Names(), m.Ends)
		}
		list := []Marker{m}
		if filled := Fill(list, &Caps{}); (&filled[0] != &list[0]) != c.known {
			t.Errorf("%q: what its slots hold is known by now: %v", c.template, !c.known)
		}
	}
}

// A closer names what its opener did.
func TestFill(t *testing.T) {
	list := append(Compile("</end>"), append(Compile("</{key}>"), append(Compile("{name} ({id}) {key}{name}!"), Compile("{key}>")...)...)...)
	filled := Fill(list, &Caps{Name: "now", Key: "city"})
	if got, want := compiled(filled), []string{"</end>", "</city>", "now· ·(·id·)· ·citynow!", "city>"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, want := range []string{"</end>", "</city>", "now", "city>"} {
		if filled[i].Lead != want {
			t.Errorf("%q begins %q", filled[i].Lead, compiled(filled)[i])
		}
	}
	work := 0
	if n, f := Longest(filled, ViewOf("</CITY>x", true, &work), nil); n != 7 || f != Yes {
		t.Errorf("%d %v", n, f)
	}
}

func TestKeyPart(t *testing.T) {
	for template, want := range map[string][]string{
		"<k>{key}</k>\n<v>": {"<k>·key·</k>"}, "<k>{key}</k>": nil, "<k>{key}</k><v>": nil, "<a> <b>{key}": nil, "<k {key}> {type}": nil, "<k {key}> <v>": {"<k· ·key·>"},
	} {
		if got := compiled(Compile(template)[0].KeyPart()); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", template, got, want)
		}
	}
}

// Of several the longest fits, of equally long ones the first; while one may still
// fit, none does.
func TestLongest(t *testing.T) {
	list := append(append(append(Compile("<a>"), Compile("<a>{type}b")...), Compile("<a>bb")...), append(Compile("{name}!"), Compile("{id}!")...)...)
	for text, want := range map[string]struct {
		n    int
		f    Found
		held Caps
	}{
		"<a>x,": {3, Yes, Caps{}}, "<a>bbx": {5, Yes, Caps{}}, "<A>1b.": {5, Yes, Caps{Typ: "1"}}, "<a>b": {0, More, Caps{}}, "now!": {4, Yes, Caps{Name: "now"}}, "": {0, More, Caps{}}, ",": {0, No, Caps{}},
	} {
		var held Caps
		work := 0
		n, f := Longest(list, ViewOf(text, false, &work), &held)
		if n != want.n || f != want.f || held != want.held {
			t.Errorf("%q: %d %v %+v, want %+v", text, n, f, held, want)
		}
		if g := Fits(list, ViewOf(text, false, &work)); g != f {
			t.Errorf("%q: %v and %v", text, f, g)
		}
	}
}

func TestBegun(t *testing.T) {
	m, work := Compile("<call {name}>")[0], 0
	for text, want := range map[string]Found{"<call": Yes, "<CALLER": Yes, "<ca": More, "<x": No} {
		if f := m.Begun(ViewOf(text, false, &work)); f != want {
			t.Errorf("%q: %v", text, f)
		}
	}
	if m.Begun(ViewOf("<ca", true, &work)) != No || !m.Begins('<') || m.Begins('c') {
		t.Error("the end is not seen")
	}
	for text, want := range map[string]string{"<k> {key} </k>": "</k>", "<k>{key}": "", "<k>{key}{type}:": ""} {
		m := Compile(text)[0]
		at := 0
		for m.Pieces[at].Text != "key" {
			at++
		}
		if got := m.After(at); got != want {
			t.Errorf("%q: after its key %q", text, got)
		}
	}
}
