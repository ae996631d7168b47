package history

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
)

func TestUnmark(t *testing.T) {
	for in, want := range map[string]string{"ERROR: no": "no true", `{"error":"x"}`: `{"error":"x"} true`, `{"error":null}`: `{"error":null} false`, "fine": "fine false", "": " false"} {
		plain, failed := Unmark(in)
		if got := fmt.Sprint(plain, " ", failed); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// A failure comes back from its mark, wherever the first text stands.
func TestMarkedComesBack(t *testing.T) {
	blob := utp.Blob{MIME: "image/png", Data: []byte{1}}
	for _, parts := range [][]utp.Part{{utp.Text{Text: "no such file"}}, {utp.Text{Text: "see"}, blob}, {blob}, {utp.Text{Text: "a"}, utp.Text{Text: "b"}}} {
		for _, status := range []utp.Status{utp.StatusOK, utp.StatusFailed} {
			marked, at := Marked(utp.Result{Status: status, Parts: parts}, make([]string, len(parts)))
			if len(marked) != len(at) {
				t.Error(marked, at)
			}
			got := Unmarked(utp.Result{Status: utp.StatusOK, Parts: marked})
			if diff := cmp.Diff(utp.Result{Status: status, Parts: parts}, got); diff != "" {
				t.Error(diff)
			}
		}
	}
	if p, _ := Marked(utp.Result{Status: utp.StatusOK}, nil); len(p) != 1 || p[0].(utp.Text).Text != "(empty)" {
		t.Error(p)
	}
}
