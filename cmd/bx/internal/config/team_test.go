package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// load reads a text as the user's bx.toml.
func load(t *testing.T, text string) (*config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bx.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Places{User: dir})
}

func mustLoad(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func vars(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

const twoMembers = "\n[teams.t]\ncoordinator = \"a\"\n%s\n[teams.t.members.a]\n[teams.t.members.b]\n"

// What a team says of XML wins over what the agent says; unset means the
// agent's, and it counts for every member.
//
// contract: N-20 N-19 CON-27
func TestATeamsXMLWinsOverTheAgents(t *testing.T) {
	yes := true
	for _, team := range []string{"", "true", "false"} {
		for _, own := range []string{"true", "false"} {
			text := "[agent]\nuse_xml_tool_format = " + own + strings.ReplaceAll(twoMembers, "%s", key("use_xml_tool_format", team))
			lead, others, err := mustLoad(t, text).ResolveTeam("t", config.Flags{}, vars())
			if err != nil {
				t.Fatal(err)
			}
			want := format.Native
			if team == "true" || team == "" && own == "true" {
				want = format.Text
			}
			for _, m := range append(others, lead) {
				chosen, err := format.Choose(m.Formats, format.Facts{Provider: "ollama", Native: &yes})
				if err != nil || chosen.Tools.Way != want || (want == format.Text && chosen.Tools.Grammar.Name != "autobyteus") {
					t.Errorf("team %q, agent %s: member %s gets %+v, %v", team, own, m.Name, chosen.Tools, err)
				}
			}
		}
	}
}

func key(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " = " + value
}

// Each member goes by its own table, then its profile, then the rest; no tier
// rises above what is allowed.
func TestMembersHaveSettingsOfTheirOwn(t *testing.T) {
	c := mustLoad(t, `
[agent]
instructions = "Be brief."
model = "common"
max_tier = "WALK"
[profiles.big]
provider = "ollama"
model = "qwen3:32b"
[profiles.big.tools]
tool_format = "hermes"
[teams.t]
coordinator = "lead"
[teams.t.tools]
result_format = "native"
insist = true
[teams.t.members.lead]
profile = "big"
tier = "RUN"
[teams.t.members.small]
model = "tiny"
tool_format = "react"
instructions = "Read."
tier = "CRAWL"
offer = ["search_code"]
max_rounds = 2
[teams.t.members.plain]
`)
	lead, others, err := c.ResolveTeam("t", config.Flags{}, vars("BX_MODEL", "from-env"))
	if err != nil {
		t.Fatal(err)
	}
	type brief struct {
		Name, Model, Why, Extra string
		Tier, Max               utp.Tier
		Rounds                  int
		Offer                   []string
		Insist                  bool
		Tools                   string
	}
	var got []brief
	for _, m := range append([]config.MemberSettings{lead}, others...) {
		chosen, err := format.Choose(m.Formats, format.Facts{Model: m.Model})
		if err != nil || chosen.Results.Way != format.Native {
			t.Errorf("%s: results %+v, %v", m.Name, chosen.Results, err)
		}
		b := brief{m.Name, m.Model, m.ModelWhy, m.Extra, m.Tier, m.MaxTier, m.MaxRounds, m.Offer, *m.Habits(m.Model).Insist, string(chosen.Tools.Way)}
		if g := chosen.Tools.Grammar; g != nil {
			b.Tools = g.Name
		}
		got = append(got, b)
	}
	want := []brief{
		{"lead", "qwen3:32b", "profile big", "Be brief.", utp.TierWalk, utp.TierWalk, 50, nil, true, "hermes"},
		{"plain", "from-env", "BX_MODEL", "Be brief.", utp.TierWalk, utp.TierWalk, 50, nil, true, "native"},
		{"small", "tiny", "member small", "Be brief.\n\nRead.", utp.TierCrawl, utp.TierCrawl, 2, []string{"search_code"}, true, "react"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The habits of a model come from its profile, then [tools], then [models].
//
// contract: W-14 W-15
func TestHabits(t *testing.T) {
	c := mustLoad(t, `
[tools]
one_call = true
[profiles.p.tools]
adapter = "mine"
one_call = false
[models."llama*"]
adapter = "pygmalion"
insist = true
[adapters.mine]
no_system = true
stops = ["END"]
drop = [["<x>", "</x>"]]
`)
	s, err := c.Resolve(config.Flags{}, vars())
	if err != nil {
		t.Fatal(err)
	}
	if h := s.Habits("qwen3"); h.Adapter != nil || !h.OneCall || h.Insist != nil {
		t.Errorf("qwen3: %+v", h)
	}
	if h := s.Habits("org/Llama-3:8b"); h.Adapter == nil || h.Adapter.Name != "pygmalion" || !h.OneCall || h.Insist == nil {
		t.Errorf("llama: %+v", h)
	}
	if s, err = c.Resolve(config.Flags{Profile: "p"}, vars()); err != nil {
		t.Fatal(err)
	}
	if h := s.Habits("llama3"); h.Adapter == nil || h.Adapter.Name != "mine" || !h.Adapter.NoSystem || h.Adapter.Stops[0] != "END" || h.Adapter.Drop[0].Close != "</x>" || h.OneCall {
		t.Errorf("profile: %+v", h)
	}
	want := []string{"profile p: adapter = mine", "profile p: one_call = false", "[models.llama*]: insist = true"}
	if d := cmp.Diff(want, s.Habits("llama3").Said); d != "" {
		t.Error(d)
	}
}

// A user's aliases stand before the preset, which has to be asked for.
//
// contract: W-03 W-04
func TestAliases(t *testing.T) {
	tools := []utp.Tool{{Name: "find", Schema: []byte(`{"properties":{"query":{"type":"string"},"type":{"type":"string"},"n_results":{"type":"integer"}}}`)},
		{Name: "web_search", Schema: []byte(`{"properties":{"query":{"type":"string"}}}`)}}
	mine := "[aliases.google]\nto = \"find\"\ndefaults = {type = \"web\"}\nargs = {words = \"query\"}\n[aliases.\"*\"]\nargs = {many = \"n_results\"}\n"
	for _, c := range []struct{ text, name, args, want string }{
		{mine, "google", `{"words":"x","many":2}`, `find {"query":"x","n_results":2,"type":"web"}`},
		{mine + "[agent]\nalias_preset = \"assistant\"\n", "google", `{"q":"x"}`, `find {"query":"x","type":"web"}`},
		{"[agent]\nalias_preset = \"assistant\"\n", "google", `{"q":"x"}`, `web_search {"query":"x"}`},
		{"", "google", `{"q":"x"}`, ` {"q":"x"}`},
	} {
		s, err := mustLoad(t, c.text).Resolve(config.Flags{}, vars())
		if err != nil {
			t.Fatal(err)
		}
		set := schema.CompileWith(tools, schema.Options{Aliases: s.Aliases})
		name, _, ok := set.Resolve(c.name)
		if !ok {
			name = ""
		}
		args, _, _ := set.Check(c.name, []byte(c.args))
		if got := name + " " + string(args); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestHabitsAndTeamsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"[tools]\nadapter = \"piggy\"":                         `tools.adapter: unknown adapter "piggy": want default, dolphin, gemma, `,
		"[models.x]\nadapter = \"piggy\"":                      `models.x.adapter: unknown adapter "piggy"`,
		"[profiles.x.tools]\nadapter = \"piggy\"":              `profiles.x.tools.adapter: unknown adapter`,
		"[adapters.x]\ndrop = [[\"a\"]]":                       `adapters.x.drop: want pairs of marks`,
		"[aliases.x]\nargs = {a = \"b\"}":                      `aliases.x: "to" is missing`,
		"[aliases.x]\nto = \"f\"\ndefaults = {a = {b = 1}}":    "",
		"[agent]\nalias_preset = \"x\"":                        `agent.alias_preset: unknown preset "x": want assistant`,
		"[teams.t]\ncoordinator = \"a\"\n[teams.t.members.a]":  `teams.t: a team has two members or more`,
		strings.ReplaceAll(twoMembers, "\"a\"\n%s", "\"c\"\n"): `teams.t.coordinator: "c" is no member: want a or b`,

		strings.ReplaceAll(twoMembers, "%s", "") + "[teams.t.members.\"b c\"]":         `teams.t.members: "b c": want a name of letters`,
		strings.ReplaceAll(twoMembers, "%s", "") + "profile = \"none\"":                `teams.t.members.b.profile: unknown profile "none"`,
		strings.ReplaceAll(twoMembers, "%s", "") + "tier = \"stroll\"":                 `teams.t.members.b.tier: tier "stroll": want crawl, walk or run`,
		strings.ReplaceAll(twoMembers, "%s", "") + "tool_format = \"raect\"":           `unknown format "raect" (did you mean react?)`,
		strings.ReplaceAll(twoMembers, "%s", "use_xml_tool_format = \"yes\""):          `teams.t.use_xml_tool_format: want true or false`,
		strings.ReplaceAll(twoMembers, "%s", "") + "max_rounds = 0":                    `max_rounds: 0: want a whole number above 0`,
		strings.ReplaceAll(twoMembers, "%s", "[teams.t.tools]\nadapter = \"piggy\""):   `teams.t.tools.adapter: unknown adapter "piggy"`,
		strings.ReplaceAll(twoMembers, "%s", "") + "descripton = \"x\"":                `unknown key "descripton" in [teams.t.members.b]: want profile, `,
		strings.ReplaceAll(twoMembers, "%s", "") + "offer = [\"read_file\"]":           "",
		strings.ReplaceAll(twoMembers, "%s", "[teams.t.tools]\ntool_format = \"xml\""): "",
	} {
		_, err := load(t, text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
