package gateway

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/learn"
)

// fill gives every field that a package outside can set a value.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":1}`))
	case v.Type() == reflect.TypeFor[[]utp.Part]():
		v.Set(reflect.ValueOf([]utp.Part{utp.Text{Text: "inside"}}))
	case v.Type() == reflect.TypeFor[[]byte]():
		v.SetBytes([]byte("bytes\x00\xff"))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case v.Kind() == reflect.String:
		v.SetString("text")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(3)
	case v.CanFloat():
		v.SetFloat(0.5)
	}
}

func filled[T utp.Part]() utp.Part {
	var p T
	fill(reflect.ValueOf(&p).Elem())
	return p
}

// What is kept comes back from State as it was, with every field of every part.
func TestKeptComesBackWhole(t *testing.T) {
	parts := []utp.Part{filled[utp.Text](), filled[utp.Think](), filled[utp.Call](), filled[utp.Result](), filled[utp.Blob](), filled[utp.Unknown]()}
	var m utp.Message
	fill(reflect.ValueOf(&m).Elem())
	m.Role, m.Parts = utp.RoleAssistant, parts
	call, _ := filled[utp.Call]().(utp.Call)
	for _, k := range []*kept{{messages: []utp.Message{m, m}}, {thoughts: []utp.Part{filled[utp.Think](), filled[utp.Think]()}, call: call}, {pick: learn.Pick{Form: "hermes", Why: "best", Trial: true}}, {target: "a\x1fm"}} {
		b, err := k.marshal()
		if err != nil {
			t.Fatal(err)
		}
		var got kept
		if err := got.unmarshal(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(k, &got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("(-kept +got):\n%s", diff)
		}
	}
}
