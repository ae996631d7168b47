package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
)

func Example() {
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	text := "[profiles.big]\nprovider = \"ollama\"\nurl = \"http://athena:11434\"\nmodel = \"qwen3\"\n"
	if err := os.WriteFile(filepath.Join(dir, "bx.toml"), []byte(text), 0o666); err != nil {
		panic(err)
	}
	c, err := config.Load(config.Places{User: dir})
	if err != nil {
		panic(err)
	}
	s, err := c.Resolve(config.Flags{Profile: "big"}, func(string) string { return "" })
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Provider, s.URL, s.Model, s.Tier)
	// Output: ollama http://athena:11434 qwen3 WALK
}
