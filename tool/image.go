package tool

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// maxImage is the size in bytes above which an image is not sent to a model.
const maxImage = 5 << 20

// kinds of images, by their first bytes.
var kinds = []struct{ mime, head string }{
	{"image/png", "\x89PNG\r\n\x1a\n"}, {"image/jpeg", "\xff\xd8\xff"}, {"image/gif", "GIF8"}, {"image/webp", "RIFF"},
}

// image is the result of read_file for an image, where the model takes images.
func (s *Set) image(ctx context.Context, c utp.Call) (r utp.Result, ok bool) {
	a, err := arguments[readArgs](c.Args)
	if err != nil || s.config.Images == nil || !slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, strings.ToLower(path.Ext(a.Path))) {
		return r, false
	}
	at, err := s.toRead(ctx, a.Path)
	if err != nil {
		return r, false
	}
	file, err := s.originalBytes(ctx, at)
	if err != nil {
		return r, false
	}
	for _, k := range kinds {
		if !bytes.HasPrefix(file.data, []byte(k.head)) || k.mime == "image/webp" && !bytes.Contains(file.data[:min(len(file.data), 16)], []byte("WEBP")) {
			continue
		}
		if !s.config.Images(ctx) {
			return failed(c, fail("%s is an image, and the model takes none", at.given)), true
		}
		if len(file.data) > maxImage {
			return failed(c, fail("Image is too large: %s has %s, at most %s are sent", at.given, size(int64(len(file.data))), size(maxImage))), true
		}
		r = utp.TextResult(c, utp.StatusOK, fmt.Sprintf("%s: an image, %s", at.given, size(int64(len(file.data)))))
		r.Parts = append(r.Parts, utp.Blob{MIME: k.mime, Name: at.name, Data: file.data})
		return r, true
	}
	return r, false
}
