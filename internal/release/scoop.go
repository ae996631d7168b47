package release

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// scoopManifest is a part of https://github.com/ScoopInstaller/Scoop/blob/master/schema.json.
type scoopManifest struct {
	Version      string               `json:"version"`
	Description  string               `json:"description"`
	Homepage     string               `json:"homepage"`
	License      string               `json:"license"`
	Architecture map[string]scoopArch `json:"architecture"`
	Bin          []string             `json:"bin"`
	Checkver     scoopCheck           `json:"checkver"`
	Autoupdate   scoopUpdate          `json:"autoupdate"`
}

type scoopArch struct {
	URL        string `json:"url"`
	Hash       string `json:"hash,omitempty"`
	ExtractDir string `json:"extract_dir"`
}

type scoopCheck struct {
	GitHub string `json:"github"`
}

type scoopUpdate struct {
	Architecture map[string]scoopArch `json:"architecture"`
}

// Scoop returns the Scoop manifest for the Windows archive.
func (r Release) Scoop(archive File) File {
	folder := strings.TrimSuffix(archive.Name, ".zip")
	m := scoopManifest{Version: r.Version, Description: r.Summary, Homepage: r.Repository, License: r.License, Checkver: scoopCheck{r.Repository}}
	m.Architecture = map[string]scoopArch{"64bit": {r.url(archive.Name), fmt.Sprintf("%x", sha256.Sum256(archive.Body)), folder}}
	next := strings.NewReplacer(r.Version, "$version")
	m.Autoupdate.Architecture = map[string]scoopArch{"64bit": {URL: next.Replace(r.url(archive.Name)), ExtractDir: next.Replace(folder)}}
	for _, p := range Programs {
		m.Bin = append(m.Bin, Platform{OS: "windows"}.Exe(p))
	}
	return File{r.Name + ".json", 0o644, indented(m)}
}
