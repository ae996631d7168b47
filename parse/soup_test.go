package parse_test

import (
	"flag"
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var (
	soup     = flag.Int("soup", 300, "random texts to try the laws on")
	soupSeed = flag.Int64("soup-seed", 1, "seed of the random texts")
	soupShow = flag.Int("soup-show", 1, "failures to show")
)

// fragments are the texts of all cases, cut at markers.
func fragments(t testing.TB) (out []string) {
	files, _ := filepath.Glob(cases)
	for _, file := range files {
		c, err := golden.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		in := c.Get("in")
		out = append(out, in)
		from := 0
		for i := 1; i < len(in); i++ {
			if strings.IndexByte("<>{}[]|\n\"`:(), ", in[i]) >= 0 && i > from && (i-from) > 3 {
				out = append(out, in[from:i])
				from = i
			}
		}
		out = append(out, in[from:])
	}
	for _, g := range grammar.All() {
		for _, list := range g.Markers() {
			for range 3 {
				out = append(out, list...)
			}
		}
	}
	return append(out, "`", "```", "```json\n", "\n", "\n\n", " ", "{", "}", "[", "]", "\"", "\\", "write_file", "search_code", "{\"name\":\"search_code\",\"arguments\":{\"query\":\"x\"}}")
}

func stir(rng *rand.Rand, frags []string) string {
	var b strings.Builder
	for range 1 + rng.Intn(10) {
		f := frags[rng.Intn(len(frags))]
		if len(f) > 400 {
			continue
		}
		switch rng.Intn(8) {
		case 0:
			if f != "" {
				f = f[:rng.Intn(len(f))]
			}
		case 1:
			if f != "" {
				i := rng.Intn(len(f))
				f = f[:i] + f[i+1:]
			}
		case 2:
			if f != "" {
				i := rng.Intn(len(f))
				f = f[:i] + string("<>{}[]`\n\"' |:x/\\"[rng.Intn(16)]) + f[i:]
			}
		}
		b.WriteString(f)
	}
	return b.String()
}

// lawOf reports the first law that a text breaks, whole or cut.
func lawOf(cfg parse.Config, in string, cut bool, at []int) string {
	whole := feed(cfg, in, cut)
	got := feed(cfg, in, cut, at...)
	for _, evs := range [][]utp.Event{whole, got} {
		if s := tileLaw(in, evs); s != "" {
			return s
		}
		if s := startedLaw(evs); s != "" {
			return s
		}
	}
	if a, b := merged(whole), merged(got); a != b {
		return fmt.Sprintf("cut at %v:\n--- whole%s--- cut%s", at, a, b)
	}
	return ""
}

func tileLaw(in string, evs []utp.Event) string {
	var b strings.Builder
	for _, e := range evs {
		b.WriteString(e.Raw)
	}
	if b.String() != in {
		return fmt.Sprintf("the raw texts do not tile the input:\n got %q\nwant %q", b.String(), in)
	}
	return ""
}

var many = schema.Compile([]utp.Tool{
	{Name: "search_code", Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}`)},
	{Name: "run", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"},"env":{"type":"object"}},"required":["command"]}`)},
	{Name: "now", Schema: []byte(`{"type":"object"}`)},
})

func TestSoup(t *testing.T) {
	rng := rand.New(rand.NewSource(*soupSeed))
	frags := fragments(t)
	all := grammar.All()
	shown, failed := 0, 0
	for n := range *soup {
		in := stir(rng, frags)
		cfg := parse.Config{Tools: offered}
		name := "auto"
		if rng.Intn(2) == 0 {
			cfg.Grammars = []*grammar.Grammar{all[rng.Intn(len(all))]}
			name = cfg.Grammars[0].Name
		}
		switch rng.Intn(6) {
		case 0:
			cfg.Tools = nil
		case 1, 2:
			cfg.Tools = many
		}
		switch rng.Intn(8) {
		case 0:
			cfg.Policy.Unknown = parse.TextUnknown
		case 1:
			cfg.Policy.Shown, cfg.Policy.Repeated = true, rng.Intn(2) == 0
		case 2:
			cfg.Repair = parse.Off
		case 3:
			cfg.Forced = "search_code"
		case 4:
			cfg.Seen = []string{frags[rng.Intn(len(frags))]}
		case 5:
			cfg.MaxCall = 10 + rng.Intn(100)
		case 6:
			cfg.Prefill = []string{"<think>\n", "<|start|>assistant", ">>>", "<tool_call>", "x", frags[rng.Intn(len(frags))]}[rng.Intn(6)]
		}
		step := 1 + rng.Intn(4)
		at := every(len(in), step)
		cut := rng.Intn(3) == 0
		s := lawOf(cfg, in, cut, at)
		if s == "" {
			continue
		}
		failed++
		if shown < *soupShow {
			shown++
			in = shrink(cfg, in, cut, step)
			t.Errorf("%+v", cfg)
			t.Errorf("%d: %s tools %v cut %v step %d: %q\n%s", n, name, cfg.Tools != nil, cut, step, in, lawOf(cfg, in, cut, every(len(in), step)))
		}
	}
	if failed > 0 {
		t.Errorf("%d of %d failed", failed, *soup)
	}
}

// shrink drops pieces of a text as long as it breaks a law.
func shrink(cfg parse.Config, in string, cut bool, step int) string {
	for size := len(in) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(in); {
			less := in[:i] + in[i+size:]
			if lawOf(cfg, less, cut, every(len(less), step)) != "" {
				in = less
			} else {
				i++
			}
		}
	}
	return in
}
