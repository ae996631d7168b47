package arch

import (
	"go/ast"
	"path"
	"slices"
)

var (
	programCalls = map[string][]string{
		"os":       {"Exit", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Stdin", "Stdout", "Stderr"},
		"fmt":      {"Print", "Printf", "Println"},
		"log/slog": {"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "With", "DebugContext", "InfoContext", "WarnContext", "ErrorContext"},
	}
	programImports = []string{
		"flag", "log", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/pelletier/go-toml", "github.com/BurntSushi/toml",
		"charm.land", "github.com/charmbracelet", "github.com/mattn/go-isatty", "golang.org/x/term",
	}
)

func programs(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if room, _ := roomOf(p.Path); within(p.Path, "cmd") || room.Ring == Tooling {
			continue
		}
		for _, imp := range p.Imports() {
			if imp != "log/slog" && slices.ContainsFunc(programImports, func(root string) bool { return within(imp, root) }) {
				out = append(out, Finding{p.Path, "imports " + imp})
			}
		}
		p.inspect(func(n ast.Node) {
			if pkg, name := p.selected(n); slices.Contains(programCalls[pkg], name) {
				out = append(out, Finding{h.at(n), "uses " + path.Base(pkg) + "." + name})
			}
		})
	}
	return out
}
