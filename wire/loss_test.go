package wire_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
)

// The report is exact: a client's request is read, written for another provider,
// and read as that provider reads it. What differs then is in the losses, and
// every loss is a difference.
func TestTheLossesAreWhatIsLost(t *testing.T) {
	eachAPI(t, func(t *testing.T, dir string, c conversation, from api) {
		first, err := from.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		sent := post(t, from, c.Request.Model, c.Request.Stream, first.Body)
		for _, to := range servers {
			x, err := to.back.Open(sent)
			if err != nil {
				t.Fatal(err)
			}
			got := post(t, to, sent.Model, sent.Stream, x.Body)
			for _, wrong := range unexplained(differences(sent, got), x.Losses) {
				t.Errorf("%s to %s: %s", from.name, to.name, wrong)
			}
			for _, l := range x.Losses {
				if !exists(sent, l.Path) {
					t.Errorf("%s to %s: there is no %s", from.name, to.name, l.Path)
				}
			}
		}
	})
}

// Of a request that did not come from a client at all the same holds.
func TestTheLossesOfOurOwnRequests(t *testing.T) {
	eachAPI(t, func(t *testing.T, dir string, c conversation, to api) {
		x, err := to.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		got := post(t, to, c.Request.Model, c.Request.Stream, x.Body)
		for _, wrong := range unexplained(differences(&c.Request, got), x.Losses) {
			t.Errorf("%s: %s", to.name, wrong)
		}
	})
}

var inMessages = regexp.MustCompile(`^messages(?:\[(\d+)\](?:\.parts\[(\d+)\])?|$)`)

// exists reports whether a path that leads into the messages of a request leads to
// something that is there.
func exists(r *utp.Request, path string) bool {
	m := inMessages.FindStringSubmatch(path)
	if m == nil || m[1] == "" {
		return true
	}
	i, _ := strconv.Atoi(m[1])
	k, _ := strconv.Atoi(m[2])
	return i < len(r.Messages) && (m[2] == "" || k < len(r.Messages[i].Parts))
}

// place is the part of a path at which a loss is compared: a field of a tool, a
// parameter, or the messages.
func place(path string) string {
	switch {
	case inMessages.MatchString(path):
		return "messages"
	case strings.HasPrefix(path, "tools["):
		tool, field, _ := strings.Cut(path, ".")
		field, _, _ = strings.Cut(field, ".")
		return tool + "." + field
	}
	path, _, _ = strings.Cut(path, "[")
	if fields := strings.SplitN(path, ".", 3); fields[0] == "params" && len(fields) > 2 {
		return "params." + fields[1]
	}
	return path
}

// message is the message in a path.
var message = regexp.MustCompile(`messages\[\d+\]`)

// unexplained lists losses that are none, and differences that are not told.
func unexplained(differ map[string]string, losses []wire.Loss) (wrong []string) {
	told := map[string]bool{}
	for _, l := range losses {
		told["all"] = told["all"] || l.Path == "messages"
		told[place(l.Path)], told[message.FindString(l.Path)] = true, true
		if strings.HasPrefix(l.What, "a budget of") {
			continue // the same word for another number
		}
		if !explains(place(l.Path), differ) {
			wrong = append(wrong, fmt.Sprintf("a loss where nothing is lost: %+v\n%v", l, differ))
		}
	}
	for at, what := range differ {
		tool, _, _ := strings.Cut(at, ".")
		whole := strings.HasPrefix(at, "tools[") && (told[tool+"."] || told["tools"] || told["choice.allowed"])
		anyOf := slices.ContainsFunc(message.FindAllString(at, -1), func(m string) bool { return told[m] || told["all"] })
		anyOf = anyOf || told["choice.mode"] && strings.HasPrefix(at, "choice.")
		if !told[at] && !whole && !anyOf {
			wrong = append(wrong, fmt.Sprintf("%s is not told: %s\n%v", at, what, losses))
		}
	}
	return wrong
}

// explains reports whether there is a difference for a loss: of one that tells of
// a whole tool, or of all, any of it.
func explains(at string, differ map[string]string) bool {
	if _, ok := differ[at]; ok {
		return true
	}
	for d := range differ {
		if strings.HasSuffix(at, ".") && strings.HasPrefix(d, at) || (at == "tools" || at == "choice.allowed") && strings.HasPrefix(d, "tools[") {
			return true
		}
	}
	return false
}

// differences are what a request lost on its way, by place.
func differences(was, is *utp.Request) map[string]string {
	out := map[string]string{}
	note := func(at string, a, b any) {
		if x, y := spell(a), spell(b); x != y {
			out[at] = x + " became " + y
		}
	}
	for i, t := range was.Tools {
		at := fmt.Sprintf("tools[%d].", i)
		now, found := sameTool(was, is, t)
		if !found {
			out[at] = "gone"
			continue
		}
		note(at+"name", t.Name, now.Name)
		note(at+"parameters", normal(t.Schema), normal(now.Schema))
		note(at+"strict", t.Strict != nil && *t.Strict, now.Strict != nil && *now.Strict)
		note(at, t.Kind, now.Kind)
		for _, f := range extras(t.Extra, now.Extra) {
			out[at+f] = "gone"
		}
	}
	choice, now := wide(was.Choice), wide(is.Choice)
	if len(was.Tools) > 0 {
		note("choice.mode", choice.Mode, now.Mode)
		if len(choice.Allowed) == 1 && len(now.Allowed) == 1 {
			note("choice.name", called(was, is, choice.Allowed[0]), now.Allowed[0])
		}
		note("choice.allowed", len(choice.Allowed), len(now.Allowed))
		if choice.Mode != utp.ChoiceNone {
			note("choice.parallel", choice.Parallel != nil && !*choice.Parallel, now.Parallel != nil && !*now.Parallel)
		}
	}
	p, q := was.Params, is.Params
	if p.MaxTokens != nil { // else some APIs want one
		note("params.max_tokens", p.MaxTokens, q.MaxTokens)
	}
	note("params.temperature", p.Temperature, q.Temperature)
	note("params.top_p", p.TopP, q.TopP)
	note("params.top_k", p.TopK, q.TopK)
	note("params.seed", p.Seed, q.Seed)
	note("params.stop", p.Stop, q.Stop)
	note("params.effort", p.Effort, q.Effort)
	note("params.presence_penalty", p.Presence, q.Presence)
	note("params.frequency_penalty", p.Frequency, q.Frequency)
	note("params.schema", normal(p.Schema), normal(q.Schema))
	if p.SchemaName != "" { // else some APIs want one
		note("params.schema_name", p.SchemaName, q.SchemaName)
	}
	note("params.schema_description", p.SchemaAbout, q.SchemaAbout)
	if len(q.Schema) > 0 && p.SchemaHeld != nil && *p.SchemaHeld {
		note("params.schema_strict", true, q.SchemaHeld != nil && *q.SchemaHeld)
	}
	note("params.context", p.Context, q.Context)
	note("params.user", p.User, q.User)
	note("model", was.Model, is.Model)
	note("stream", was.Stream, is.Stream)
	for _, f := range extras(was.Extra, is.Extra) {
		out[f] = "gone"
	}
	before, of := said(was, was)
	after, _ := said(was, is)
	for _, line := range removed(before, after) {
		at := "" // every message that says the same
		for i, same := range before {
			if same == line && of[i] >= 0 && !isWords.MatchString(line) {
				at += fmt.Sprintf("messages[%d]", of[i])
			}
		}
		if at != "" {
			out[at] = line
		}
	}
	after = slices.DeleteFunc(after, func(line string) bool { // what the other API adds
		return (strings.Contains(line, "extra ") || line == endsBlank) && !slices.Contains(before, line)
	})
	if a, b := strings.Join(before, "\n"), strings.Join(after, "\n"); a != b {
		out["messages"] = a + "\nbecame\n" + b
	}
	return out
}

// wide is a choice in which a named tool is the only one of which a call is required.
func wide(c utp.Choice) utp.Choice {
	if c.Mode == utp.ChoiceNamed {
		c.Mode, c.Name, c.Allowed = utp.ChoiceRequired, "", []string{c.Name}
	}
	return c
}

// called is the name that a tool of was has in is.
func called(was, is *utp.Request, name string) string {
	now, _ := sameTool(was, is, utp.Tool{Name: name})
	return now.Name
}

func spell(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if string(b) == "null" || string(b) == `""` {
		return "nothing"
	}
	return string(b)
}

// sameTool finds a tool of was in is: by its description, else by its name.
func sameTool(was, is *utp.Request, t utp.Tool) (utp.Tool, bool) {
	for _, now := range is.Tools {
		if base, _, _ := strings.Cut(now.Description, "\n"); t.Description != "" && base == t.Description || now.Name == t.Name {
			return now, true
		}
	}
	for _, other := range was.Tools {
		if other.Name == t.Name && other.Description != "" && t.Description == "" {
			return sameTool(was, is, other)
		}
	}
	return utp.Tool{}, false
}

// extras are the fields in an Extra that are gone, without the marks.
func extras(was, is json.RawMessage) (out []string) {
	fields := func(raw json.RawMessage) map[string]string {
		var j map[string]map[string]json.RawMessage
		_ = json.Unmarshal(raw, &j)
		out := map[string]string{}
		for provider, own := range j {
			var forms map[string]json.RawMessage
			_ = json.Unmarshal(own["as"], &forms)
			delete(own, "as")
			delete(own, "mark")
			for _, m := range []map[string]json.RawMessage{own, forms} {
				for f, v := range m {
					out[provider+" "+f] = string(v)
				}
			}
		}
		return out
	}
	have := fields(is)
	for f, v := range fields(was) {
		if have[f] != v && v != "null" {
			_, name, _ := strings.Cut(f, " ")
			out = append(out, name)
		}
	}
	return out
}

// normal is a schema in one of its spellings: references written out, the
// alternatives of type in order, a missing one an object without properties.
func normal(schema json.RawMessage) string {
	if len(schema) == 0 {
		return normal(json.RawMessage(`{"type":"object","properties":{}}`))
	}
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return string(schema)
	}
	b, _ := json.Marshal(normalValue(root, root, 0))
	return string(b)
}

func normalValue(v any, root map[string]any, deep int) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normalValue(v[i], root, deep)
		}
		return out
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && deep < 3 {
			target := any(root)
			for _, step := range strings.Split(ref, "/")[1:] {
				target, _ = target.(map[string]any)[step].(map[string]any)
			}
			return normalValue(target, root, deep+1)
		}
		out := map[string]any{}
		for k, x := range v {
			if k != "$defs" && (k != "properties" || len(x.(map[string]any)) > 0) {
				out[k] = normalValue(x, root, deep)
			}
		}
		if list, ok := out["type"].([]any); ok {
			sort.Slice(list, func(i, k int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[k]) })
		}
		return out
	}
	return v
}

// said are the messages as lines: what each says, and how many there are of each
// speaker. Names are those of the tools in was.
func said(was, r *utp.Request) (lines []string, of []int) {
	turns := map[utp.Role]int{}
	counts := map[string]int{}
	calls := map[string][]string{}
	system, front := "", true
	for i, m := range r.Messages {
		if m.Role == utp.RoleUser || m.Role == utp.RoleAssistant {
			turns[m.Role]++
		}
		switch front = front && m.Role == utp.RoleSystem; {
		case front:
			system += "\n" + m.Text()
		case m.Role == utp.RoleSystem && squeeze(m.Text()) != "":
			lines = append(lines, "system "+squeeze(m.Text()))
		}
		for _, f := range extras(m.Extra, nil) {
			lines = append(lines, "extra "+f)
		}
		lines = append(lines, saidParts(was, r, m, counts, calls)...)
		for len(of) < len(lines) {
			of = append(of, i)
		}
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == utp.RoleAssistant {
		last := utp.Message{Parts: slices.DeleteFunc(slices.Clone(r.Messages[n-1].Parts), isBlank)}.Text()
		if strings.TrimRight(last, " \n") != last {
			lines = append(lines, endsBlank)
		}
	}
	lines = append(lines, "system "+squeeze(asked.ReplaceAllString(system, "")), fmt.Sprintf("user %d assistant %d", turns[utp.RoleUser], turns[utp.RoleAssistant]))
	for len(of) < len(lines) {
		of = append(of, -1)
	}
	return lines, of
}

const endsBlank = "a beginning that ends in white space"

// isBlank reports a text that says nothing.
func isBlank(p utp.Part) bool { t, ok := p.(utp.Text); return ok && squeeze(t.Text) == "" }

// isWords tells the texts, which move when messages are merged.
var isWords = regexp.MustCompile(`^(user|assistant|system) `)

// removed lists the lines of before that are not in after.
func removed(before, after []string) (out []string) {
	left := map[string]int{}
	for _, line := range after {
		left[line]++
	}
	for _, line := range before {
		if left[line]--; left[line] < 0 {
			out = append(out, line)
		}
	}
	return out
}

// asked is what stands for a choice or a schema that cannot be said; that it is
// lost is told of these.
var asked = regexp.MustCompile(`(?m)^Answer with (a call of|one JSON object) .*$`)

var blanks = regexp.MustCompile(`\s+`)

func squeeze(s string) string { return strings.TrimSpace(blanks.ReplaceAllString(s, " ")) }

func saidParts(was, r *utp.Request, m utp.Message, counts map[string]int, calls map[string][]string) (lines []string) {
	var texts []string
	for _, c := range m.Calls() {
		delete(calls, c.ID) // used again
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case utp.Text:
			texts = append(texts, strings.Split(p.Text, "\n")...)
			for _, f := range extras(p.Extra, nil) {
				lines = append(lines, "text extra "+f)
			}
		case utp.Call:
			counts["call"]++
			call := fmt.Sprintf("%s %d", toolName(was, r, p.Name), counts["call"])
			calls[p.ID] = append(calls[p.ID], call)
			args, _ := json.Marshal(p.Args)
			if len(p.Args) == 0 {
				args = []byte(p.RawArgs)
			}
			if input, ok := codec.CustomInput(p); ok && isCustom(was, toolName(was, r, p.Name)) {
				args = []byte(input)
			}
			lines = append(lines, fmt.Sprintf("call %s %s", call, squeeze(string(args))))
			for _, f := range extras(p.Extra, nil) {
				lines = append(lines, "call "+call+" extra "+f)
			}
		case utp.Result:
			of := ""
			if of, calls[p.CallID] = first(calls[p.CallID]); len(calls[p.CallID]) == 0 {
				calls[p.CallID] = []string{of} // a second result of one call
			}
			lines = append(lines, saidResult(p, of)...)
		case utp.Blob:
			lines = append(lines, saidBlob(m.Role, p)...)
		case utp.Think:
			lines = append(lines, fmt.Sprintf("think %q %q", p.Text, p.Signature))
		case utp.Unknown:
			lines = append(lines, "unknown "+p.Provider)
		}
	}
	for _, text := range texts {
		if text = squeeze(text); text != "" && m.Role != utp.RoleSystem {
			lines = append(lines, fmt.Sprintf("%s %s", m.Role, text))
		}
	}
	return lines
}

func first(list []string) (string, []string) {
	if len(list) == 0 {
		return "", nil
	}
	return list[0], list[1:]
}

// toolName is a tool's own name for one under which it was sent in r.
func toolName(was, r *utp.Request, name string) string {
	for _, t := range r.Tools {
		for _, own := range was.Tools {
			if base, _, _ := strings.Cut(t.Description, "\n"); t.Name == name && own.Description != "" && base == own.Description {
				return own.Name
			}
		}
	}
	for _, own := range was.Tools { // one that the choice leaves out
		if strings.TrimPrefix(name, "_") == odd.ReplaceAllString(own.Name, "_") {
			return own.Name
		}
	}
	return name
}

var odd = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

func isCustom(was *utp.Request, name string) bool {
	return slices.ContainsFunc(was.Tools, func(t utp.Tool) bool { return t.Name == name && t.Kind == utp.CustomTool })
}

func saidResult(r utp.Result, call string) (lines []string) {
	text := r.Text()
	words, marked := strings.CutPrefix(text, "ERROR: ") // the mark of those who have no other
	if marked || r.Status == utp.StatusFailed || r.Status == utp.StatusDenied {
		text = "failed: " + words
	}
	var j struct{ Error string }
	if body, failed := strings.CutPrefix(text, "failed: "); failed && json.Unmarshal([]byte(body), &j) == nil && j.Error != "" {
		text = "failed: " + j.Error
	}
	if text == "(empty)" {
		text = ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil {
		text = spell(object)
	}
	if text = squeeze(text); text != "" || len(r.Parts) < 2 {
		lines = append(lines, fmt.Sprintf("result of %s: %s", call, text))
	}
	for _, p := range r.Parts {
		if b, ok := p.(utp.Blob); ok {
			lines = append(lines, saidBlob("result", b)...)
		}
	}
	for _, f := range extras(r.Extra, nil) {
		lines = append(lines, "result extra "+f)
	}
	return lines
}

func saidBlob(where utp.Role, b utp.Blob) []string {
	if b.URL != "" {
		b.MIME = "" // who fetches it will see
	}
	if b.Name == "file" {
		b.Name = "" // where an API wants one
	}
	lines := []string{fmt.Sprintf("%s blob %s %d bytes %s %s", where, b.MIME, len(b.Data), b.URL, b.Name)}
	for _, f := range extras(b.Extra, nil) {
		lines = append(lines, "blob extra "+f)
	}
	return lines
}
