package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Edit replaces what stands at path in the body by what change makes of it; nil
// takes it out, together with an object that it leaves empty. "a.b" is a member of
// a member, "a[].b" one of each element of a list. It reports whether anything
// changed.
func (x *Exchange) Edit(path string, change func(json.RawMessage) json.RawMessage) bool {
	body, changed := edited(x.Body, path, change)
	x.Body = body
	return changed
}

// Put sets a field of the body, or adds it at the end.
func (x *Exchange) Put(name string, value json.RawMessage) {
	if all, err := shape.Members(shape.Value{Raw: x.Body}); err == nil {
		x.Body = all.Set(name, value).Raw()
	}
}

func edited(raw json.RawMessage, path string, change func(json.RawMessage) json.RawMessage) (json.RawMessage, bool) {
	if path == "" {
		now := change(raw)
		return now, !bytes.Equal(now, raw)
	}
	head, rest, _ := strings.Cut(path, ".")
	name, each := strings.CutSuffix(head, "[]")
	all, err := shape.Members(shape.Value{Raw: raw})
	old := all.Get(name)
	if err != nil || old == nil {
		return raw, false
	}
	now, changed := old, false
	if each {
		now, changed = editedList(old, rest, change)
	} else {
		now, changed = edited(old, rest, change)
	}
	switch {
	case !changed:
		return raw, false
	case now == nil, rest != "" && string(now) == "{}":
		if all = all.Without(name); len(all) == 0 {
			return json.RawMessage("{}"), true
		}
		return all.Raw(), true
	}
	return all.Set(name, now).Raw(), true
}

func editedList(raw json.RawMessage, path string, change func(json.RawMessage) json.RawMessage) (json.RawMessage, bool) {
	list, err := shape.Value{Raw: raw}.Elements()
	if err != nil {
		return raw, false
	}
	some := false
	for i, v := range list {
		now, changed := edited(v.Raw, path, change)
		if changed {
			list[i], some = shape.Value{Raw: now}, true
		}
	}
	return shape.List(list).Raw, some
}
