package arch

// Ring is a package's place: it imports lower rings only.
type Ring int

// Tooling is the place of packages for tests and development. They may import
// anything; only tests import them.
const Tooling Ring = -1

// Room is one package of the module.
type Room struct {
	Path   string // below the module; "." is its root
	Ring   Ring
	Beside []string // packages of its own ring that it may import
	Deps   []string // modules of others that it may import, in the rings 0 to 2
}

// codecs is what a provider's package may import: never another provider's.
var codecs = []string{"wire", "wire/internal/codec", "wire/internal/dialect", "wire/internal/history", "wire/internal/shape"}

// rooms is the plan of the house. ARCHITECTURE.md says in a line what each is for.
var rooms = []Room{
	{Path: ".", Ring: 0},

	{Path: "grammar", Ring: 1},
	{Path: "internal/template", Ring: 1},
	{Path: "lenient", Ring: 1},
	{Path: "record", Ring: 1},
	{Path: "schema", Ring: 1, Beside: []string{"lenient"}, Deps: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
	{Path: "te", Ring: 1},
	{Path: "transcript", Ring: 1},

	{Path: "format", Ring: 2},
	{Path: "learn", Ring: 2},
	{Path: "parse", Ring: 2, Beside: []string{"parse/internal/body", "parse/internal/scan"}},
	{Path: "parse/internal/body", Ring: 2, Beside: []string{"parse/internal/scan"}},
	{Path: "parse/internal/scan", Ring: 2},
	{Path: "price", Ring: 2},
	{Path: "prompt", Ring: 2},
	{Path: "wire", Ring: 2, Beside: []string{"wire/internal/shape"}},
	{Path: "wire/anthropic", Ring: 2, Beside: codecs},
	{Path: "wire/embed", Ring: 2, Beside: []string{"wire", "wire/internal/shape"}},
	{Path: "wire/gemini", Ring: 2, Beside: codecs},
	{Path: "wire/ollama", Ring: 2, Beside: codecs},
	{Path: "wire/openai", Ring: 2, Beside: codecs},
	{Path: "wire/responses", Ring: 2, Beside: codecs},
	{Path: "wire/translate", Ring: 2, Beside: []string{"wire", "wire/anthropic", "wire/gemini", "wire/ollama", "wire/openai", "wire/responses"}},
	{Path: "wire/internal/codec", Ring: 2, Beside: []string{"wire", "wire/internal/dialect", "wire/internal/shape"}},
	{Path: "wire/internal/dialect", Ring: 2, Beside: []string{"wire/internal/shape"}},
	{Path: "wire/internal/history", Ring: 2, Beside: []string{"wire"}},
	{Path: "wire/internal/shape", Ring: 2},

	{Path: "backend", Ring: 3},
	{Path: "backend/extract", Ring: 3},
	{Path: "backend/local", Ring: 3},
	{Path: "dialect", Ring: 3},
	{Path: "fleet", Ring: 3},
	{Path: "fleet/cache", Ring: 3, Beside: []string{"fleet"}},
	{Path: "fleet/database", Ring: 3, Beside: []string{"fleet"}},
	{Path: "fleet/oidc", Ring: 3, Beside: []string{"fleet"}},
	{Path: "git", Ring: 3},
	{Path: "journal", Ring: 3},
	{Path: "mcp", Ring: 3},
	{Path: "mcp/client", Ring: 3, Beside: []string{"safefile"}},
	{Path: "rule", Ring: 3},
	{Path: "safefile", Ring: 3},
	{Path: "sandbox", Ring: 3},
	{Path: "search", Ring: 3},
	{Path: "search/index", Ring: 3, Beside: []string{"search", "search/vector"}},
	{Path: "search/vector", Ring: 3},
	{Path: "store", Ring: 3},
	{Path: "undo", Ring: 3, Beside: []string{"safefile", "search"}},
	{Path: "store/handle", Ring: 3},

	{Path: "agent", Ring: 4},
	{Path: "gateway", Ring: 4},
	{Path: "internal/fake", Ring: 4}, // also "bx mock"
	{Path: "tool", Ring: 4},

	{Path: "cmd/bx", Ring: 5, Beside: []string{
		"cmd/bx/internal/cells",
		"cmd/bx/internal/clientfile",
		"cmd/bx/internal/config",
		"cmd/bx/internal/cost",
		"cmd/bx/internal/dash",
		"cmd/bx/internal/doctor",
		"cmd/bx/internal/envelope",
		"cmd/bx/internal/keys",
		"cmd/bx/internal/line",
		"cmd/bx/internal/markdown",
		"cmd/bx/internal/prompting",
		"cmd/bx/internal/reading",
		"cmd/bx/internal/serving",
		"cmd/bx/internal/stats",
		"cmd/bx/internal/telemetry",
		"cmd/bx/internal/view",
		"cmd/internal/build",
		"cmd/internal/commands",
		"cmd/internal/dirs",
		"cmd/internal/settings",
	}},
	{Path: "cmd/bx/internal/cells", Ring: 5},
	{Path: "cmd/bx/internal/clientfile", Ring: 5},
	{Path: "cmd/bx/internal/config", Ring: 5, Beside: []string{"cmd/internal/settings", "cmd/internal/toolenvelope"}},
	{Path: "cmd/bx/internal/cost", Ring: 5},
	{Path: "cmd/bx/internal/dash", Ring: 5},
	{Path: "cmd/bx/internal/doctor", Ring: 5},
	{Path: "cmd/bx/internal/envelope", Ring: 5},
	{Path: "cmd/bx/internal/keys", Ring: 5},
	{Path: "cmd/bx/internal/line", Ring: 5, Beside: []string{"cmd/bx/internal/cells"}},
	{Path: "cmd/bx/internal/markdown", Ring: 5, Beside: []string{"cmd/bx/internal/cells"}},
	{Path: "cmd/bx/internal/prompting", Ring: 5},
	{Path: "cmd/bx/internal/reading", Ring: 5, Beside: []string{"cmd/bx/internal/envelope"}},
	{Path: "cmd/bx/internal/serving", Ring: 5, Beside: []string{"cmd/bx/internal/config", "cmd/internal/settings"}},
	{Path: "cmd/bx/internal/stats", Ring: 5, Beside: []string{"cmd/bx/internal/cells"}},
	{Path: "cmd/bx/internal/telemetry", Ring: 5},
	{Path: "cmd/bx/internal/view", Ring: 5, Beside: []string{"cmd/bx/internal/cells", "cmd/bx/internal/markdown"}},
	{Path: "cmd/internal/build", Ring: 5},
	{Path: "cmd/bx/wasm", Ring: 5, Beside: []string{"cmd/bx/internal/reading"}},
	{Path: "cmd/internal/commands", Ring: 5, Beside: []string{"cmd/internal/dirs", "cmd/internal/settings", "cmd/internal/toolenvelope"}},
	{Path: "cmd/internal/dirs", Ring: 5},
	{Path: "cmd/internal/settings", Ring: 5},
	{Path: "cmd/internal/toolenvelope", Ring: 5},
	{Path: "cmd/te", Ring: 5, Beside: []string{"cmd/internal/build", "cmd/internal/commands"}},

	{Path: "cmd/bx/internal/dash/dashtest", Ring: Tooling},
	{Path: "internal/arch", Ring: Tooling},
	{Path: "internal/contract", Ring: Tooling},
	{Path: "internal/golden", Ring: Tooling},
	{Path: "internal/learnsim", Ring: Tooling},
	{Path: "internal/release", Ring: Tooling},
	{Path: "internal/replicas", Ring: Tooling},
	{Path: "internal/report", Ring: Tooling},
	{Path: "internal/screen", Ring: Tooling},
}

// Rooms lists the packages that have a place, whether they are built yet or not.
func Rooms() []Room { return append([]Room(nil), rooms...) }

func roomOf(path string) (Room, bool) {
	for _, r := range rooms {
		if r.Path == path {
			return r, true
		}
	}
	return Room{}, false
}
