package sdktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/pagination"
)

// expected checks that a value which an SDK of Stainless' making has read holds
// every field that its type requires, and none that it does not know. The
// allowed names may be missing or unknown.
func expected(v any, allowed ...string) error {
	return errors.Join(unexpected(reflect.ValueOf(v), "", allowed)...)
}

func unexpected(v reflect.Value, path string, allowed []string) (errs []error) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return unexpected(v.Elem(), path, allowed)
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, unexpected(v.Index(i), fmt.Sprintf("%s[%d]", path, i), allowed)...)
		}
	case reflect.Struct:
		return fields(v, path, allowed)
	}
	return errs
}

// field is the state of a field that both SDKs keep under JSON.
type field interface {
	Valid() bool
	Raw() string
}

func fields(v reflect.Value, path string, allowed []string) (errs []error) {
	meta := v.FieldByName("JSON")
	if !meta.IsValid() || meta.Kind() != reflect.Struct {
		return nil
	}
	if extra := meta.FieldByName("ExtraFields"); extra.IsValid() {
		for _, key := range extra.MapKeys() {
			if !slices.Contains(allowed, key.String()) {
				errs = append(errs, fmt.Errorf("%s has the unknown field %s", path, key))
			}
		}
	}
	for i := range v.NumField() {
		def := v.Type().Field(i)
		state, ok := stateOf(meta, def.Name)
		if !ok {
			continue
		}
		name := strings.Split(def.Tag.Get("json"), ",")[0]
		at := path + "." + name
		switch {
		case state.Raw() == "" && slices.Contains(allowed, name):
		case state.Raw() == "" && def.Tag.Get("api") == "required":
			errs = append(errs, fmt.Errorf("%s is missing", at))
		case state.Raw() != "" && state.Raw() != "null" && !state.Valid():
			errs = append(errs, fmt.Errorf("%s is not of the SDK's type: %s", at, state.Raw()))
		case state.Valid():
			errs = append(errs, unexpected(v.Field(i), at, allowed)...)
		}
	}
	return errs
}

func stateOf(meta reflect.Value, name string) (field, bool) {
	f := meta.FieldByName(name)
	if !f.IsValid() || !f.CanInterface() {
		return nil, false
	}
	state, ok := f.Interface().(field)
	return state, ok
}

func TestExpectedFindsWhatIsWrong(t *testing.T) {
	for body, want := range map[string]string{
		`{"id":"a","object":"model","created":1,"owned_by":"b"}`:            "",
		`{"id":"a","object":"model","created":1,"owned_by":"b","extra":1}`:  " has the unknown field extra",
		`{"id":"a","object":"model","created":1}`:                           ".owned_by is missing",
		`{"id":"a","object":"model","created":{"no":1},"owned_by":"b"}`:     `.created is not of the SDK's type: {"no":1}`,
		`{"data":[{"id":"a","object":"model","created":1,"owned_by":"b"}]}`: "",
		`{"data":[{"id":"a","object":"model","owned_by":"b"}]}`:             ".data[0].created is missing",
	} {
		var v any = new(openai.Model)
		if strings.HasPrefix(body, `{"data"`) {
			v = new(pagination.Page[openai.Model])
		}
		if err := json.Unmarshal([]byte(body), v); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := expected(v, "object"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
