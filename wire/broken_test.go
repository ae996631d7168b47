package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// refusal reads a body that must be refused, and checks that the error is one of
// the client's and in the API's own shape.
func refusal(t *testing.T, p api, body []byte) *wire.InputError {
	t.Helper()
	_, _, err := p.front.Read(wire.HTTPRequest{Method: "POST", Path: "/v1beta/models/m:generateContent", Body: body})
	var in *wire.InputError
	if !errors.As(err, &in) {
		t.Errorf("%s: %.80s: %v", p.name, body, err)
		return &wire.InputError{Offset: -1}
	}
	if in.Offset > len(body) || in.Offset < 0 && in.Path == "" {
		t.Errorf("%s: %.80s: %+v is nowhere", p.name, body, in)
	}
	status, reply := p.front.Error(err)
	if status != 400 || !inOwnShape(p.name, reply, in.Error()) {
		t.Errorf("%s: %.80s: %d %s", p.name, body, status, reply)
	}
	return in
}

// inOwnShape reports whether an error is as the API's documentation has it.
func inOwnShape(name string, reply []byte, message string) bool {
	var j struct {
		Type  string
		Error json.RawMessage
	}
	var e struct {
		Type, Message, Status string
		Code                  any
		Param                 *string
	}
	if json.Unmarshal(reply, &j) != nil {
		return false
	}
	if name == "ollama" {
		return json.Unmarshal(j.Error, &e.Message) == nil && e.Message == message
	}
	if json.Unmarshal(j.Error, &e) != nil || e.Message != message {
		return false
	}
	switch name {
	case "anthropic":
		return j.Type == "error" && e.Type == "invalid_request_error"
	case "gemini":
		return e.Code == 400.0 && e.Status == "INVALID_ARGUMENT"
	}
	return e.Type == "invalid_request_error"
}

// A client's broken request is an error that says where, in the API's own shape.
func TestFrontsSayWhatIsWrong(t *testing.T) {
	for _, p := range apis {
		for name, body := range map[string]string{
			"nothing": "", "no object": `[1]`, "cut": `{"model":"m","messages":[{"role":"us`, "a number": `{"model":5}`, "NaN": `{"temperature":NaN}`,
			"not UTF-8": "{\"model\":\"\xff\"}", "junk": `{} {}`, "deep": `{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
			"role":    `{"model":"m","messages":[{"role":"robot","content":""}],"input":[{"role":"robot","content":""}],"contents":[{"role":"robot","parts":[]}]}`,
			"twice":   `{"model":"m","messages":[],"input":[],"contents":[],"tools":[` + twice[p.name] + `]}`,
			"unnamed": `{"model":"m","messages":[],"input":[],"contents":[],"tools":[` + strings.ReplaceAll(twice[p.name], `"name":"f"`, `"name":""`) + `]}`,
		} {
			in := refusal(t, p, []byte(body))
			switch {
			case name == "role" && (!strings.HasSuffix(in.Path, "[0].role") || in.Offset <= 0):
				t.Errorf("%s: %s: %+v", p.name, name, in)
			case (name == "twice" || name == "unnamed") && (!named.MatchString(in.Path) || body[in.Offset] != '{' || !strings.Contains(in.Want, "name")):
				t.Errorf("%s: %s: %+v", p.name, name, in)
			}
		}
	}
}

// named is where the name of a tool stands.
var named = regexp.MustCompile(`^tools\[\d\](\.functionDeclarations\[\d\]|\.function)?\.name$`)

var twice = map[string]string{
	"anthropic": `{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}`,
	"responses": `{"type":"function","name":"f"},{"type":"function","name":"f"}`,
	"openai":    `{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}`,
	"ollama":    `{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}`,
	"gemini":    `{"functionDeclarations":[{"name":"f"},{"name":"f"}]}`,
}

// eachRequest runs f for each request of testdata that a client of p could send.
func eachRequest(t *testing.T, f func(t *testing.T, p api, body []byte)) {
	for _, p := range apis {
		files, err := filepath.Glob("testdata/*/" + p.name + ".request.json")
		if err != nil || len(files) < 40 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(filepath.Dir(file))+"/"+p.name, func(t *testing.T) { f(t, p, compact(t, read(t, file))) })
		}
	}
}

// A request that is cut anywhere is refused, and where it ends is said.
func TestACutRequestIsRefused(t *testing.T) {
	eachRequest(t, func(t *testing.T, p api, body []byte) {
		for n := 0; n < len(body); n += 7 {
			if in := refusal(t, p, body[:n]); in.Offset != n && bytes.HasPrefix(body, []byte(`{`)) && in.Offset < n-len(`"\ud83d`) {
				t.Errorf("%s: cut at %d: %v", p.name, n, in)
			}
		}
	})
}

// Every value of a request is replaced by one of another type. It is refused at
// its place, or taken where the API takes more than one type.
func TestAValueOfTheWrongTypeIsRefusedAtItsPlace(t *testing.T) {
	seen := map[string]bool{} // a field of each kind of object is tried once
	eachRequest(t, func(t *testing.T, p api, body []byte) {
		for _, v := range scalars(t, body) {
			field := p.name + digits.ReplaceAllString(v.path, "")
			if seen[field] {
				continue
			}
			seen[field] = true
			for _, wrong := range []string{`{"wrong":1}`, `[[]]`, `17`, `"wrong"`, `true`} {
				broken := append(append(append([]byte(nil), body[:v.start]...), wrong...), body[v.end:]...)
				r, _, err := p.front.Read(wire.HTTPRequest{Method: "POST", Path: "/v1beta/models/m:generateContent", Body: broken})
				if err == nil {
					opens(t, p, r, broken)
					continue
				}
				in := refusal(t, p, broken)
				if !strings.HasPrefix(v.path, in.Path) && !strings.HasPrefix(in.Path, v.path) && !besides(v.path, in.Path) {
					t.Errorf("%s: %s = %s: %v", p.name, v.path, wrong, in)
				}
				if in.Offset > v.start+len(wrong) {
					t.Errorf("%s: %s = %s at %d: %v", p.name, v.path, wrong, v.start, in)
				}
			}
		}
	})
}

var digits = regexp.MustCompile(`\d+`)

// besides reports paths in one object: the kind of a part says what must stand
// beside it.
func besides(a, b string) bool {
	cut := func(s string) string { return s[:max(0, strings.LastIndexByte(s, '.'))] }
	return strings.HasPrefix(b, cut(a)) || strings.HasPrefix(a, cut(b))
}

// opens checks that what was taken can be written for every API.
func opens(t *testing.T, p api, r *utp.Request, body []byte) {
	t.Helper()
	for _, to := range apis {
		if x, err := to.back.Open(r); err != nil || !json.Valid(x.Body) {
			t.Errorf("%s to %s: %s: %v", p.name, to.name, body, err)
		}
	}
}

// scalar is a text, number, true, false or null in a body.
type scalar struct {
	path       string
	start, end int
}

func scalars(t *testing.T, body []byte) (out []scalar) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var walk func(path string)
	walk = func(path string) {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			for d.More() {
				key, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				walk(strings.TrimPrefix(fmt.Sprintf("%s.%s", path, key), "."))
			}
			_, _ = d.Token()
		case json.Delim('['):
			for i := 0; d.More(); i++ {
				walk(fmt.Sprintf("%s[%d]", path, i))
			}
			_, _ = d.Token()
		default:
			start := before + bytes.IndexFunc(body[before:], func(r rune) bool { return !strings.ContainsRune(" :,", r) })
			out = append(out, scalar{path, start, int(d.InputOffset())})
		}
	}
	walk("")
	return out
}

// A long request is read, and where it is broken is said to the byte.
func TestTenMegabytes(t *testing.T) {
	for _, p := range apis {
		x, err := p.back.Open(&utp.Request{Model: "m", Messages: []utp.Message{utp.NewText(utp.RoleUser, strings.Repeat("ten\n", 10<<20/4))}})
		if err != nil {
			t.Fatal(err)
		}
		r := post(t, p, "m", false, x.Body)
		if last := r.Messages[len(r.Messages)-1]; len(last.Text()) != 10<<20 {
			t.Errorf("%s: %d bytes", p.name, len(last.Text()))
		}
		body := append(x.Body[:len(x.Body)-1], `,"x":NaN`...)
		if in := refusal(t, p, body); in.Offset != len(body)-len("NaN") {
			t.Errorf("%s: %v, want offset %d", p.name, in, len(body)-len("NaN"))
		}
	}
}

// No number is written that JSON does not have.
func TestNaNIsNotWritten(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, p := range apis {
		x, err := p.back.Open(&utp.Request{Model: "m", Messages: []utp.Message{utp.NewText(utp.RoleUser, "x")}, Params: utp.Params{Temperature: &nan, TopP: &inf}})
		if err != nil {
			continue // refused is well too
		}
		if !json.Valid(x.Body) {
			t.Errorf("%s: %s", p.name, x.Body)
		}
		if r := post(t, p, "m", false, x.Body); r.Params.Temperature != nil && math.IsNaN(*r.Params.Temperature) {
			t.Errorf("%s: %s", p.name, x.Body)
		}
	}
}
