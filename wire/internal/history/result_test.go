package history

import (
	"fmt"
	"testing"
)

func TestUnmark(t *testing.T) {
	for in, want := range map[string]string{"ERROR: no": "no true", `{"error":"x"}`: `{"error":"x"} true`, `{"error":null}`: `{"error":null} false`, "fine": "fine false", "": " false"} {
		plain, failed := Unmark(in)
		if got := fmt.Sprint(plain, " ", failed); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}
