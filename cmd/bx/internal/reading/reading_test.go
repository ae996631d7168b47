package reading_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/envelope"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
)

func replyReader(tools []utp.Tool) reading.Replies { return envelope.New(tools) }

// options reads the sections tools and options of a case; options has a setting
// a line: "policy unknown=flag".
func options(t *testing.T, c *golden.Case) (o reading.Options) {
	t.Helper()
	o.Replies = replyReader
	var err error
	if c.Has("tools") {
		o.Tools, err = reading.ParseTools([]byte(c.Get("tools")))
	}
	for line := range strings.Lines(c.Get("options")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err != nil {
			break
		}
		switch name {
		case "policy":
			o.Policy, err = reading.ParsePolicy(value)
		case "grammar":
			o.Dialects, err = reading.ParseDialects(value, nil)
		case "model":
			o.Dialects.Model = value
		case "prefill":
			o.Prefill = value
		case "chunk":
			o.Chunk, err = strconv.Atoi(value)
		case "input":
			o.Input = map[string]reading.Input{"text": reading.Text, "reply": reading.Reply}[value]
		case "events":
			o.Events = true
		default:
			t.Fatalf("unknown option %q", name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func printed(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCases reads the section in of testdata/*.txtar and compares what comes of
// it. However the text is cut, the same comes of it.
func TestCases(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		o := options(t, c)
		got := outcome(t, o, c.Get("in"))
		c.Want(t, "out", got)
		for _, o.Chunk = range []int{1, 2, 3, 7} {
			if cut := outcome(t, o, c.Get("in")); !o.Events && cut != got {
				t.Errorf("in pieces of %d:\n%s", o.Chunk, cmp.Diff(got, cut))
			}
		}
	})
}

func outcome(t *testing.T, o reading.Options, in string) string {
	r, err := reading.Read(o, []byte(in))
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	return printed(t, r)
}

// ofGrammars runs f over the cases of every grammar.
func ofGrammars(t *testing.T, f func(t *testing.T, o reading.Options, in string)) {
	golden.Run(t, "../../../../grammar/testdata/*/*.txtar", func(t *testing.T, c *golden.Case) {
		o := reading.Options{Prefill: c.Get("prefill")}
		if folder := reading.Folder(c.Path); folder != "auto" {
			g, _ := grammar.ByName(folder)
			o.Dialects.Grammars = []*grammar.Grammar{g}
		}
		if tools := strings.TrimSpace(c.Get("tools")); strings.HasPrefix(tools, "[") {
			list, err := reading.ParseTools([]byte(tools))
			if err != nil {
				t.Fatal(err)
			}
			o.Tools = list
		} else {
			for _, name := range strings.Fields(tools) {
				o.Tools = append(o.Tools, utp.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
			}
		}
		f(t, o, c.Get("in"))
	})
}

// The places of calls and problems are in the text, in order, and do not
// overlap; each problem's is that of its text; and each call's text alone is
// the same call, or part of a larger block.
func TestPlaces(t *testing.T) {
	ofGrammars(t, func(t *testing.T, o reading.Options, in string) {
		r, err := reading.Read(o, []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		var places []*reading.Place
		for _, c := range r.ToolCalls {
			places = append(places, c.Place)
			if span := in[c.Offset : c.Offset+c.Length]; strings.TrimSpace(span) == "" {
				t.Errorf("the call of %s stands in nothing: %q", c.Name, span)
			}
		}
		raws := map[string]bool{}
		for _, p := range parse.Text(configOf(o), in).Problems {
			raws[p.Raw] = true
		}
		for _, p := range r.Problems {
			places = append(places, p.Place)
			if span := in[p.Offset : p.Offset+p.Length]; !raws[span] {
				t.Errorf("no problem is about %q", span)
			}
		}
		slices.SortFunc(places, func(a, b *reading.Place) int { return a.Offset - b.Offset })
		for i := 1; i < len(places); i++ {
			if a, b := places[i-1], places[i]; a.Offset+a.Length > b.Offset {
				t.Errorf("%v and %v overlap", *a, *b)
			}
		}
	})
}

func configOf(o reading.Options) parse.Config {
	return parse.Config{Grammars: o.Dialects.Grammars, Tools: compiled(o.Tools), Prefill: o.Prefill}
}

// However a text is cut, the same content, reasoning, calls and problems are
// found: byte by byte for every case of every grammar, with every policy.
func TestChunks(t *testing.T) {
	policies := []reading.Policy{{}, {Unknown: reading.Flag, Malformed: reading.Strip}, {Unknown: reading.AsText, Repair: parse.Off, Shown: true, Repeated: true}, {Malformed: reading.Fail}}
	ofGrammars(t, func(t *testing.T, o reading.Options, in string) {
		for _, o.Policy = range policies {
			o.Chunk = 0
			whole := outcome(t, o, in)
			if o.Chunk = 1; outcome(t, o, in) != whole {
				t.Errorf("policy %+v, byte by byte:\n%s", o.Policy, cmp.Diff(whole, outcome(t, o, in)))
			}
		}
	})
}

// Nothing is lost: without Strip, what is not in a call, a marker or thinking is
// in the content. Here: text without any markup is the content, unless it is white
// space alone.
func TestPlainText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.StringMatching(`[A-Za-zÄöß .,!?\n-]*`).Draw(rt, "in")
		r, err := reading.Read(reading.Options{Chunk: rapid.IntRange(0, 5).Draw(rt, "chunk")}, []byte(in))
		want := in
		if strings.TrimSpace(in) == "" {
			want = ""
		}
		if err != nil || r.Content != want || len(r.ToolCalls)+len(r.Problems) > 0 {
			rt.Fatalf("%q: %v %+v", in, err, r)
		}
	})
}

func TestFolder(t *testing.T) {
	if got := reading.Folder(filepath.Join("x", "hermes", "a.txtar")); got != "hermes" {
		t.Error(got)
	}
}
