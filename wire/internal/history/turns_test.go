package history

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

// contract: F-11
func TestTurnsAlternate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in []utp.Message
		for i := range rapid.IntRange(0, 7).Draw(t, "messages") {
			m := utp.Message{Role: rapid.SampledFrom([]utp.Role{utp.RoleSystem, utp.RoleUser, utp.RoleAssistant, utp.RoleAssistant}).Draw(t, "role")}
			for range rapid.IntRange(0, 2).Draw(t, "parts") {
				switch rapid.IntRange(0, 3).Draw(t, "part") {
				case 0:
					m.Parts = append(m.Parts, utp.Text{Text: rapid.SampledFrom([]string{"", "a ", " "}).Draw(t, "text")})
				case 1:
					m.Parts = append(m.Parts, utp.Think{Text: "dropped"})
				case 2:
					if m.Role == utp.RoleAssistant {
						m.Parts = append(m.Parts, utp.Call{ID: fmt.Sprint("c", i, len(m.Parts)), Name: "f"})
					}
				}
			}
			in = append(in, m)
		}
		ordered := Order(in, nil, nil)
		prefill := rapid.Bool().Draw(t, "prefill")
		drop := func(_ utp.Message, p utp.Part) string {
			if _, ok := p.(utp.Think); ok {
				return "no"
			}
			return ""
		}
		_, turns := Alternation{Drop: drop, Prefill: prefill}.Turns(ordered, func(_, _, _ string) {})
		for i, m := range turns {
			if want := []utp.Role{utp.RoleUser, utp.RoleAssistant}[i%2]; m.Role != want || len(m.Parts) == 0 {
				t.Fatalf("turn %d: %+v", i, turns)
			}
			for _, p := range m.Parts {
				if x, ok := p.(utp.Text); ok && x.Text == "" {
					t.Fatalf("turn %d has an empty text", i)
				}
			}
		}
		if n := len(turns); n > 0 && turns[n-1].Role == utp.RoleAssistant {
			last, ok := turns[n-1].Parts[len(turns[n-1].Parts)-1].(utp.Text)
			if !prefill || ok && strings.HasSuffix(last.Text, " ") {
				t.Fatalf("prefill %v: %+v", prefill, turns[n-1])
			}
		}
	})
}
