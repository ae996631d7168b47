package codec

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

func tools(names ...string) (out []utp.Tool) {
	for _, n := range names {
		out = append(out, utp.Tool{Name: n})
	}
	return out
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 100)
	n, err := NewNames(tools("a.b", "a_b", "a/b", long, "ok"), 64)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range []string{"a.b", "a_b", "a/b", long, "ok"} {
		out := n.Out(name)
		if !legal(out, 64) || seen[out] || n.In(out) != name {
			t.Errorf("%q → %q → %q", name, out, n.In(out))
		}
		seen[out] = true
	}
	if n.Out("a_b") != "a_b" || n.Out("ok") != "ok" {
		t.Error("a legal name was changed")
	}
	if got := n.Out("gone.tool"); got != "gone_tool" {
		t.Errorf("a tool of an old message: %q", got)
	}
	if n.In("unknown") != "unknown" {
		t.Error("an unknown name was changed")
	}
}

func TestNamesThatCannotBeSent(t *testing.T) {
	for want, list := range map[string][]utp.Tool{"tools[1]: the name is missing": tools("a", ""), `tools[2]: a second tool named "a"`: tools("a", "b", "a")} {
		if _, err := NewNames(list, 64); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestNamesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.StringN(1, 90, -1), 1, 8, rapid.ID[string]).Draw(t, "names")
		n, err := NewNames(tools(list...), 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range list {
			if out := n.Out(name); !legal(out, 64) || n.In(out) != name {
				t.Fatalf("%q → %q → %q", name, out, n.In(out))
			}
		}
	})
}

func TestIDs(t *testing.T) {
	short, fixed := ShortIDs(40), FixedIDs(9)
	for _, id := range []string{"call_1", "a-b_C9"} {
		if short(id) != id {
			t.Errorf("%q became %q", id, short(id))
		}
	}
	for _, id := range []string{"functions.get_weather:0", strings.Repeat("x", 41), "", "ü"} {
		if got := short(id); !legal(got, 40) || got != short(id) {
			t.Errorf("%q became %q", id, got)
		}
		if got := fixed(id); len(got) != 9 || !legal(got, 9) {
			t.Errorf("%q became %q", id, got)
		}
	}
	own := OwnIDs(40)
	if kimi := "functions.get_weather:0"; own(kimi) != kimi || own("a b") != short("a b") || own("ü") != short("ü") || own("") != short("") || len(own(strings.Repeat(":", 41))) > 40 {
		t.Error("visible ids of a server stay, others do not")
	}
	if fixed("123456789") != "123456789" || fixed("1234567_9") == "1234567_9" {
		t.Error("nine letters and digits stay, others do not")
	}
}
