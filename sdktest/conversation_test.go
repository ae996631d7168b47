package sdktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// conversations are folders of the codecs' own tests: a request, the reply to
// it, and how each provider writes that reply.
const conversations = "../wire/testdata"

// carried are the conversations that a program can have with every SDK, up to
// what a client's lacks name.
var carried = []string{
	"one_call", "parallel", "no_arguments", "sequential_turns", "error_result", "image_result", "unicode",
	"thinking", "names", "cached_usage", "length_stop", "big_integers", "choice_required", "choice_one", "choice_none", "custom_tool",
}

type conversation struct {
	name    string
	Request utp.Request `json:"request"`
	Reply   utp.Reply   `json:"reply"`
}

func load(t *testing.T, name string) conversation {
	t.Helper()
	c := conversation{name: name}
	b, err := os.ReadFile(filepath.Join(conversations, name, "utp.json"))
	if err != nil {
		t.Fatal(err)
	}
	var flat bytes.Buffer // white space would count inside arguments
	if err := json.Compact(&flat, b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(flat.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// answer is what a program gets of a reply through an SDK.
type answer struct {
	Text  string `json:"text"`
	Think string `json:"think"`
	Calls []call `json:"calls"`
	Stop  string `json:"stop"` // in the SDK's words
	In    int    `json:"in"`   // tokens, as the SDK counts them
	Out   int    `json:"out"`
}

type call struct {
	Name string `json:"name"`
	Args any    `json:"args"` // as encoding/json reads them
}

// value reads JSON as a program without a type for it would.
func value(raw []byte) any {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Sprintf("not JSON: %v: %s", err, raw)
	}
	return v
}

// wanted is the answer that a client should give of a reply.
func (s *sdk) wanted(r utp.Reply) answer {
	a := answer{Stop: s.stops[r.Stop]}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case utp.Text:
			a.Text += p.Text
		case utp.Think:
			a.Think += p.Text
		case utp.Call:
			a.Calls = append(a.Calls, call{p.Name, value(p.Args)})
		}
	}
	a.In, a.Out = s.counts(r.Usage)
	return a
}

// told lists what a request says, a line a part. Calls stand with their
// arguments, and results with the place of their call in the conversation, so
// that ids may differ but not the pairs.
func (s *sdk) told(r *utp.Request) (lines []string) {
	place, system := map[string]int{}, ""
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if call, ok := p.(utp.Call); ok {
				place[call.ID] = len(place) + 1
			}
		}
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if text, ok := p.(utp.Text); ok && m.Role == utp.RoleSystem {
				system = strings.TrimPrefix(system+"\n"+text.Text, "\n")
				continue
			}
			lines = append(lines, s.line(m.Role, p, place)...)
		}
	}
	return append([]string{"system: " + system}, lines...)
}

func (s *sdk) line(role utp.Role, p utp.Part, place map[string]int) []string {
	switch p := p.(type) {
	case utp.Text:
		return []string{fmt.Sprintf("%s: %s", role, p.Text)}
	case utp.Blob:
		return []string{fmt.Sprintf("%s: a file of %d bytes %s", role, len(p.Data), p.URL)}
	case utp.Call:
		return []string{fmt.Sprintf("call %d: %s %s", place[p.ID], odd.ReplaceAllString(p.Name, "_"), canonical(p.Args))}
	case utp.Result:
		return []string{s.result(p, place)}
	}
	return nil // reasoning is its maker's
}

func (s *sdk) result(r utp.Result, place map[string]int) string {
	failed := s.errors && r.Status != utp.StatusOK && r.Status != ""
	out := fmt.Sprintf("result %d, failed %t: %s", place[r.CallID], failed, unwrapped(r.Text()))
	for _, p := range r.Parts {
		if b, ok := p.(utp.Blob); ok {
			out += fmt.Sprintf(" and a file of %d bytes", len(b.Data))
		}
	}
	return out
}

// odd is what a tool's name cannot have everywhere.
var odd = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// unwrapped is a result's text without what an API has to put around it: the
// white space of JSON, a word for nothing, the object of an error.
func unwrapped(text string) string {
	var failure struct{ Error string }
	var b bytes.Buffer
	switch {
	case text == "(empty)":
		return ""
	case json.Unmarshal([]byte(text), &failure) == nil && failure.Error != "":
		return failure.Error
	case json.Compact(&b, []byte(text)) == nil:
		return b.String()
	}
	return text
}

// canonical writes JSON with sorted keys and numbers as a float64 has them.
func canonical(raw []byte) string {
	b, err := json.Marshal(value(raw))
	if err != nil {
		return err.Error()
	}
	return string(b)
}
