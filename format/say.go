package format

import "strings"

// String says how, without the reason.
func (f Form) String() string {
	switch f.Way {
	case Native:
		return "in the server's own field"
	case Text:
		return "as text in " + f.Grammar.Name
	}
	return "not at all"
}

// String says where, without the reason.
func (r Reading) String() string {
	first := strings.Join(r.Prefer, ", ")
	switch {
	case r.Only:
		return "in the text only, as " + first
	case !r.Text:
		return "in the server's own field only"
	}
	where := "in the server's own field and in the text"
	if !r.Native {
		where = "in the text only"
	}
	if first == "" {
		return where + ", in every dialect"
	}
	return where + ", in every dialect, first " + first
}

// Said lists what the layers set for a model, a line for each, the deciding
// ones first.
func Said(layers []Layer, model string) (lines []string) {
	for _, s := range spread(layers, model) {
		if s.xml != "" {
			lines = append(lines, s.xml)
		}
		for _, w := range []word{s.tools, s.calls, s.results, s.text} {
			if w.text != "" && (len(lines) == 0 || lines[len(lines)-1] != w.why) {
				lines = append(lines, w.why)
			}
		}
	}
	return lines
}
