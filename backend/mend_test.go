package backend

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// native is what a codec makes of one call whose arguments come in pieces.
func native(stop string, pieces ...string) (evs []utp.Event) {
	x, err := openai.Back{}.Open(&utp.Request{Model: "m", Stream: true, Messages: []utp.Message{utp.NewText(utp.RoleUser, "hi")}})
	if err != nil {
		panic(err)
	}
	r := x.Reader(nil)
	feed := func(data string) { evs = append(evs, r.Feed(wire.Frame{Data: []byte(data)})...) }
	feed(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}`)
	for _, p := range pieces {
		args, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		feed(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":` + string(args) + `}}]}}]}`)
	}
	feed(`{"choices":[{"delta":{},"finish_reason":"` + stop + `"}]}`)
	return append(evs, r.Close()...)
}

// mendCall sends one native call through a codec and a mender, its arguments in
// the given pieces, and gives what comes out and the deltas joined.
func mendCall(pieces []string) (r utp.Reply, deltas string) {
	m := newMender(true)
	var out []utp.Event
	for _, e := range native("tool_calls", pieces...) {
		out = append(out, m.event(e)...)
	}
	for _, e := range out {
		if e.Kind == utp.EventCallDelta {
			deltas += e.Text
		}
	}
	return utp.Collect(out), deltas
}

// contract: R-01 R-06 R-08 R-09 R-10 R-12
func TestMend(t *testing.T) {
	for _, c := range []struct{ raw, want, fix string }{
		{`{"a": 1}`, `{"a": 1}`, ""},
		{`{"a":9007199254740993,"b":"x\"y\\"}`, `{"a":9007199254740993,"b":"x\"y\\"}`, ""},
		{`{"a": 1,}`, `{"a": 1}`, "comma"},
		{`{"a": {"b": [1, 2,],},}`, `{"a": {"b": [1, 2]}}`, "comma"},
		{`{'a': 'x'}`, `{"a": "x"}`, "quote"},
		{`{"a": "x"`, `{"a": "x"}`, ""},
		{`{"a": {"b": [1]`, `{"a": {"b": [1]}}`, ""},
		{`{"a": True, "b": None}`, `{"a": true, "b": null}`, ""},
		{`{"a": 1} because`, `{"a": 1}`, "behind"},
		{`{"a": 1}}`, `{"a": 1}`, "behind"},
		{`"{\"a\": 1}"`, `{"a": 1}`, "twice"},
		{`{"a": "cut off`, "", ""},
		{`{"a": 1`, "", ""}, // or 15, or 1.5
		{`city=Paris`, "", ""},
		{`[1, 2]`, "", ""},
		{`"just text"`, "", ""},
		{`5`, "", ""},
	} {
		for n := range c.raw {
			r, deltas := mendCall([]string{c.raw[:n], c.raw[n:]})
			calls := r.Calls()
			if c.want == "" {
				if len(calls) != 0 || len(r.Problems) != 1 || r.Problems[0].Raw != c.raw {
					t.Errorf("%s cut at %d: %+v", c.raw, n, r)
				}
				continue
			}
			if len(calls) != 1 || same(t, string(calls[0].Args)) != same(t, c.want) {
				t.Fatalf("%s cut at %d: %+v, want %s", c.raw, n, r, c.want)
			}
			if deltas != string(calls[0].Args) || calls[0].ID != "a" || calls[0].RawArgs != c.raw {
				t.Errorf("%s cut at %d: deltas %q of %+v", c.raw, n, deltas, calls[0])
			}
			if valid := json.Valid([]byte(c.raw)) && c.raw[0] == '{'; valid != (len(calls[0].Fixes) == 0) {
				t.Errorf("%s: fixes %+v", c.raw, calls[0].Fixes)
			}
			if c.fix != "" && !strings.Contains(why(calls[0]), c.fix) {
				t.Errorf("%s: no fix says %q: %+v", c.raw, c.fix, calls[0].Fixes)
			}
		}
	}
}

func why(c utp.Call) (text string) {
	for _, f := range c.Fixes {
		text += f.Why + "\n"
	}
	return text
}

func same(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	inText := false
	for i := 0; i < len(s); i++ {
		if s[i] == '"' && (i == 0 || s[i-1] != '\\') {
			inText = !inText
		}
		if inText || s[i] != ' ' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Whatever a model writes and however it is cut: the deltas are the arguments,
// the arguments are an object, and the cut does not matter.
//
// contract: Z-07
func TestMendAnyArguments(t *testing.T) {
	soup := rapid.SliceOf(rapid.SampledFrom([]string{`{`, `}`, `[`, `]`, `"a"`, `"`, `:`, `,`, `1`, ` `, `\`, `'b'`, `true`, "\n", `x`, `{"a":`, `"b": "c d"`}))
	rapid.Check(t, func(t *rapid.T) {
		pieces := soup.Draw(t, "pieces")
		whole, deltas := mendCall([]string{strings.Join(pieces, "")})
		parted, parts := mendCall(pieces)
		if len(whole.Calls()) != len(parted.Calls()) {
			t.Fatalf("%q: whole %+v, in pieces %+v", pieces, whole, parted)
		}
		for i, c := range parted.Calls() {
			if parts != string(c.Args) || deltas != string(whole.Calls()[i].Args) || c.Args[0] != '{' || !json.Valid(c.Args) {
				t.Fatalf("%q: deltas %q and %q, call %+v", pieces, parts, deltas, c)
			}
		}
	})
}

func TestCutCallsAreNotMended(t *testing.T) {
	m := newMender(true)
	var out []utp.Event
	for _, e := range native("length", `{"a": 1`) {
		out = append(out, m.event(e)...)
	}
	if r := utp.Collect(out); len(r.Calls()) != 0 || r.Problems[0].Kind != utp.ProblemTruncated {
		t.Errorf("%+v", r)
	}
}

func BenchmarkMendLongCall(b *testing.B) {
	args := `{"content":"` + strings.Repeat(`line of text\n`, 80_000) + `"}`
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		m := newMender(true)
		m.event(utp.Event{Kind: utp.EventCallStart, Call: &utp.Call{Name: "f", Source: utp.SourceNative}})
		for rest := args; rest != ""; rest = rest[min(4, len(rest)):] {
			m.event(utp.Event{Kind: utp.EventCallDelta, Text: rest[:min(4, len(rest))]})
		}
		m.event(utp.Event{Kind: utp.EventCallEnd, Call: &utp.Call{Name: "f", Args: []byte(args)}})
	}
}
