package codec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Names translates the names of a request's tools into what a provider allows,
// and back.
type Names struct {
	out, in map[string]string
	custom  map[string]bool
	max     int
	strays  []string // renamed, and not offered
}

// NewNames takes the tools of a request. max is the longest legal name, of
// letters, digits, "_" and "-"; 0 leaves every name as it is. A tool without a
// name and two tools of one name are errors.
func NewNames(tools []utp.Tool, max int) (*Names, error) {
	n := &Names{out: make(map[string]string, len(tools)), in: make(map[string]string, len(tools)), custom: map[string]bool{}, max: max}
	for i, t := range tools {
		if t.Name == "" {
			return nil, fmt.Errorf("wire: tools[%d]: the name is missing", i)
		}
		if _, twice := n.out[t.Name]; twice {
			return nil, fmt.Errorf("wire: tools[%d]: a second tool named %q: want every name once", i, t.Name)
		}
		n.out[t.Name] = t.Name
		if t.Kind == utp.CustomTool {
			n.custom[t.Name] = true
		}
		if max == 0 || legal(t.Name, max) {
			n.in[t.Name] = t.Name
		}
	}
	for _, t := range tools {
		if _, kept := n.in[n.out[t.Name]]; !kept {
			n.rename(t.Name, max)
		}
	}
	return n, nil
}

func (n *Names) rename(name string, max int) {
	wire := sanitise(name, max)
	if _, taken := n.in[wire]; taken {
		wire = shorten(wire, name, max)
	}
	n.out[name], n.in[wire] = wire, name
}

// Out is the name to send, also of a tool that is not offered any more.
func (n *Names) Out(name string) string {
	if wire, ok := n.out[name]; ok {
		return wire
	}
	if n.max == 0 || legal(name, n.max) {
		return name
	}
	if !slices.Contains(n.strays, name) {
		n.strays = append(n.strays, name)
	}
	return sanitise(name, n.max)
}

// Strays reports the names in the history of tools that are not offered any more
// and had to be changed.
func (n *Names) Strays(lose func(path, what, why string)) {
	for _, name := range n.strays {
		lose("messages", name+" called "+sanitise(name, n.max), "only letters, digits, _ and - are allowed in a name")
	}
}

// In is the tool's own name.
func (n *Names) In(wire string) string {
	if name, ok := n.in[wire]; ok {
		return name
	}
	return wire
}

// Custom reports a tool with free text input, by its own name.
func (n *Names) Custom(name string) bool { return n.custom[name] }

func (n *Names) known(wire string) bool { _, ok := n.in[wire]; return ok }

func legal(s string, max int) bool {
	return s != "" && len(s) <= max && strings.IndexFunc(s, illegal) < 0
}

func illegal(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func sanitise(name string, max int) string {
	wire := strings.Map(func(r rune) rune {
		if illegal(r) {
			return '_'
		}
		return r
	}, name)
	if len(wire) > max {
		return shorten(wire, name, max)
	}
	return wire
}

// shorten cuts wire to make room for a hash of the name.
func shorten(wire, name string, max int) string {
	sum := sha256.Sum256([]byte(name))
	return wire[:min(len(wire), max-9)] + "_" + hex.EncodeToString(sum[:4])
}

// ShortIDs keeps ids of at most max letters, digits, "_" and "-" and replaces
// the others by "call_" and a hash.
func ShortIDs(max int) func(id string) string {
	return func(id string) string {
		if legal(id, max) {
			return id
		}
		return "call_" + base62(id, 22)
	}
}

// OwnIDs keeps ids of at most max visible ASCII characters, which a server made
// itself, and replaces the others as ShortIDs does.
func OwnIDs(max int) func(id string) string {
	short := ShortIDs(max)
	return func(id string) string {
		if len(id) <= max && id != "" && strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
			return id
		}
		return short(id)
	}
}

// FixedIDs keeps ids of exactly n letters and digits and replaces the others by
// a hash. Source: Mistral's API wants nine.
func FixedIDs(n int) func(id string) string {
	return func(id string) string {
		if len(id) == n && legal(id, n) && !strings.ContainsAny(id, "_-") {
			return id
		}
		return base62(id, n)
	}
}

// Counted is the id of a call, by its place in the conversation, as Kimi K2 writes
// and reads it. With other ids it stops calling.
// Source: Kimi-K2 docs/tool_call_guidance.md.
func (n *Names) Counted(name string, place int) string {
	return "functions." + n.Out(name) + ":" + strconv.Itoa(place)
}

func base62(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	return strings.Repeat("0", max(0, n-len(text))) + text[:min(n, len(text))]
}
