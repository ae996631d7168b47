package fake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// model is one that the server has.
type model struct {
	name    string // as the server lists it
	tools   bool
	thinks  bool
	vision  bool
	context int
	family  string
	made    int // anew, so many times
}

// modelWords set a model apart from the script's others.
var modelWords = []string{"tools", "no-tools", "thinking", "no-thinking", "vision", "context=N", "family=NAME"}

func (m *model) word(word string) error {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "tools", "no-tools":
		m.tools = word == "tools"
	case "thinking", "no-thinking":
		m.thinks = word == "thinking"
	case "vision":
		m.vision = true
	case "context":
		n, err := number(value)
		m.context = n
		return err
	case "family":
		m.family = value
	default:
		return fmt.Errorf("unknown word %q of a model: want %s", word, strings.Join(modelWords, ", "))
	}
	return nil
}

// model reads "NAME WORD …"; Parse has seen that the words are right.
func (s *Script) model(line string) model {
	m := model{tools: s.Tools, thinks: s.Thinking, vision: s.vision, context: s.Context, family: s.family}
	words := strings.Fields(line)
	m.name = s.full(words[0])
	for _, word := range words[1:] {
		_ = m.word(word)
	}
	return m
}

// full is a name as the server lists it: Ollama's have a tag.
func (s *Script) full(name string) string {
	if s.ollama() && !strings.Contains(name, ":") {
		return name + ":latest"
	}
	return name
}

func (s *Script) ollama() bool { return s.Kind == "" || s.Kind == "ollama" }

// find is the model of a name, in either spelling. A script without names has any.
func (s *Server) find(name string) (model, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.Kind == "llamacpp" {
		return s.models[0], true
	}
	if name == "" {
		return model{}, false
	}
	for _, m := range s.models {
		if m.name == s.script.full(name) {
			return m, true
		}
	}
	return s.script.model(name), len(s.script.Models) == 0
}

// list is a copy of the models.
func (s *Server) list() []model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.models)
}

// Add makes a model after the start, as "ollama cp" or "ollama pull" does: NAME,
// or NAME and words as in a script's line "model". One that is there is made anew;
// what is in memory of it stays there under its old digest.
func (s *Server) Add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.script.model(line)
	at := slices.IndexFunc(s.models, func(old model) bool { return old.name == m.name })
	if at < 0 {
		s.models = append(s.models, m)
		return
	}
	old := s.models[at]
	m.made = old.made + 1
	s.models[at] = m
	if h := s.memory[m.name]; h != nil {
		h.digest = old.digest()
		s.memory[m.name+" "+h.digest] = h
		delete(s.memory, m.name)
	}
}

// Loaded is one start of a model in Ollama's memory. A window of another size is
// another start.
type Loaded struct {
	Model  string
	NumCtx int
}

// Loads lists the loads so far, reloads among them.
func (s *Server) Loads() []Loaded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.loads)
}

// held is a model in memory.
type held struct {
	ctx         int
	used, until time.Time
	digest      string // of what it was before it was made anew; "": the model's
}

// keepAlive is how long Ollama keeps a model that nobody asks.
const keepAlive = 5 * time.Minute

// keep loads the model that a request is for, or unloads it, and says which.
// Source: Ollama server/sched.go, needsReload, and server/routes.go, ChatHandler.
func (s *Server) keep(r *http.Request, in *chatRequest) string {
	alive := lifetime(in.Keep)
	if in.empty() && alive == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.memory, in.model.name)
		return "unload"
	}
	in.window = s.window(in)
	if s.put(in.model.name, in.window, alive) {
		wait(r, s.script.load)
	}
	return "load"
}

// put holds a model in memory and reports whether that needed a load.
func (s *Server) put(name string, ctx int, alive time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	h, in := s.memory[name]
	loads := !in || h.ctx != ctx || h.until.Before(now)
	s.memory[name] = &held{ctx: ctx, used: now, until: now.Add(alive)}
	if loads {
		s.loads = append(s.loads, Loaded{name, ctx})
	}
	return loads
}

// window is what the model is loaded with for a request.
func (s *Server) window(in *chatRequest) int {
	n := s.script.numCtx
	if raw, asked := in.Options["num_ctx"]; asked {
		var f float64
		if json.Unmarshal(raw, &f) == nil {
			n = int(f)
		}
	}
	return min(n, in.model.context)
}

// lifetime reads a keep_alive: seconds or a duration, below zero for ever.
func lifetime(raw json.RawMessage) time.Duration {
	var seconds float64
	var text string
	d := keepAlive
	if string(raw) == "null" {
		return d
	}
	if json.Unmarshal(raw, &seconds) == nil {
		d = time.Duration(seconds * float64(time.Second))
	} else if json.Unmarshal(raw, &text) == nil {
		if parsed, err := time.ParseDuration(text); err == nil {
			d = parsed
		}
	}
	if d < 0 {
		return 1 << 62
	}
	return d
}

// running lists what is in memory, the last used first.
func (s *Server) running() (names []string, by map[string]held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by = map[string]held{}
	for name, h := range s.memory {
		if h.until.After(time.Now()) {
			names, by[name] = append(names, name), *h
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(by[b].used.Compare(by[a].used), cmp.Compare(a, b))
	})
	return names, by
}

// digest is a model's, of 64 hex digits.
func (m *model) digest() string {
	name := m.name
	if m.made > 0 {
		name = fmt.Sprint(m.name, " ", m.made)
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}
