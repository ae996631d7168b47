package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed glob.md
var globText string

var glob = builtin{
	Tool: utp.Tool{
		Name: "glob", Tier: utp.TierCrawl, Description: globText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"A pattern for paths, as **/*.go or cmd/*/main.go; without a slash it is for names"},` +
			`"path":{"type":"string","description":"The directory to look below","default":"."},` +
			`"hidden":{"type":"boolean","description":"Whether to list hidden and ignored files too","default":false}},` +
			`"required":["pattern"]}`),
	},
	run: with((*Set).globFiles),
}

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Hidden  bool   `json:"hidden"`
}

func (s *Set) globFiles(ctx context.Context, a globArgs) (string, error) {
	if a.Pattern == "" {
		return "", missing("pattern")
	}
	top := orTop(a.Path)
	pattern := strings.TrimPrefix(a.Pattern, "./")
	if top != "." && strings.Contains(pattern, "/") && !strings.HasPrefix(pattern, top+"/") {
		pattern = top + "/" + pattern
	}
	files, err := s.files(ctx, top, pattern, a.Hidden)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d files", printable(a.Pattern), len(files))
	for _, f := range files {
		b.WriteString("\n" + printable(f.Path) + "  " + size(f.Size))
	}
	return b.String(), nil
}
