package prompt

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// bullet is a tool as a list entry with typed arguments, one a line.
func bullet(t utp.Tool) string {
	var b strings.Builder
	b.WriteString("- " + t.Name)
	if t.Description != "" {
		b.WriteString(": " + t.Description)
	}
	s := sampler{root: parameters(t)}
	h := s.shape(s.root)
	ms, _ := members(h.Properties)
	for _, m := range ms {
		p := s.shape(m.value)
		b.WriteString("\n  - " + m.key + " (" + p.typeWords() + need(h, m.key) + ")")
		if p.Items != nil || p.Properties != nil {
			b.WriteString(" " + spaced(m.value))
			continue
		}
		if p.Description != "" {
			b.WriteString(": " + p.Description)
		}
	}
	return b.String()
}

func need(h shape, key string) string {
	if slices.Contains(h.Required, key) {
		return ", required"
	}
	return ""
}

// typeWords names the types, or lists the values of an enum.
func (h shape) typeWords() string {
	names := h.typeNames()
	switch {
	case len(h.Enum) > 0:
		return "one of " + strings.ReplaceAll(joinValues(h.Enum), ",", ", ")
	case h.Const != nil:
		return "always " + unquote(h.Const)
	case len(names) > 0:
		return strings.Join(names, " or ")
	}
	return "any type"
}

func joinValues(values []json.RawMessage) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = unquote(v)
	}
	return strings.Join(words, ",")
}

// elementDefinition is a tool as nested XML elements, one for each argument.
func elementDefinition(t utp.Tool) string {
	s := sampler{root: parameters(t)}
	var b strings.Builder
	b.WriteString("<tool" + attr("name", t.Name) + attr("description", t.Description) + ">\n")
	if args := s.argElements(s.shape(s.root), 2); args == "" {
		b.WriteString("    <!-- no arguments -->\n")
	} else {
		b.WriteString("    <arguments>\n" + args + "    </arguments>\n")
	}
	return b.String() + "</tool>"
}

// argElements writes an <arg> for each property.
func (s *sampler) argElements(h shape, depth int) string {
	ms, err := members(h.Properties)
	if err != nil || depth > maxDepth {
		return ""
	}
	var b strings.Builder
	for _, m := range ms {
		p := s.shape(m.value)
		kind := elementType(p)
		head := "<arg" + attr("name", m.key) + attr("type", kind) + attr("description", p.Description) +
			attr("required", boolWord(slices.Contains(h.Required, m.key)))
		if p.Default != nil {
			head += attr("default", unquote(p.Default))
		}
		head += attr("enum_values", joinValues(p.Enum))
		b.WriteString(element(head, "arg", s.inner(p, depth+1), depth))
	}
	return b.String()
}

// inner is what stands inside the element of an object or a list.
func (s *sampler) inner(p shape, depth int) string {
	switch p.typeName() {
	case "object":
		return s.argElements(p, depth)
	case "array":
		if p.Items == nil || depth > maxDepth {
			return ""
		}
		item := s.shape(p.Items)
		return element("<items"+attr("type", elementType(item)), "items", s.inner(item, depth+1), depth)
	}
	return ""
}

func element(head, name, inner string, depth int) string {
	pad := strings.Repeat("    ", depth)
	if inner == "" {
		return pad + head + " />\n"
	}
	return pad + head + ">\n" + inner + pad + "</" + name + ">\n"
}

func elementType(p shape) string {
	if len(p.Enum) > 0 {
		return "enum"
	}
	if name := p.typeName(); name != "number" {
		return name
	}
	return "float"
}

func attr(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + escapeAttr(value) + `"`
}

func boolWord(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
