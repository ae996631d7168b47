package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/format"
)

// Team is a table [teams.NAME]: agents that work for one question. What it
// says of formats counts for all of its members.
type Team struct {
	Coordinator string            `toml:"coordinator"` // the member that is asked, and calls the others
	ForceXML    *bool             `toml:"use_xml_tool_format"`
	Tools       Tools             `toml:"tools"`
	Members     map[string]Member `toml:"members"`
}

// Member is a table [teams.NAME.members.NAME]. What it does not set comes from
// its profile, then from the other tables.
type Member struct {
	Profile      string    `toml:"profile"`
	Model        string    `toml:"model"`
	ToolFormat   Format    `toml:"tool_format"`
	Description  string    `toml:"description"`  // what it is good at, for the coordinator
	Instructions Prompt    `toml:"instructions"` // added to its system prompt
	Tier         *utp.Tier `toml:"tier"`
	Offer        []string  `toml:"offer"` // names of tools; none: all of its tier
	MaxRounds    Count     `toml:"max_rounds"`
}

// MemberSettings is what one member of a team goes by.
type MemberSettings struct {
	Settings
	Name        string
	Description string
	Offer       []string // names of tools; empty: all of the tier
}

// ResolveTeam lays the profile of each member, the environment and the flags
// over the files, for the coordinator and the other members in the order of
// their names. No member gets a higher tier than Resolve allows. Its errors are
// of type *Error.
func (c *Config) ResolveTeam(team string, f Flags, env func(string) string) (lead MemberSettings, others []MemberSettings, err error) {
	t, ok := c.Teams[team]
	if !ok {
		names, want := slices.Sorted(maps.Keys(c.Teams)), "no file has a [teams.NAME]"
		if len(names) > 0 {
			want = "want " + either(names)
		}
		return lead, nil, &Error{File: "--team", Message: fmt.Sprintf("unknown team %q: %s", team, want)}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Members)) {
		m, err := c.member(team, name, f, env)
		if err != nil {
			return lead, nil, err
		}
		if name == t.Coordinator {
			lead = m
			continue
		}
		others = append(others, m)
	}
	return lead, others, nil
}

func (c *Config) member(team, name string, f Flags, env func(string) string) (MemberSettings, error) {
	t := c.Teams[team]
	m := t.Members[name]
	own := f
	own.Profile, own.Model = first(m.Profile, f.Profile), m.Model
	own.MaxRounds = first(f.MaxRounds, int(m.MaxRounds))
	r := c.resolver(own, func(key string) string {
		if key == "BX_PROFILE" && m.Profile != "" || key == "BX_MODEL" && (m.Profile != "" || m.Model != "") {
			return ""
		}
		return env(key)
	})
	from := "team " + team
	r.lay(t.Tools.layer(format.Team, from, t.ForceXML))
	r.lay(format.Layer{Level: format.Profile, From: "member " + name, Format: string(m.ToolFormat)})
	r.out.habits = []habit{{from, "", t.Tools}}
	if err := r.resolve(); err != nil {
		return MemberSettings{}, err
	}
	if m.Tier != nil {
		r.out.MaxTier = min(*m.Tier, r.out.MaxTier)
		r.out.Tier = r.out.MaxTier
	}
	if m.Model != "" {
		r.out.ModelWhy = "member " + name
	}
	if m.Profile != "" {
		r.out.ProfileWhy = "member " + name
	}
	if m.Instructions != "" {
		r.out.Extra = joined(r.out.Extra, string(m.Instructions))
	}
	return MemberSettings{r.out, name, m.Description, m.Offer}, nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

// memberName is what a tool may be called everywhere.
var memberName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,39}$`)

// checkTeams refuses teams that cannot work.
func (c *Config) checkTeams() error {
	for _, name := range slices.Sorted(maps.Keys(c.Teams)) {
		t, where := c.Teams[name], "teams."+name
		members := slices.Sorted(maps.Keys(t.Members))
		if len(members) < 2 {
			return &Error{File: where, Message: "a team has two members or more: want [" + where + ".members.NAME] for each"}
		}
		if !slices.Contains(members, t.Coordinator) {
			return &Error{File: where + ".coordinator", Message: fmt.Sprintf("%q is no member: want %s", t.Coordinator, either(members))}
		}
		for _, m := range members {
			if !memberName.MatchString(m) {
				return &Error{File: where + ".members", Message: fmt.Sprintf("%q: want a name of letters, digits, _ and -, as it is that of a tool", m)}
			}
			if p := t.Members[m].Profile; p != "" {
				if _, err := c.profile(p, where+".members."+m+".profile"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
