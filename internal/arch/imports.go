package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func place(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if _, ok := roomOf(p.Path); !ok {
			out = append(out, Finding{p.Path, "has no ring"})
		}
	}
	return out
}

func rings(h *House) (out []Finding) {
	for _, p := range h.Packages {
		room, ok := roomOf(p.Path)
		if !ok || room.Ring == Tooling {
			continue
		}
		for _, in := range h.imports(p) {
			other, ok := roomOf(in)
			switch {
			case !ok || other.Ring != Tooling && other.Ring < room.Ring || slices.Contains(room.Beside, in):
			case other.Ring == Tooling:
				out = append(out, Finding{p.Path, fmt.Sprintf("imports %s, which is for tests", in)})
			default:
				out = append(out, Finding{p.Path, fmt.Sprintf("(ring %d) imports %s (ring %d)", room.Ring, in, other.Ring)})
			}
		}
	}
	return out
}

const maxDepth = 5

func depth(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if chain := h.chain(p); len(chain)-1 > maxDepth {
			out = append(out, Finding{p.Path, "imports " + strings.Join(chain[1:], " → ")})
		}
	}
	return out
}

// chain is the longest chain of imports within the module that starts at p.
func (h *House) chain(p *Package) (longest []string) {
	for _, in := range h.imports(p) {
		if next := h.Package(in); next != nil {
			if c := h.chain(next); len(c) > len(longest) {
				longest = c
			}
		}
	}
	return append([]string{p.Path}, longest...)
}

var impure = []string{"net", "os", "log", "math/rand", "context"}

func pureImports(h *House) (out []Finding) {
	for _, p := range h.pure() {
		room, _ := roomOf(p.Path)
		for _, imp := range p.Imports() {
			_, inside := h.inside(imp)
			first, _, _ := strings.Cut(imp, "/")
			switch {
			case inside:
			case strings.Contains(first, "."):
				if !slices.ContainsFunc(room.Deps, func(dep string) bool { return within(imp, dep) }) {
					out = append(out, Finding{p.Path, "imports the module " + imp})
				}
			case slices.ContainsFunc(impure, func(root string) bool { return within(imp, root) }):
				out = append(out, Finding{p.Path, "imports " + imp})
			}
		}
	}
	return out
}

// pure lists the packages of the rings 0 to 2.
func (h *House) pure() (out []*Package) {
	for _, p := range h.Packages {
		if room, ok := roomOf(p.Path); ok && room.Ring >= 0 && room.Ring <= 2 {
			out = append(out, p)
		}
	}
	return out
}

// within reports whether path is root or lies below it.
func within(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}

// jsonOnly is the package of wire that takes and gives JSON, and no events.
const jsonOnly = "wire/translate"

func parseAndWire(h *House) (out []Finding) {
	for _, p := range h.Packages {
		room, ok := roomOf(p.Path)
		if !ok || room.Ring == Tooling {
			continue
		}
		var parse, wire bool
		for _, in := range append(h.imports(p), p.Path) {
			parse = parse || within(in, "parse")
			wire = wire || within(in, "wire") && in != jsonOnly
		}
		if parse && wire && !within(p.Path, "backend") {
			out = append(out, Finding{p.Path, "brings parse and wire together"})
		}
	}
	return out
}

// groundFloors are the packages that parse stands on, with all that they may import.
var groundFloors = map[string][]string{
	"parse/internal/scan": {"grammar"},
	"parse/internal/body": {"lenient", "parse/internal/scan"},
}

// groundFloor keeps what parse stands on free of all else.
func groundFloor(h *House) (out []Finding) {
	for _, p := range h.Packages {
		for _, in := range h.imports(p) {
			if may, floor := groundFloors[p.Path]; floor && !slices.Contains(may, in) {
				out = append(out, Finding{p.Path, "imports " + in})
			}
		}
	}
	return out
}

func agentFormats(h *House) (out []Finding) {
	p := h.Package("agent")
	if p == nil {
		return nil
	}
	for _, in := range slices.Sorted(maps.Keys(h.reach(p))) {
		for _, root := range []string{"wire", "grammar", "parse"} {
			if within(in, root) {
				out = append(out, Finding{p.Path, "reaches " + in})
			}
		}
	}
	if slices.Contains(p.Imports(), "net/http") {
		out = append(out, Finding{p.Path, "imports net/http"})
	}
	return out
}
