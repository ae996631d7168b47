package parse_test

import (
	"path/filepath"
	"testing"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// FuzzParse: the first byte picks the grammar, or auto; the second where the
// text is cut. No input panics, every law holds.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob(cases)
	for i, file := range files {
		if c, err := golden.Read(file); err == nil {
			f.Add(byte(i), byte(i*7), c.Get("in"))
		}
	}
	if len(files) == 0 {
		f.Add(byte(0), byte(3), "<tool_call>{")
	}
	all := grammar.All()
	f.Fuzz(func(t *testing.T, pick, at byte, in string) {
		cfg := parse.Config{Tools: offered}
		if int(pick) < len(all) {
			cfg.Grammars = all[pick : pick+1]
		}
		if at&0x80 != 0 {
			cfg.Tools = nil
		}
		if broken := lawOf(cfg, in, at&0x40 != 0, every(len(in), int(at)%7+1)); broken != "" {
			t.Fatal(broken)
		}
	})
}
