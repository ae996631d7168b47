package serving_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
)

// keys lists the keys of a table, below a prefix.
func keys(t reflect.Type, prefix string) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("toml")
		switch elem := f.Type; {
		case name == "-":
		case f.Anonymous:
			out = append(out, keys(f.Type, prefix)...)
		case elem.Kind() == reflect.Struct:
			out = append(out, keys(elem, prefix+name+".")...)
		case elem.Kind() == reflect.Map:
			out = append(out, keys(elem.Elem(), prefix+name+".NAME.")...)
		case elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Struct:
			out = append(out, keys(elem.Elem(), prefix+name+".")...)
		default:
			out = append(out, prefix+name)
		}
	}
	return out
}

func TestEveryKeyIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	all := keys(reflect.TypeFor[serving.File](), "")
	if len(all) < 30 {
		t.Errorf("only %d keys: %v", len(all), all)
	}
	for _, key := range all {
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/gateway.md says nothing of the key %s", key)
		}
	}
}
