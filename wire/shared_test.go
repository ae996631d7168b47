package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

// contract: CON-23
func TestClientIDsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"functions.get_weather:0", "call_1", "utp_x", "a-b", "-2E"})).Draw(t, "id")
		client := ClientID(id)
		if !legal(client, maxClientID) {
			t.Fatalf("%q became %q", id, client)
		}
		if back := OriginID(client); back != id && !strings.HasPrefix(client, "call_") {
			t.Fatalf("%q became %q became %q", id, client, back)
		}
	})
	for _, id := range []string{"utp_-", "utp_-G0", "utp_-4", "toolu_1", ""} {
		if got := OriginID(id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
}

func TestSeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		think := utp.Think{Signature: rapid.String().Draw(t, "signature"), Provider: rapid.SampledFrom([]string{"", "openai"}).Draw(t, "provider"),
			ItemID: rapid.SampledFrom([]string{"", "rs_1"}).Draw(t, "item"), Redacted: rapid.Bool().Draw(t, "redacted")}
		seal := Seal(think)
		if empty := think.Signature == "" && think.Provider == "" && think.ItemID == ""; empty != (seal == "") {
			t.Fatalf("%+v: seal %q", think, seal)
		} else if empty {
			return
		}
		got, ok := Unseal(seal)
		if _, err := base64.StdEncoding.DecodeString(seal); err != nil || !ok {
			t.Fatalf("%q: %v", seal, err)
		}
		if want := strings.ToValidUTF8(think.Signature, "\uFFFD"); got.Signature != want && think.Signature == want || got.Provider != think.Provider {
			t.Fatalf("%+v became %+v", think, got)
		}
	})
	for _, s := range []string{"", "utp1", "utp1!", "c2lnbmF0dXJl", "utp1AAAA"} {
		if _, ok := Unseal(s); ok {
			t.Errorf("%q passed for a seal", s)
		}
	}
}

// contract: F-11
func TestTurnsAlternate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in []utp.Message
		for i := range rapid.IntRange(0, 7).Draw(t, "messages") {
			m := utp.Message{Role: rapid.SampledFrom([]utp.Role{utp.System, utp.User, utp.Assistant, utp.Assistant}).Draw(t, "role")}
			for range rapid.IntRange(0, 2).Draw(t, "parts") {
				switch rapid.IntRange(0, 3).Draw(t, "part") {
				case 0:
					m.Parts = append(m.Parts, utp.Text{Text: rapid.SampledFrom([]string{"", "a ", " "}).Draw(t, "text")})
				case 1:
					m.Parts = append(m.Parts, utp.Think{Text: "dropped"})
				case 2:
					if m.Role == utp.Assistant {
						m.Parts = append(m.Parts, utp.Call{ID: fmt.Sprint("c", i, len(m.Parts)), Name: "f"})
					}
				}
			}
			in = append(in, m)
		}
		ordered, _ := Order(in, nil)
		prefill := rapid.Bool().Draw(t, "prefill")
		drop := func(_ utp.Message, p utp.Part) string {
			if _, ok := p.(utp.Think); ok {
				return "no"
			}
			return ""
		}
		_, turns, _ := Alternation{Drop: drop, Prefill: prefill}.Turns(ordered)
		for i, m := range turns {
			if want := []utp.Role{utp.User, utp.Assistant}[i%2]; m.Role != want || len(m.Parts) == 0 {
				t.Fatalf("turn %d: %+v", i, turns)
			}
			for _, p := range m.Parts {
				if x, ok := p.(utp.Text); ok && x.Text == "" {
					t.Fatalf("turn %d has an empty text", i)
				}
			}
		}
		if n := len(turns); n > 0 && turns[n-1].Role == utp.Assistant {
			last, ok := turns[n-1].Parts[len(turns[n-1].Parts)-1].(utp.Text)
			if !prefill || ok && strings.HasSuffix(last.Text, " ") {
				t.Fatalf("prefill %v: %+v", prefill, turns[n-1])
			}
		}
	})
}

func TestEffort(t *testing.T) {
	for _, e := range []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} {
		if n, ok := Budget(e); !ok || Effort(n) != e {
			t.Errorf("%s: %d, %s", e, n, Effort(n))
		}
	}
	if _, ok := Budget("galactic"); ok || Effort(2000) != "low" || Effort(1<<20) != "max" || Effort(-1) != "none" {
		t.Error("efforts")
	}
}

func TestLead(t *testing.T) {
	n, err := NewNames([]utp.Tool{{Name: "7zip"}, {Name: "_7zip"}, {Name: "-x"}, {Name: strings.Repeat("9", 63)}, {Name: "ok"}}, 63)
	if err != nil {
		t.Fatal(err)
	}
	n.Lead()
	seen := map[string]bool{}
	for _, name := range []string{"7zip", "_7zip", "-x", strings.Repeat("9", 63), "ok"} {
		out := n.OutLed(name)
		if !legal(out, 63) || out != lead(out, name, 63) || seen[out] || n.In(out) != name {
			t.Errorf("%q → %q → %q", name, out, n.In(out))
		}
		seen[out] = true
	}
	if n.OutLed("5gone") != "_5gone" {
		t.Error("a tool of an old message")
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind FaultKind
		code int
	}{
		{errors.New("x"), Internal, 500}, {nil, Internal, 500}, {&Error{Status: 418}, BadInput, 400}, {&Error{Status: 422}, BadInput, 400}, {&Error{Status: 529}, Overloaded, 503},
		{&Error{Status: 408}, Timeout, 504}, {&Error{Type: NotThisAPI}, BadGateway, 502}, {&Error{Code: "insufficient_quota"}, RateLimited, 429}, {&Error{}, Internal, 500},
		{fmt.Errorf("outer: %w", &Error{Status: 403}), Forbidden, 403}, {fmt.Errorf("outer: %w", ErrCut), BadGateway, 502}, {&Error{Status: 413}, TooLarge, 413},
	} {
		if f := FaultOf(c.err); f.Kind != c.kind || f.Status() != c.code {
			t.Errorf("%v: %+v", c.err, f)
		}
	}
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-proj-AbC123****xyz.": "Incorrect API key provided: sk-…", "key AIzaSyA1234567 is bad": "key AIza… is bad",
		"Authorization: Bearer abcdef123": "Authorization: Bearer …", "a task-list of risk-free desks": "a task-list of risk-free desks",
	} {
		if got := Redact(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	if d := RetryDelay([]byte(`{"error":{"details":[{"@type":"x"},{"retryDelay":"1.5s"}]}}`)); d != 1500*time.Millisecond {
		t.Error(d)
	}
	if RetryDelay([]byte(`{"error":"x"}`)) != 0 || RetryDelay(nil) != 0 {
		t.Error("a pause out of nothing")
	}
}

func TestUnmark(t *testing.T) {
	for in, want := range map[string]string{"ERROR: no": "no true", `{"error":"x"}`: `{"error":"x"} true`, `{"error":null}`: `{"error":null} false`, "fine": "fine false", "": " false"} {
		plain, failed := Unmark(in)
		if got := fmt.Sprint(plain, " ", failed); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestExtraBelongsToItsProvider(t *testing.T) {
	f := Fields{{"a", []byte("1")}, {"b", []byte(`"x"`)}}
	extra := PackExtra("me", f)
	own, foreign := UnpackExtra(extra, "me")
	if diff := cmp.Diff(f, own); diff != "" || foreign || own.Text("b") != "x" {
		t.Error(diff, foreign)
	}
	if own, foreign := UnpackExtra(extra, "you"); own != nil || !foreign {
		t.Error(own, foreign)
	}
	if PackExtra("me", nil) != nil {
		t.Error("an Extra of nothing")
	}
	for _, bad := range []string{"[]", `{"me":5}`, "{"} {
		if own, foreign := UnpackExtra([]byte(bad), "me"); own != nil || !foreign {
			t.Errorf("%s: %v %v", bad, own, foreign)
		}
	}
}

func TestEstimate(t *testing.T) {
	small := utp.Request{Messages: []utp.Message{utp.NewText(utp.User, "How many tokens?")}}
	large := small
	large.Tools = []utp.Tool{{Name: "f", Schema: []byte(`{"type":"object"}`)}}
	large.Messages = append(large.Messages, utp.Message{Role: utp.ToolRole, Parts: []utp.Part{utp.Result{Parts: []utp.Part{utp.Text{Text: strings.Repeat("x", 400)}, utp.Blob{}}}}})
	if a, b := Estimate(&small), Estimate(&large); a != 8 || b < 1108 || b > 1140 {
		t.Error(a, b)
	}
}
