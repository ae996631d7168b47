package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// File is one file of an archive.
type File struct {
	Name string // with slashes
	Mode fs.FileMode
	Body []byte
}

// below returns the files moved into a folder.
func below(dir string, files []File) []File {
	out := slices.Clone(files)
	for i := range out {
		out[i].Name = path.Join(dir, out[i].Name)
	}
	return out
}

// tarFiles writes the files sorted by name, owned by root and with one date. folders adds
// entries for the folders, which an image needs.
func tarFiles(w io.Writer, files []File, date time.Time, folders bool) error {
	t := tar.NewWriter(w)
	made := map[string]bool{"": true}
	for _, f := range inOrder(files) {
		if folders {
			for i, c := range f.Name {
				if dir := f.Name[:i]; c == '/' && !made[dir] {
					made[dir] = true
					if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: date, Format: tar.FormatUSTAR}); err != nil {
						return err
					}
				}
			}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Mode: int64(f.Mode.Perm()), Size: int64(len(f.Body)), ModTime: date, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.Body); err != nil {
			return err
		}
	}
	return t.Close()
}

func inOrder(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

func tarGz(files []File, date time.Time, folders bool) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := tarFiles(z, files, date, folders); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}

// zipFiles returns a zip of the files in the order given: a wheel has its list at the
// end.
func zipFiles(files []File, date time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.Mode.Perm())
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Body); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// Archive returns the programs and the pages in a folder of the archive's name: a
// tar.gz, or a zip for Windows.
func (r Release) Archive(b Build, pages []File) (File, error) {
	files := below(r.file(b.Platform, ""), append(b.files(""), pages...))
	if b.OS == "windows" {
		body, err := zipFiles(inOrder(files), r.Date)
		return File{r.file(b.Platform, ".zip"), 0o644, body}, err
	}
	body, err := tarGz(files, r.Date, false)
	return File{r.file(b.Platform, ".tar.gz"), 0o644, body}, err
}
