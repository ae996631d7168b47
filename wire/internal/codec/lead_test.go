package codec

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

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
