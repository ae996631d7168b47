package release

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The manifest is one by Scoop's documentation, and its update to the same version
// leads to the same archive.
func TestScoopManifest(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/scoop.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(manifest string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(manifest))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
	r := fixed(t)
	archive := must(t)(r.Archive(built(Platform{"windows", "amd64"}), pages))
	good := string(r.Scoop(archive).Body)
	if err := check(good); err != nil {
		t.Error(err)
	}
	var m scoopManifest
	if err := json.Unmarshal([]byte(good), &m); err != nil {
		t.Fatal(err)
	}
	now, next := m.Architecture["64bit"], m.Autoupdate.Architecture["64bit"]
	for what, pair := range map[string][2]string{
		"hash":                      {now.Hash, fmt.Sprintf("%x", sha256.Sum256(archive.Body))},
		"file":                      {now.URL[strings.LastIndex(now.URL, "/")+1:], archive.Name},
		"url of the update":         {strings.ReplaceAll(next.URL, "$version", m.Version), now.URL},
		"extract_dir of the update": {strings.ReplaceAll(next.ExtractDir, "$version", m.Version), now.ExtractDir},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
		}
	}
	for _, p := range m.Bin {
		if !strings.Contains(unpacked(t, archive), " "+now.ExtractDir+"/"+p+"\n") {
			t.Errorf("the archive has no %s in %s", p, now.ExtractDir)
		}
	}
	for was, bad := range map[string]string{
		now.Hash:                     now.Hash[:63],
		`"hash": "`:                  `"hash": "SHA256-`,
		`"64bit"`:                    `"amd64"`,
		`"url": "https://`:           `"url": "http://`,
		`"version": "`:               `"version": "v 1`,
		`"license": "Apache-2.0",`:   ``,
		`"bx.exe",`:                  `"bx",`,
		`/v$version/bx_$version_win`: `/v1.2.3/bx_1.2.3_win`,
		`"homepage"`:                 `"home"`,
		`"extract_dir": "bx_1`:       `"extract_dir": "dist/bx_1`,
	} {
		broken := strings.ReplaceAll(good, was, bad)
		if broken == good {
			t.Errorf("the manifest has no %s", was)
		} else if check(broken) == nil {
			t.Errorf("%s instead of %s is taken for a manifest", bad, was)
		}
	}
}
