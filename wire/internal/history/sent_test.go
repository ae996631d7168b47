package history

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

var placed = regexp.MustCompile(`^messages\[(\d+)\](?:\.parts\[(\d+)\])?$`)

// exists reports whether a path names a message or a part of in.
func exists(in []utp.Message, path string) bool {
	m := placed.FindStringSubmatch(path)
	if m == nil {
		return false
	}
	i, _ := strconv.Atoi(m[1])
	k, _ := strconv.Atoi(m[2])
	return i < len(in) && (m[2] == "" || k < len(in[i].Parts))
}

// However a history is mended, each part knows where it stood, and each loss
// names a place of the request.
func TestEveryPartKnowsItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in []utp.Message
		for i := range rapid.IntRange(0, 8).Draw(t, "messages") {
			in = append(in, drawMessage(t, i))
		}
		lose := func(path, what, _ string) {
			if !exists(in, path) {
				t.Fatalf("%s: %q is no place of %+v", what, path, in)
			}
		}
		ordered := LiftBlobs(Order(in, nil, lose), lose)
		system, turns := Alternation{}.Turns(ordered, lose)
		for _, m := range append(append(ordered, system...), turns...) {
			if len(m.At) != len(m.Parts) {
				t.Fatalf("%d parts, %d places: %+v", len(m.Parts), len(m.At), m)
			}
			for k, p := range m.Parts {
				stood(t, in, m.At[k], p)
			}
		}
	})
}

// stood checks that a part stands where its place says, if it was not added.
func stood(t *rapid.T, in []utp.Message, path string, p utp.Part) {
	if path == "" {
		return
	}
	if !exists(in, path) {
		t.Fatalf("%q is no place of %+v", path, in)
	}
	m := placed.FindStringSubmatch(path)
	i, _ := strconv.Atoi(m[1])
	k, err := strconv.Atoi(m[2])
	if c, ok := p.(utp.Call); ok && (err != nil || in[i].Parts[k].(utp.Call).Name != c.Name) {
		t.Fatalf("%s is not the place of %+v in %+v", path, c, in)
	}
}

func drawMessage(t *rapid.T, i int) utp.Message {
	m := utp.Message{Role: rapid.SampledFrom([]utp.Role{utp.RoleSystem, utp.RoleUser, utp.RoleAssistant, utp.RoleTool}).Draw(t, "role")}
	for k := range rapid.IntRange(0, 3).Draw(t, "parts") {
		id := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "id")
		switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); {
		case m.Role == utp.RoleTool || m.Role == utp.RoleUser && kind == 0:
			r := utp.Result{CallID: id, Name: "f", Parts: []utp.Part{utp.Text{Text: "r"}}}
			if kind == 1 {
				r.Parts = append(r.Parts, utp.Blob{MIME: "image/png"})
			}
			m.Parts = append(m.Parts, r)
		case m.Role == utp.RoleAssistant && kind > 0:
			m.Parts = append(m.Parts, utp.Call{ID: id, Name: fmt.Sprint("f", i, k)})
		default:
			m.Parts = append(m.Parts, utp.Text{Text: rapid.SampledFrom([]string{"", "x "}).Draw(t, "text")})
		}
	}
	return m
}
