package release

import (
	_ "embed"
	"strings"
)

//go:embed compose.yaml
var composeFile string

// Compose returns a file for docker compose that starts the release's image.
func (r Release) Compose() File {
	text := strings.NewReplacer("IMAGE", r.Image+":"+r.Version, "USER", nonRoot).Replace(composeFile)
	return File{"compose.yaml", 0o644, []byte(text)}
}
