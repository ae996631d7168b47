package config

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// contract: N-13 T-05 CON-12 CON-13
func TestEveryValueIsUsable(t *testing.T) {
	for _, p := range format.CallWords() {
		if err := Parser(p).check(nil); err != nil {
			t.Errorf("call_parser %s: %v", p, err)
		}
		for _, name := range format.Dialects(p) {
			if !Own(nil).Has(name) {
				t.Errorf("call_parser %s: %q is no grammar", p, name)
			}
		}
	}
	for _, g := range grammar.All() {
		for _, name := range append([]string{g.Name}, g.Aliases...) {
			if name == "none" {
				continue
			}
			if Parser(name).check(nil) != nil || Parser("prefer:"+name).check(nil) != nil || Format(name).check(nil) != nil {
				t.Errorf("grammar %s is no value of call_parser or definition_format", name)
			}
		}
	}
	for _, bad := range []string{"", "prefer:", "prefer:auto", "openai,qwen", "nothing"} {
		if Parser(bad).check(nil) == nil {
			t.Errorf("call_parser %q passes", bad)
		}
	}
	if ResultFormat("none").check(nil) == nil || Format("none").check(nil) != nil {
		t.Error(`"none" is a definition_format and no result_format`)
	}
}
