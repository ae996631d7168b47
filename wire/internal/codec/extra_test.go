package codec

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

func TestExtraBelongsToItsProvider(t *testing.T) {
	f := shape.Fields{{Name: "a", Value: []byte("1")}, {Name: "b", Value: []byte(`"x"`)}}
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
