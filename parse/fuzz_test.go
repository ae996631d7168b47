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

// FuzzSettings is FuzzParse with what a caller may set, each by a bit of how: a
// prompt's end, what was seen, what becomes of doubtful calls, repair, limits.
func FuzzSettings(f *testing.F) {
	files, _ := filepath.Glob(cases)
	for i, file := range files {
		if c, err := golden.Read(file); err == nil {
			f.Add(byte(i), byte(i*7), uint16(i*311), c.Get("in"), c.Get("prefill"), c.Get("seen"))
		}
	}
	f.Add(byte(255), byte(0), uint16(0xFFFF), "{}", "```json\n", "")
	all := grammar.All()
	f.Fuzz(func(t *testing.T, pick, at byte, how uint16, in, prefill, seen string) {
		if len(in)+len(prefill)+len(seen) > 4<<10 {
			return
		}
		on := func(bit int) bool { return how&(1<<bit) != 0 }
		cfg := parse.Config{Prefill: prefill, Seen: []string{seen}, OneCall: on(0), Check: on(1), Repair: parse.Repair((how >> 2 & 3) % 3),
			Policy: parse.Policy{Unknown: parse.Unknown(how >> 4 & 1), Shown: on(5), Repeated: on(15)}}
		if on(6) {
			cfg.Tools = offered
		}
		if on(7) {
			cfg.MaxCall = 1 + int(how>>8&63)
		}
		if on(14) {
			cfg.Stops = []string{"}", "\nObservation:"}
		}
		if int(pick) < len(all) {
			cfg.Grammars = all[pick : pick+1]
		} else {
			cfg.Prefer = []string{all[int(pick)%len(all)].Name}
		}
		if broken := lawOf(cfg, in, at&0x40 != 0, every(len(in), int(at)%7+1)); broken != "" {
			t.Fatalf("%+v: %s", cfg.Policy, broken)
		}
	})
}
