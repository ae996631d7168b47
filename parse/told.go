package parse

import (
	"bytes"
	"encoding/json"
	"html"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// told is what tools and users wrote, read for calls.
type told struct {
	prints map[string]bool // of their calls
	names  map[string]bool // of the tools that were looked for: whether there is a call of it
	calls  int             // that were compared as text
}

// maxCompared is how many calls of a reply are also looked for word for word.
const maxCompared = 64

// wasTold reports whether a tool or a user wrote a call that equals c, in whatever
// dialect and however it came back.
func (p *Parser) wasTold(c *utp.Call, raw string) bool {
	if len(p.cfg.Seen) == 0 {
		return false
	}
	t := p.others
	if t.calls++; t.calls <= maxCompared && p.wasWritten(strings.TrimSpace(raw)) {
		return true
	}
	return p.toldOf(c.Name) && t.prints[foldedPrint(c)]
}

// mayRepeat reports whether others wrote a call of the open call's tool: it waits
// for its end, which tells whether it is the same.
func (p *Parser) mayRepeat() bool {
	return len(p.cfg.Seen) > 0 && !p.cfg.Policy.Repeated && !p.cur.pending && p.toldOf(p.cur.name)
}

// toldOf reports whether others wrote a call of a tool.
func (p *Parser) toldOf(name string) bool {
	t := p.others
	if t.prints == nil {
		t.prints, t.names = map[string]bool{}, map[string]bool{}
	}
	if _, looked := t.names[name]; !looked {
		t.names[name] = p.readTold(name)
	}
	return t.names[name]
}

// wasWritten reports whether the text of a call stands in what others said.
func (p *Parser) wasWritten(raw string) bool {
	return raw != "" && slices.ContainsFunc(p.cfg.Seen, func(s string) bool { return strings.Contains(s, raw) })
}

// readTold reads the texts of others that name a tool. A call may be cut in two by
// the end of a text.
func (p *Parser) readTold(tool string) (found bool) {
	texts := p.cfg.Seen
	if len(texts) > 1 {
		texts = append(slices.Clone(texts), strings.Join(texts, ""))
	}
	name := folded(tool)
	for _, s := range texts {
		if !strings.Contains(folded(s), name) {
			continue
		}
		for _, read := range readings(s) {
			found = p.noteTold(read, tool) || found
		}
	}
	return found
}

// noteTold notes the calls of a text, and reports whether one is of a tool.
func (p *Parser) noteTold(s, tool string) (found bool) {
	machines := []*machine{all(false)}
	if p.m != machines[0] {
		machines = append(machines, p.m)
	}
	for _, m := range machines {
		c := *p.cfg
		c.Forced, c.Seen, c.Made, c.Policy = "", nil, nil, Policy{}
		in, _ := newParser(c, m, othersText)
		for _, evs := range [][]utp.Event{slices.Clone(in.feed(s)), in.close(false)} {
			for i := range evs {
				if e := &evs[i]; e.Kind == utp.EventCallEnd {
					p.others.prints[foldedPrint(e.Call)] = true
					found = found || e.Call.Name == tool
				}
			}
		}
	}
	return found
}

// readings are the ways to read a text that others wrote: as it stands; without
// what searches, quotations and listings put before each line; with the escapes of
// JSON or HTML undone; the strings of JSON alone; with each object and list on a line
// of its own.
func readings(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	out := []string{s}
	if plain := unprefixed(s); plain != s {
		out = append(out, plain)
	}
	if strings.Contains(s, `\"`) {
		out = append(out, strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "", `\t`, "\t", `\/`, "/", `\u003c`, "<", `\u003e`, ">").Replace(s))
	}
	if texts := inStrings(s); texts != "" {
		out = append(out, texts)
	}
	if strings.Contains(s, "&lt;") || strings.Contains(s, "&quot;") || strings.Contains(s, "&#") {
		out = append(out, html.UnescapeString(s))
	}
	for _, read := range slices.Clone(out) {
		if lines := apart(read); lines != read {
			out = append(out, lines)
		}
	}
	return out
}

// inStrings are the strings with escapes in s, as JSON writes them, each from the
// beginning of a line.
func inStrings(s string) string {
	var b strings.Builder
	for from := strings.IndexByte(s, '"'); from >= 0 && from < len(s); {
		end, escapes := from+1, false
		for end < len(s) && s[end] != '"' && s[end] != '\n' {
			if s[end] == '\\' {
				escapes = true
				end++
			}
			end++
		}
		if end >= len(s) {
			break
		}
		var text string
		if escapes && s[end] == '"' && json.Unmarshal([]byte(s[from:end+1]), &text) == nil {
			b.WriteString(text + "\n")
		}
		if s[end] == '"' {
			end++
		}
		next := strings.IndexByte(s[end:], '"')
		if next < 0 {
			break
		}
		from = end + next
	}
	return b.String()
}

// unprefixed is s without the "path:12:", "12:" or ">" before its lines.
func unprefixed(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = line[prefixLen(line):]
	}
	return strings.Join(lines, "\n")
}

// prefixLen is the length of what a search, a listing or a quotation puts before a line.
func prefixLen(line string) int {
	n := len(line) - len(strings.TrimLeft(line, " \t"))
	if n < len(line) && strings.IndexByte(">+|", line[n]) >= 0 {
		return n + 1
	}
	at := n
	for at < len(line) && strings.IndexByte(" \t<{[(\"", line[at]) < 0 {
		digits := at
		for digits < len(line) && '0' <= line[digits] && line[digits] <= '9' {
			digits++
		}
		if digits > at && digits < len(line) && (at == n || line[at-1] == ':' || line[at-1] == '-') && strings.IndexByte(":-|\t", line[digits]) >= 0 {
			return digits + 1
		}
		at = max(digits, at+1)
	}
	return 0
}

// apart is s with a new line before each object, list and call f(…) that stands
// after words on its line.
func apart(s string) string {
	var b strings.Builder
	from := 0
	for i := 1; i < len(s); i++ {
		begins := (s[i] == '{' || s[i] == '[') && s[i-1] != '\n' || scan.IsNameByte(s[i]) && !scan.IsNameByte(s[i-1]) && s[i-1] != '\n' && s[i-1] != '.' && callBegins(s[i:])
		if begins {
			b.WriteString(s[from:i])
			b.WriteByte('\n')
			from = i
		}
	}
	return b.String() + s[from:]
}

// callBegins reports whether s begins with a name and an opening bracket.
func callBegins(s string) bool {
	n := 0
	for n < len(s) && n <= scan.MaxSlot && (scan.IsNameByte(s[n]) || s[n] == '.') {
		n++
	}
	rest := strings.TrimLeft(s[n:min(len(s), n+2)], " ")
	return rest != "" && (rest[0] == '(' || rest[0] == '{')
}

// folded is a name or a text in which names are looked for, in small letters with
// one sign between words.
func folded(s string) string {
	return strings.NewReplacer("-", "_", " ", "_", `\_`, "_").Replace(strings.ToLower(s))
}

// foldedPrint is equal for calls that differ in blanks and the order of keys alone.
func foldedPrint(c *utp.Call) string {
	dec := json.NewDecoder(bytes.NewReader(c.Args))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return c.Name + string(c.Args)
	}
	out, err := json.Marshal(foldBlanks(v))
	if err != nil {
		return c.Name + string(c.Args)
	}
	return c.Name + string(out)
}

// foldBlanks makes one blank of each run in the texts of a value.
func foldBlanks(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case []any:
		for i := range v {
			v[i] = foldBlanks(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = foldBlanks(v[k])
		}
	}
	return v
}
