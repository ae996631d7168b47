package clientfile

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A member that was put in is recognised when it is taken out by the blanks
// around it:
//
//	{ "bx": …REST}          the object was there, and empty but for REST
//	{⏎  "bx": …⏎}, {"bx":…} the object was made for it
const kept = " " // after the opener of an object that was there

// file is a JSON text that is being changed.
type file struct {
	text string
	root value
}

func open(text string) (*file, error) {
	v, err := read(text)
	return &file{text, v}, err
}

// eol is how lines end.
func eol(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// newFile is a file that did not exist, with one object below a key.
func newFile(under, name string, fields []field) string {
	inner := render(fields, "  ", "\n", "    ")
	return "{\n  " + quote(under) + ": {\n    " + quote(name) + ": " + inner + "\n  }\n}\n"
}

// put adds a member to an object, after all others.
func (f *file) put(obj value, name string, body func(indent string) string) string {
	if len(obj.members) == 0 {
		at := obj.start + 1
		return f.text[:at] + kept + quote(name) + ": " + body(f.indentOf(obj.start)+f.unit()) + f.text[at:]
	}
	last := obj.members[len(obj.members)-1]
	sep := f.before(obj, len(obj.members)-1)
	colon := ": "
	if sep == "" {
		colon = ":"
	}
	indent := f.indentOf(last.key)
	if last.comma >= 0 {
		at := f.lineEnd(last.comma + 1)
		sep = f.broken(sep, last.comma+1, at)
		return f.text[:at] + sep + quote(name) + colon + body(indent) + "," + f.text[at:]
	}
	at := f.lineEnd(last.value.end)
	sep = f.broken(sep, last.value.end, at)
	return f.text[:last.value.end] + "," + f.text[last.value.end:at] + sep + quote(name) + colon + body(indent) + f.text[at:]
}

// broken is a separator that ends the comment between from and to, if there is one.
func (f *file) broken(sep string, from, to int) string {
	if from == to || strings.Contains(sep, "\n") {
		return sep
	}
	return eol(f.text) + sep
}

// drop takes a member out of an object.
func (f *file) drop(obj value, i int) string {
	m := obj.members[i]
	from := len(strings.TrimRight(f.text[:m.key], " \t\r\n"))
	switch {
	case m.comma < 0 && len(obj.members) == 1:
		return f.text[:from] + f.text[m.value.end:]
	case m.comma >= 0:
		return f.text[:from] + f.text[m.value.end:m.comma] + f.text[m.comma+1:]
	}
	comma := obj.members[i-1].comma
	return f.text[:comma] + f.text[comma+1:from] + f.text[m.value.end:]
}

// made reports whether an object was made for its only member.
func (f *file) made(obj value) bool {
	if len(obj.members) != 1 {
		return false
	}
	m := obj.members[0]
	head, tail := f.text[obj.start+1:m.key], f.text[m.value.end:obj.end-1]
	if m.comma >= 0 || strings.Trim(head+tail, " \t\r\n") != "" {
		return false
	}
	return head == "" && tail == "" || strings.Contains(head, "\n") && strings.Contains(tail, "\n")
}

// before is the blank space before a member, from the line's end on.
func (f *file) before(obj value, i int) string {
	key := obj.members[i].key
	blank := f.text[len(strings.TrimRight(f.text[:key], " \t\r\n")):key]
	if j := strings.LastIndexByte(blank, '\n'); j >= 0 {
		return eol(f.text) + blank[j+1:]
	}
	return blank
}

// lineEnd is where a comment ends that stands behind at, on its line.
func (f *file) lineEnd(at int) int {
	end := at
	for i := at; i < len(f.text); {
		rest := f.text[i:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
		case strings.HasPrefix(rest, "//"):
			line, _, _ := strings.Cut(rest, "\n")
			return i + len(strings.TrimSuffix(line, "\r"))
		case strings.HasPrefix(rest, "/*"):
			j := strings.Index(rest, "*/")
			if strings.Contains(rest[:j], "\n") {
				return end
			}
			i += j + 2
			end = i
		default:
			return end
		}
	}
	return end
}

// indentOf is the indentation of the line on which at stands.
func (f *file) indentOf(at int) string {
	line := f.text[strings.LastIndexByte(f.text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// unit is how far a value is indented below another.
func (f *file) unit() string {
	if len(f.root.members) > 0 {
		if blank := f.before(f.root, 0); strings.Contains(blank, "\n") {
			if indent := strings.TrimLeft(blank, "\r\n"); indent != "" {
				return indent
			}
		}
	}
	return "  "
}

// dense reports whether a file has all on one line.
func (f *file) dense() bool {
	return len(f.root.members) > 0 && !strings.Contains(strings.TrimSpace(f.text), "\n")
}

// render writes an object.
func render(fields []field, unit, eol, indent string) string {
	var b strings.Builder
	b.WriteString("{")
	for i, f := range fields {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(eol + indent + unit + quote(f.key) + ": " + list(f.value, unit, eol, indent+unit))
	}
	b.WriteString(eol + indent + "}")
	return b.String()
}

// list writes a value, a list with an entry a line.
func list(v any, unit, eol, indent string) string {
	texts, ok := v.([]string)
	switch {
	case !ok:
		return quote(v)
	case len(texts) == 0:
		return "[]"
	}
	var b strings.Builder
	b.WriteString("[")
	for i, t := range texts {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(eol + indent + unit + quote(t))
	}
	b.WriteString(eol + indent + "]")
	return b.String()
}

// renderDense writes an object on one line.
func renderDense(fields []field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, quote(f.key)+":"+quote(f.value))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// quote is a value as JSON, in which "<" stays "<".
func quote(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a text, a bool or a list of texts
	}
	return strings.TrimSuffix(b.String(), "\n")
}
