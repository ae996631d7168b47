package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The media types of https://github.com/opencontainers/image-spec.
const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// nonRoot is the user and the group of the image.
const nonRoot = "65532:65532"

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *ociPlatform      `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type ociPlatform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifestList struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type imageConfig struct {
	Created      string        `json:"created"`
	Architecture string        `json:"architecture"`
	OS           string        `json:"os"`
	Config       containerSpec `json:"config"`
	RootFS       rootFS        `json:"rootfs"`
	History      []history     `json:"history"`
}

type containerSpec struct {
	User         string
	ExposedPorts map[string]struct{}
	Env          []string
	Entrypoint   []string
	Cmd          []string
	WorkingDir   string
	Labels       map[string]string
	StopSignal   string
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// layout is an image layout while it is filled: blobs named by their hash.
type layout []File

func (l *layout) blob(mediaType string, body []byte) descriptor {
	digest := fmt.Sprintf("%x", sha256.Sum256(body))
	name := "blobs/sha256/" + digest
	if !slices.ContainsFunc(*l, func(f File) bool { return f.Name == name }) {
		*l = append(*l, File{name, 0o644, body})
	}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(body)}
}

func (l *layout) json(mediaType string, v any) (descriptor, error) {
	body, err := json.Marshal(v)
	return l.blob(mediaType, body), err
}

// OCI returns a container image FROM scratch with the Linux builds and the other files,
// as the tar of an OCI image layout.
func (r Release) OCI(builds []Build, others []File) (File, error) {
	var l layout
	list := manifestList{SchemaVersion: 2, MediaType: ociIndex}
	for _, b := range builds {
		if b.OS != "linux" {
			continue
		}
		d, err := r.imageOf(b, others, &l)
		if err != nil {
			return File{}, err
		}
		d.Platform = &ociPlatform{b.Arch, b.OS}
		list.Manifests = append(list.Manifests, d)
	}
	top, err := l.json(ociIndex, list)
	if err != nil {
		return File{}, err
	}
	top.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.Version, "io.containerd.image.name": r.Image + ":" + r.Version}
	index, err := json.Marshal(manifestList{2, ociIndex, []descriptor{top}})
	if err != nil {
		return File{}, err
	}
	l = append(l, File{"index.json", 0o644, index}, File{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)})
	var out bytes.Buffer
	err = tarFiles(&out, l, r.Date, true)
	return File{r.Name + "_" + r.Version + "_image.oci.tar", 0o644, out.Bytes()}, err
}

// imageOf adds the image for one platform to the layout.
func (r Release) imageOf(b Build, others []File, l *layout) (descriptor, error) {
	var plain bytes.Buffer
	if err := tarFiles(&plain, append(b.files(""), others...), r.Date, true); err != nil {
		return descriptor{}, err
	}
	packed, err := gzipped(plain.Bytes())
	if err != nil {
		return descriptor{}, err
	}
	date := r.Date.Format(time.RFC3339)
	config, err := l.json(ociConfig, imageConfig{
		Created: date, Architecture: b.Arch, OS: b.OS,
		Config: containerSpec{
			User: nonRoot, ExposedPorts: map[string]struct{}{"4141/tcp": {}, "4142/tcp": {}}, Env: []string{"PATH=/"}, WorkingDir: "/",
			Entrypoint: []string{"/bx"}, Cmd: []string{"serve", "--file", "/etc/bx/serve.toml", "--json"}, StopSignal: "SIGTERM",
			Labels: map[string]string{
				"org.opencontainers.image.title": r.Title, "org.opencontainers.image.description": r.Summary, "org.opencontainers.image.licenses": r.License,
				"org.opencontainers.image.source": r.Repository, "org.opencontainers.image.version": r.Version, "org.opencontainers.image.revision": r.Commit,
			},
		},
		RootFS:  rootFS{"layers", []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes()))}},
		History: []history{{date, "make release VERSION=" + r.Version}},
	})
	if err != nil {
		return descriptor{}, err
	}
	return l.json(ociManifest, manifest{2, ociManifest, config, []descriptor{l.blob(ociLayer, packed)}})
}
