package grammar

import (
	"fmt"
	"maps"
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

// fault is a law of the record that a field breaks.
type fault struct {
	grammar, field, text string
	line                 int // of a file; 0: there is none
}

func (f *fault) Error() string {
	where := "grammar"
	if f.grammar != "" {
		where += " " + f.grammar
	}
	if f.line > 0 {
		where += fmt.Sprintf(": line %d", f.line)
	}
	return where + ": " + f.text
}

// Check reports the first law of the record that g breaks.
func Check(g *Grammar) error {
	for _, law := range []func(*Grammar) (field, text string){named, spelled, closed, routed, bodied, listed} {
		if field, text := law(g); text != "" {
			return &fault{grammar: g.Name, field: field, text: text}
		}
	}
	return nil
}

func named(g *Grammar) (field, text string) {
	if g.Name == "" {
		return "name", "the name is missing"
	}
	return "", ""
}

// spelled: each marker is one that can be written and looked for.
func spelled(g *Grammar) (field, text string) {
	markers := g.Markers()
	for _, name := range slices.Sorted(maps.Keys(g.Also)) {
		if !slices.Contains(markerNames, name) {
			return "also", fmt.Sprintf("also: %q is no marker of the record: want %s", name, strings.Join(markerNames, ", "))
		}
	}
	for _, name := range markerNames {
		for _, marker := range markers[name] {
			if _, err := Split(marker); err != nil {
				return name, name + ": " + err.Error()
			}
			if strings.TrimSpace(marker) == "" && !(name == "header.close" && strings.Contains(marker, "\n")) { // a line may be a header
				return name, fmt.Sprintf("%s: %q: white space alone marks nothing: want a word or a sign in it, or no marker", name, marker)
			}
		}
	}
	return "", ""
}

// markerNames are the keys of Markers.
var markerNames = []string{"think.open", "think.close", "header.open", "header.close", "group.open", "group.close",
	"call.open", "call.close", "arg.open", "arg.close", "item.open", "item.close", "raw.open", "raw.close", "end"}

// closed: a closer repeats what its opener says, and no more.
func closed(g *Grammar) (field, text string) {
	for _, f := range []struct {
		name string
		Fence
	}{{"group", g.Group}, {"call", g.Call}, {"arg", g.Arg}, {"item", g.Item}} {
		for _, s := range slots {
			if s := "{" + s + "}"; strings.Contains(f.Close, s) && !strings.Contains(f.Open, s) && s != "{sfx}" {
				return f.name + ".close", fmt.Sprintf("%s.close has the slot %s that %s.open lacks", f.name, s, f.name)
			}
		}
	}
	return "", ""
}

func routed(g *Grammar) (field, text string) {
	for _, r := range g.Routes {
		if r.As != ThinkRoute && r.As != TextRoute && r.As != CallRoute {
			return "routes", fmt.Sprintf("routes: %q is no kind of message (want think, text or call)", r.As)
		}
	}
	return "", ""
}

// bodied: the name of a call stands in one place, and its arguments can be told apart.
func bodied(g *Grammar) (field, text string) {
	routes := func(r Route) bool { return r.As == CallRoute && strings.Contains(r.Has+r.Write.Open, "{name}") }
	inMarker := strings.Contains(g.Call.Open, "{name}")
	switch g.Body {
	case Tagged, Args:
		if !inMarker && g.ID == "" && !slices.ContainsFunc(g.Routes, routes) {
			return "body", fmt.Sprintf("body %s needs {name} in call.open, in a call route or in id", g.Body)
		}
	case JSON, Python:
		if inMarker {
			return "call.open", fmt.Sprintf("body %s carries the name itself: call.open must not hold {name}", g.Body)
		}
	default:
		return "body", fmt.Sprintf("body %q: want json, args, tagged or python", g.Body)
	}
	if g.Fields.In != "" && (g.Body != JSON || slices.Contains(strings.Split(g.Fields.In, "."), "")) {
		return "fields.in", fmt.Sprintf("fields.in %q: want keys apart by dots, and body json", g.Fields.In)
	}
	if (g.Body == Tagged) != strings.Contains(g.Arg.Open, "{key}") && g.Body != Args {
		return "arg", "body tagged and an arg.open with {key} belong together"
	}
	return "", ""
}

func listed(g *Grammar) (field, text string) {
	if g.Manifest != "" && !slices.Contains(Manifests, g.Manifest) {
		return "manifest", fmt.Sprintf("manifest %q: want %s", g.Manifest, strings.Join(Manifests, ", "))
	}
	return "", ""
}
