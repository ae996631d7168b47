package backend

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

// sifted feeds text in pieces and gives what counts, and the model's text that
// the events cover.
func sifted(marks []mark, calls int, pieces []string) (text, raw string) {
	s := &sieve{marks: marks, tight: calls == 0, dead: map[int]bool{}, started: calls, tell: func(string, string) {}}
	take := func(evs []utp.Event) {
		for _, e := range evs {
			text += e.Text
			raw += e.Raw
		}
	}
	for _, p := range pieces {
		take(s.event(utp.Event{Kind: utp.TextDelta, Text: p, Raw: p}))
	}
	take(s.event(utp.Event{Kind: utp.Finish}))
	return text, raw
}

// However the text is cut, the same counts, and the events cover all of it.
func TestTheSieveIsCutInvariant(t *testing.T) {
	marks := []mark{{open: "[b]"}, {open: "[bb"}, {open: "[a", close: "a]"}, {open: "ab\nb", ends: true},
		{open: "b[", line: true, close: "\n"}, {open: "bb]", ends: true, after: true}}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOfN(rapid.RuneFrom([]rune("ab[]\n")), 0, 40, -1).Draw(t, "text")
		calls := rapid.IntRange(0, 1).Draw(t, "calls")
		var pieces []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		text, raw := sifted(marks, calls, []string{in})
		text2, raw2 := sifted(marks, calls, pieces)
		if text != text2 || raw != in || raw2 != in {
			t.Fatalf("%q in %q: %q, whole %q; covers %q", in, pieces, text2, text, raw2)
		}
		if strings.Contains(text, "[b]") && !strings.Contains(strings.ReplaceAll(in, "[b]", ""), "[") {
			t.Fatalf("%q leaves a mark in %q", in, text)
		}
	})
}

// What comes through is whole: a call has its start before its end, at most
// one where one was asked for, and what was refused never comes back.
func TestTheSieveLeavesWholeCalls(t *testing.T) {
	marks := []mark{{open: "[a", close: "a]"}, {open: "ab", ends: true}, {open: "bb]", ends: true, after: true}}
	rapid.Check(t, func(t *rapid.T) {
		single := rapid.Bool().Draw(t, "single")
		s := &sieve{marks: marks, single: single, dead: map[int]bool{}, stops: func(string) []string { return []string{"]]"} }, tell: func(string, string) {}}
		state := map[int]string{} // of calls, as they came in
		passed, ended := map[int]bool{}, 0
		take := func(evs []utp.Event) {
			for _, e := range evs {
				switch e.Kind {
				case utp.CallStart:
					passed[e.Part] = true
				case utp.CallDelta, utp.CallEnd:
					if !passed[e.Part] {
						t.Fatalf("%s of part %d without its start", e.Kind, e.Part)
					}
					if e.Kind == utp.CallEnd {
						ended++
					}
				}
			}
		}
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			part := rapid.IntRange(1, 3).Draw(t, "part")
			call := &utp.Call{Name: "f", Source: utp.Native}
			switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); {
			case kind == 0:
				text := rapid.StringOfN(rapid.RuneFrom([]rune("ab[]")), 0, 6, -1).Draw(t, "text")
				take(s.event(utp.Event{Kind: utp.TextDelta, Text: text, Raw: text}))
			case state[part] == "":
				state[part] = "open"
				take(s.event(utp.Event{Kind: utp.CallStart, Part: part, Call: call}))
			case state[part] == "open" && kind == 1:
				take(s.event(utp.Event{Kind: utp.CallDelta, Part: part, Text: "{"}))
			case state[part] == "open":
				state[part] = "over"
				take(s.event(utp.Event{Kind: utp.CallEnd, Part: part, Call: call}))
			}
		}
		take(s.event(utp.Event{Kind: utp.Finish}))
		if single && ended > 1 {
			t.Fatalf("%d calls ended, one was asked for", ended)
		}
	})
}
