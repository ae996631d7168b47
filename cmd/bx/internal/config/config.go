// Package config reads bx.toml and llmc.toml.
//
// Later layers win: built-in defaults, the user's directory
// ($XDG_CONFIG_HOME/bx/), the repository, then the file of --config. In every
// place llmc.toml is read before bx.toml. Resolve lays the chosen profile, the
// environment and the flags over them.
//
// Every key is checked: an unknown key or value is an *Error that points at it
// and names the valid ones. In llmc.toml, which other programs share, only the
// tables of bx are read and checked; the names of the others are in
// Config.Ignored. A repository's own file may choose and bring profiles, set the
// keys that LLMC has, name servers of this machine, lower tiers and have
// rules that ask or deny. What else it says is left out with a warning, and so is
// what is wrong in it.
package config

import (
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/rule"
)

// Config is the sum of all files.
type Config struct {
	Agent    Agent              `toml:"agent"`
	Ollama   Ollama             `toml:"ollama"`
	OpenAI   OpenAI             `toml:"openai"`
	Session  Session            `toml:"session"`
	Tools    Tools              `toml:"tools"`
	Models   map[string]Tools   `toml:"models"`
	Profiles map[string]Profile `toml:"profiles"`
	Teams    map[string]Team    `toml:"teams"`
	Adapters map[string]Adapter `toml:"adapters"`
	Aliases  map[string]Alias   `toml:"aliases"`

	Templates map[string]Template `toml:"tool_templates"`
	Dialects  Dialects            `toml:"dialects"`

	Envelope toolenvelope.Table `toml:"tool_envelope"`
	Shell    Shell              `toml:"shell"`
	Rules    rule.Set           `toml:"rule"`

	MCP map[string]MCPServer `toml:"mcp_servers"`

	Telemetry *bool      `toml:"telemetry"` // figures of what happens are kept on this machine; nil: they are
	Stats     Stats      `toml:"stats"`
	Prices    price.List `toml:"prices"`

	Files   []string `toml:"-"` // read, in the order of their layers
	Ignored []string `toml:"-"` // tables of other programs: "llmc.toml: [rag]"

	Warnings []string `toml:"-"` // what was left out, and why

	Own Own `toml:"-"` // the dialects of all files, those of later layers first

	repoURL bool     // OpenAI.URL comes from the repository: no key of the user goes there
	users   *Agent   // [agent] of the user's files, where the repository has one too
	theirs  []string // names of the profiles that the repository brought

	theirServers []string // names of the MCP servers that it names
	chosen       choice   // Agent.Profile
	provided     choice   // Agent.Provider
}

// choice is where a value stands that chooses who is asked.
type choice struct {
	at      *Error // nil: nowhere
	trusted bool
}

// Agent is the table [agent].
type Agent struct {
	Profile      string   `toml:"profile"`
	Provider     Provider `toml:"provider"`
	Model        string   `toml:"model"`
	DefaultTier  utp.Tier `toml:"default_tier"`
	MaxTier      utp.Tier `toml:"max_tier"`
	MaxRounds    Count    `toml:"max_rounds"`
	Timeout      Seconds  `toml:"timeout"`
	ForceXML     *bool    `toml:"use_xml_tool_format"`
	Instructions Prompt   `toml:"instructions"`
	AliasPreset  string   `toml:"alias_preset"`
	Guides       *bool    `toml:"guides"`
	Presearch    *bool    `toml:"presearch"`
	RunWords     []string `toml:"run_words"`
	WalkWords    []string `toml:"walk_words"`
}

// Ollama is the table [ollama].
type Ollama struct {
	URL         URL      `toml:"url"`
	Timeout     Seconds  `toml:"timeout"`
	Temperature *float64 `toml:"temperature"`
	NumCtx      Count    `toml:"num_ctx"`
}

// OpenAI is the table [openai]: any server with /v1/chat/completions.
type OpenAI struct {
	URL         URL      `toml:"url"`
	Model       string   `toml:"model"`
	APIKey      string   `toml:"api_key"`
	APIKeyEnv   string   `toml:"api_key_env"`
	Timeout     Seconds  `toml:"timeout"`
	Temperature *float64 `toml:"temperature"`
}

// Session is the table [session].
type Session struct {
	Storage          string  `toml:"storage"`
	TimeoutHours     float64 `toml:"timeout_hours"`
	KeepDays         Count   `toml:"keep_days"`
	MaxHistoryTokens Count   `toml:"max_history_tokens"`
}

// Stats is the table [stats]: what is kept of what happens, and for how long.
type Stats struct {
	Content     bool  `toml:"content"` // also what is asked and answered, redacted
	Days        Count `toml:"days"`
	MB          Count `toml:"mb"`
	ContentDays Count `toml:"content_days"`
	ContentMB   Count `toml:"content_mb"`
}

// Tools says in which form tools go out and calls come back: the table
// [tools], [profiles.NAME.tools] over it, and [models."NAME"] for the models of
// a name or a glob.
type Tools struct {
	ToolFormat       Format       `toml:"tool_format"`
	DefinitionFormat Format       `toml:"definition_format"`
	CallParser       Parser       `toml:"call_parser"`
	ResultFormat     ResultFormat `toml:"result_format"`
	Adapter          string       `toml:"adapter"`
	OneCall          *bool        `toml:"one_call"`
	Insist           *bool        `toml:"insist"`
	Suggest          *bool        `toml:"suggest"`
	DropEmpty        *bool        `toml:"drop_empty"`
}

// Profile is a table [profiles.NAME]. What it does not set comes from the
// tables above it.
type Profile struct {
	Provider    Provider `toml:"provider"`
	Model       string   `toml:"model"`
	URL         URL      `toml:"url"`
	APIKey      string   `toml:"api_key"`
	APIKeyEnv   string   `toml:"api_key_env"`
	Temperature *float64 `toml:"temperature"`
	Timeout     Seconds  `toml:"timeout"`
	TimeoutSecs Seconds  `toml:"timeout_seconds"`
	NumCtx      Count    `toml:"num_ctx"`
	ForceXML    *bool    `toml:"use_xml_tool_format"`
	Tools       Tools    `toml:"tools"`
}

// Shell is the table [shell]: folders beside the repository that commands may
// use in the sandbox.
type Shell struct {
	Read  []string `toml:"read"`  // of the home folder, which is hidden otherwise
	Write []string `toml:"write"` // anywhere
}

// Defaults is the configuration of a machine without any file.
func Defaults() *Config {
	return &Config{
		Agent:   Agent{DefaultTier: utp.TierWalk, MaxTier: utp.TierRun, MaxRounds: 50, Timeout: 300},
		Session: Session{TimeoutHours: 4, KeepDays: 90, MaxHistoryTokens: 4096},
		Stats: Stats{Days: Count(journal.Events.Days), MB: Count(journal.Events.Bytes >> 20),
			ContentDays: Count(journal.Content.Days), ContentMB: Count(journal.Content.Bytes >> 20)},
		Envelope: toolenvelope.Default(),
	}
}

// Seconds is a time span as the files write it: 30 or 1.5.
type Seconds float64

// Duration converts s.
func (s Seconds) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }
