package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// Manifests are the forms of a tool list that a record may name.
var Manifests = []string{"lines", "functions", "react", "elements", "openai", "gemini", "anthropic", "autobyteus"}

// Markers lists every marker of the record by its name ("call.open"), the
// other spellings of Also included.
func (g *Grammar) Markers() map[string][]string {
	m := map[string][]string{}
	add := func(name, marker string) {
		if marker != "" {
			m[name] = append(m[name], marker)
		}
		m[name] = append(m[name], g.Also[name]...)
	}
	for name, f := range map[string]Fence{"think": g.Think, "header": g.Header, "group": g.Group, "call": g.Call, "arg": g.Arg, "item": g.Item, "raw": g.Raw} {
		add(name+".open", f.Open)
		add(name+".close", f.Close)
	}
	add("end", g.End)
	for name, list := range m {
		if len(list) == 0 {
			delete(m, name)
		}
	}
	return m
}

// Check reports the first law of the record that g breaks.
func Check(g *Grammar) error {
	if g.Name == "" {
		return fmt.Errorf("grammar: the name is missing")
	}
	fail := func(format string, a ...any) error {
		return fmt.Errorf("grammar %s: %s", g.Name, fmt.Sprintf(format, a...))
	}
	for name := range g.Also {
		switch name {
		case "think.open", "think.close", "header.open", "header.close", "group.open", "group.close",
			"call.open", "call.close", "arg.open", "arg.close", "item.open", "item.close", "raw.open", "raw.close", "end":
		default:
			return fail("also: %q is no marker of the record (want for example \"call.open\")", name)
		}
	}
	for name, list := range g.Markers() {
		for _, marker := range list {
			if _, err := Split(marker); err != nil {
				return fail("%s: %v", name, err)
			}
		}
	}
	for _, f := range []struct {
		name string
		Fence
	}{{"group", g.Group}, {"call", g.Call}, {"arg", g.Arg}, {"item", g.Item}} {
		for _, s := range slots {
			if s := "{" + s + "}"; strings.Contains(f.Close, s) && !strings.Contains(f.Open, s) && s != "{sfx}" {
				return fail("%s.close has the slot %s that %s.open lacks", f.name, s, f.name)
			}
		}
	}
	named := g.ID != "" || strings.Contains(g.Call.Open, "{name}")
	for _, r := range g.Routes {
		if r.As != ThinkRoute && r.As != TextRoute && r.As != CallRoute {
			return fail("routes: %q is no kind of message (want think, text or call)", r.As)
		}
		named = named || r.As == CallRoute && strings.Contains(r.Has+r.Write.Open, "{name}")
	}
	switch g.Body {
	case Tagged, Args:
		if !named {
			return fail("body %s needs {name} in call.open, in a call route or in id", g.Body)
		}
	case JSON, Python:
		if strings.Contains(g.Call.Open, "{name}") {
			return fail("body %s carries the name itself: call.open must not hold {name}", g.Body)
		}
	default:
		return fail("body %q: want json, args, tagged or python", g.Body)
	}
	if g.Manifest != "" && !slices.Contains(Manifests, g.Manifest) {
		return fail("manifest %q: want %s", g.Manifest, strings.Join(Manifests, ", "))
	}
	if g.Fields.In != "" && (g.Body != JSON || slices.Contains(strings.Split(g.Fields.In, "."), "")) {
		return fail("fields.in %q: want keys apart by dots, and body json", g.Fields.In)
	}
	if (g.Body == Tagged) != strings.Contains(g.Arg.Open, "{key}") && g.Body != Args {
		return fail("body tagged and an arg.open with {key} belong together")
	}
	return nil
}
