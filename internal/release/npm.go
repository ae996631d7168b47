package release

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed npm/run.js
var runJS []byte

// nodePlatforms are Node's process.platform and process.arch.
var nodePlatforms = map[Platform][2]string{
	{"linux", "amd64"}: {"linux", "x64"}, {"linux", "arm64"}: {"linux", "arm64"},
	{"darwin", "amd64"}: {"darwin", "x64"}, {"darwin", "arm64"}: {"darwin", "arm64"},
	{"windows", "amd64"}: {"win32", "x64"},
}

// npmPackage is a package.json.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  npmRepository     `json:"repository"`
	Type        string            `json:"type"`
	Bin         map[string]string `json:"bin,omitempty"`
	Files       []string          `json:"files"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Platforms   map[string]string `json:"platforms,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	Publish     map[string]string `json:"publishConfig"`
}

type npmRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

func (r Release) npmPackage(name string) npmPackage {
	return npmPackage{Name: name, Version: r.Version, Description: r.Summary, License: r.License,
		Homepage: r.Repository, Type: "commonjs", Repository: npmRepository{"git", "git+" + r.Repository + ".git"}, Publish: map[string]string{"access": "public"}}
}

// NpmPackages returns the package with the commands, and one with the programs for each
// platform; npm installs the one that fits.
func (r Release) NpmPackages(builds []Build, licences []File, readme []byte) ([]File, error) {
	main := r.npmPackage(r.Npm)
	main.Bin, main.Files = map[string]string{}, []string{"bin", "lib"}
	main.Engines = map[string]string{"node": ">=18"}
	main.Platforms, main.Optional = map[string]string{}, map[string]string{}
	files := []File{licences[0], {"README.md", 0o644, readme}, {"lib/run.js", 0o644, runJS}}
	for _, program := range Programs {
		main.Bin[program] = "bin/" + program + ".js"
		files = append(files, File{"bin/" + program + ".js", 0o755, fmt.Appendf(nil, "#!/usr/bin/env node\nrequire(\"../lib/run.js\")(%q);\n", program)})
	}
	var out []File
	for _, b := range builds {
		node := nodePlatforms[b.Platform]
		p := r.npmPackage(r.Npm + "-" + node[0] + "-" + node[1])
		p.Description += " (the programs for " + b.Platform.String() + ")"
		p.OS, p.CPU, p.Files = node[:1], node[1:], []string{"bin", noticesFile}
		packed, err := r.npmPack(p.Name, indented(p), append(b.files("bin"), licences...))
		if err != nil {
			return nil, err
		}
		out = append(out, packed)
		main.Platforms[node[0]+"-"+node[1]] = p.Name
		main.Optional[p.Name] = r.Version
	}
	packed, err := r.npmPack(main.Name, indented(main), files)
	return append(out, packed), err
}

// npmPack returns a package as npm pack writes it: the files in a folder "package".
func (r Release) npmPack(name string, config []byte, files []File) (File, error) {
	files = append([]File{{"package.json", 0o644, config}}, files...)
	body, err := tarGz(below("package", files), r.Date, false)
	return File{strings.NewReplacer("@", "", "/", "-").Replace(name) + "-" + r.Version + ".tgz", 0o644, body}, err
}

// NpmParsePackage packs the package that reads tool calls without a program, from its
// built folder: package.json, README.md and what "files" names. Name and version are the
// release's.
func (r Release) NpmParsePackage(folder, licences []File) (File, error) {
	config := map[string]json.RawMessage{} // raw: the order of the exports matters
	for _, f := range folder {
		if f.Name == "package.json" {
			if err := json.Unmarshal(f.Body, &config); err != nil {
				return File{}, fmt.Errorf("release: package.json of %s: %w", r.NpmParse, err)
			}
		}
	}
	own := r.npmPackage(r.NpmParse)
	for key, value := range map[string]any{"name": own.Name, "version": own.Version, "license": own.License, "homepage": own.Homepage, "repository": own.Repository, "publishConfig": own.Publish} {
		config[key] = indented(value)
	}
	for _, key := range []string{"private", "scripts", "devDependencies"} {
		delete(config, key)
	}
	var list []string
	_ = json.Unmarshal(config["files"], &list)
	kept := slices.Clone(licences)
	for _, name := range list {
		name := strings.TrimSuffix(name, "/")
		before := len(kept)
		for _, f := range folder {
			if f.Name == name || strings.HasPrefix(f.Name, name+"/") {
				kept = append(kept, f)
			}
		}
		if len(kept) == before {
			return File{}, fmt.Errorf("release: %s has no %s, which its package.json names in \"files\": build it first", r.NpmParse, name)
		}
	}
	for _, f := range folder {
		if f.Name == "README.md" {
			kept = append(kept, f)
		}
	}
	config["files"] = indented(append(list, noticesFile))
	return r.npmPack(r.NpmParse, indented(config), kept)
}
