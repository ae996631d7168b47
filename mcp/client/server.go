package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Server says how a server is reached, and what its tools may do. A value of Env
// or Headers, an argument and the URL may name a variable of the environment as
// ${NAME} or ${NAME:-value without it}; it is looked up when the server is started.
type Server struct {
	Name string

	Command string            // a program that speaks MCP on standard input and output
	Args    []string          // of the program
	Env     map[string]string // beside PATH, HOME, LANG and TMPDIR
	Dir     string            // where it starts; "": where this program was started

	URL     string            // in place of Command: a server that speaks streamable HTTP
	Headers map[string]string // sent along, to this server alone
	OAuth   *OAuth            // nil: it asks for no login

	Tier  *utp.Tier           // of its tools; nil: RUN
	Tiers map[string]utp.Tier // of single tools, by the names that the server has for them
	Only  []string            // the tools that are used, by these names; none: all

	Timeout      time.Duration // of a call; 0: a minute
	StartTimeout time.Duration // until it has listed its tools; 0: half a minute
}

// OAuth says as whom a login is asked for.
type OAuth struct {
	ClientID     string // "": registered when it is first needed
	ClientSecret string // may be ${NAME}
	Scopes       []string
}

const (
	defaultTimeout = time.Minute
	defaultStart   = 30 * time.Second
)

func (s Server) timeout() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return defaultTimeout
}

func (s Server) startTimeout() time.Duration {
	if s.StartTimeout > 0 {
		return s.StartTimeout
	}
	return defaultStart
}

// tier is that of a tool. What the server says of it does not count.
func (s Server) tier(tool string) utp.Tier {
	if t, ok := s.Tiers[tool]; ok {
		return t
	}
	if s.Tier != nil {
		return *s.Tier
	}
	return utp.TierRun
}

// lowest is the lowest tier that a tool may have.
func (s Server) lowest() utp.Tier {
	least := s.tier("")
	for _, t := range s.Tiers {
		least = min(least, t)
	}
	return least
}

// Highest is the highest tier that a tool may have.
func (s Server) Highest() utp.Tier {
	most := s.tier("")
	for _, t := range s.Tiers {
		most = max(most, t)
	}
	return most
}

// Where is the command line or the URL, as it was written.
func (s Server) Where() string {
	if s.URL != "" {
		return s.URL
	}
	words := append([]string{s.Command}, s.Args...)
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./{}$-]+$`)

func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Whole says all that starting or calling the server would do, for a person to
// agree to: the command line or the URL, the folder, the variables, the headers.
func (s Server) Whole() string {
	lines := []string{s.Where()}
	if s.Dir != "" {
		lines = append(lines, "in "+s.Dir)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		lines = append(lines, "with "+name+"="+s.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		lines = append(lines, "with the header "+name+": "+s.Headers[name])
	}
	if o := s.OAuth; o != nil {
		lines = append(lines, strings.TrimSpace("with a login "+o.ClientID))
	}
	return strings.Join(lines, "\n")
}

// ID is equal for servers that are reached in the same way, so that what is known
// of the one, and was agreed to, holds for the other.
func (s Server) ID() string {
	b, err := json.Marshal([]any{s.Name, s.Command, s.Args, s.Env, s.Dir, s.URL, s.Headers, s.OAuth})
	if err != nil {
		panic(err) // strings alone
	}
	return digest(b)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// expand puts the values of variables into a text. what says where it stands.
func expand(text, what string, env func(string) string) (string, error) {
	var missing error
	out := reference.ReplaceAllStringFunc(text, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		name, value := m[1], env(m[1])
		if value == "" && strings.Contains(ref, ":-") {
			return m[2]
		}
		if value == "" && missing == nil {
			missing = fmt.Errorf("%s names ${%s}, which is not set in the environment", what, name)
		}
		return value
	})
	return out, missing
}

// Check refuses a server that cannot be reached as it is described.
func (s Server) Check() error {
	switch {
	case !serverName.MatchString(s.Name):
		return fmt.Errorf("%q: want a name of letters, digits, _ and -, of at most 32", s.Name)
	case s.Command == "" && s.URL == "":
		return errors.New("want a command, or the url of a server")
	case s.Command != "" && s.URL != "":
		return errors.New("it has both a command and a url: want one of them")
	case s.URL == "" && (len(s.Headers) > 0 || s.OAuth != nil):
		return errors.New("headers and a login belong to a url, and it has a command")
	case s.URL != "" && (len(s.Args) > 0 || len(s.Env) > 0 || s.Dir != ""):
		return errors.New("args, env and cwd belong to a command, and it has a url")
	}
	return nil
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
