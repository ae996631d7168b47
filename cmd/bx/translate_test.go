package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// The examples of docs/translate.md are those of the script, which runs them.
func TestTranslateIsDocumented(t *testing.T) {
	c, err := golden.Read("testdata/script/translate.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"request.json", "request.openai.json", "losses.txt", "interleaved.sse", "interleaved.anthropic.sse"} {
		ext := filepath.Ext(section)
		language := strings.TrimPrefix(ext, ".")
		if language != "json" {
			language = "text"
		}
		golden.Between(t, "../../docs/translate.md", strings.TrimSuffix(section, ext), "```"+language+"\n"+c.Get(section)+"\n```\n")
	}
}
