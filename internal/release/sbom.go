package release

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// bom is a bill of materials of CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json/.
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     bomMetadata  `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type bomMetadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref        string      `json:"bom-ref"`
	Type       string      `json:"type"`
	Name       string      `json:"name"`
	Version    string      `json:"version,omitempty"`
	PURL       string      `json:"purl,omitempty"`
	Hashes     []hash      `json:"hashes,omitempty"`
	Licenses   []licensed  `json:"licenses,omitempty"`
	Properties []property  `json:"properties,omitempty"`
	Components []component `json:"components,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type licensed struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// SBOM returns the list of modules in the programs of one platform, as the Go linker
// recorded them there.
func (r Release) SBOM(b Build) (File, error) {
	infos := map[string]*debug.BuildInfo{}
	for _, name := range Programs {
		info, err := buildinfo.Read(bytes.NewReader(b.Programs[name]))
		if err != nil {
			return File{}, fmt.Errorf("release: %s for %s: %w", name, b.Platform, err)
		}
		infos[name] = info
	}
	return File{r.file(b.Platform, ".cdx.json"), 0o644, indented(r.bill(b, infos))}, nil
}

func (r Release) bill(b Build, infos map[string]*debug.BuildInfo) bom {
	out := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: bomMetadata{r.Date.Format(time.RFC3339), component{Ref: r.file(b.Platform, ""), Type: "application", Name: r.Name, Version: r.Version}},
	}
	out.Metadata.Component.Licenses = make([]licensed, 1)
	out.Metadata.Component.Licenses[0].License.ID = r.License
	libraries, serial := map[string]component{}, sha256.New()
	top := dependency{Ref: out.Metadata.Component.Ref}
	for _, name := range Programs {
		sum := sha256.Sum256(b.Programs[name])
		serial.Write(sum[:])
		program := component{Ref: b.Exe(name), Type: "application", Name: b.Exe(name), Version: r.Version, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}}
		top.On = append(top.On, program.Ref)
		out.Components = append(out.Components, program)
		needs := dependency{Ref: program.Ref}
		for _, lib := range modules(infos[name]) {
			libraries[lib.Ref] = lib
			needs.On = append(needs.On, lib.Ref)
		}
		out.Dependencies = append(out.Dependencies, needs)
	}
	out.Dependencies = append([]dependency{top}, out.Dependencies...)
	for _, ref := range slices.Sorted(maps.Keys(libraries)) {
		out.Components = append(out.Components, libraries[ref])
	}
	out.Serial = uuid(serial.Sum(nil))
	return out
}

// modules returns the linked modules, including Go's standard library.
func modules(info *debug.BuildInfo) []component {
	out := []component{library("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		out = append(out, library(m.Path, m.Version, m.Sum))
	}
	slices.SortFunc(out, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	return out
}

func library(path, version, sum string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Ref: purl, Type: "library", Name: path, Version: version, PURL: purl}
	if sum != "" { // the hash of go.sum, over all files of the module
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}

// uuid returns a UUID of version 8 from a hash, so that equal programs have equal lists.
func uuid(sum []byte) string {
	u := slices.Clone(sum[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// indented returns a value as indented JSON. It must be one that can be marshalled.
func indented(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
}
