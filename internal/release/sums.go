package release

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Sums returns the list of the files with their SHA-256, as sha256sum -c reads it.
func Sums(files []File) File {
	var out strings.Builder
	for _, f := range inOrder(files) {
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(f.Body), f.Name)
	}
	return File{"SHA256SUMS", 0o644, []byte(out.String())}
}
