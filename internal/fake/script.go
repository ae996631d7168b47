package fake

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// Script is a conversation to play. Chunk and Write may be changed before New.
type Script struct {
	Comment  string   // what stands above the sections
	Kind     string   // "": Ollama's and OpenAI's questions are answered
	Models   []string // names; empty: any
	Tools    bool
	Thinking bool
	Context  int
	Version  string
	Chunk    int // bytes of text in a frame; 0 is all at once
	Write    int // bytes in a write; 0 is a frame
	Key      string

	name       string
	turns      []*turn
	anytime    []*turn  // turns that wait for no others
	lines      []string // of models, with their words
	vision     bool
	embeddings bool
	family     string
	numCtx     int
	token      int
	loaded     Loaded
	load       time.Duration
	loading    int
	delays     []delay
	refused    []refusedField
}

type delay struct {
	path string // "": every one
	d    time.Duration
}

// refusedField is a field that requests may not have.
type refusedField struct{ name, text string }

// delay is how long an answer at a path takes to begin.
func (s *Script) delay(path string) (d time.Duration) {
	for _, one := range s.delays {
		if one.path == "" || one.path == path {
			d = one.d
		}
	}
	return d
}

type turn struct {
	line   int
	wants  []want
	repeat bool
	any    bool    // it answers whatever fits it, whenever that comes
	breaks float64 // share of its replies that are broken
	seed   uint64  // of what draws them

	steps      []step
	stop       string
	usage      counts
	status     int // HTTP error; 0: none
	retryAfter string
	raw        bool
	cutAfter   *int // bytes of the body
}

// step is a piece of a reply: text, think, call, raw, error, stream-error, cut.
type step struct {
	kind string
	name string // of a call; "clean" of a cut
	id   string // of a call
	text string
}

type counts struct{ prompt, completion, cached, reasoning int }

// want is a line of a turn section.
type want struct {
	line int
	text string
	word string
	rest string
}

// Load reads a script file.
func Load(path string) (*Script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("mock script: %w", err)
	}
	return Parse(filepath.Base(path), b)
}

// Parse reads a script. name is for messages, which name the line at fault and
// what may stand there.
func Parse(name string, b []byte) (*Script, error) {
	a := txtar.Parse(b)
	s := &Script{Comment: string(a.Comment), Tools: true, Context: 32768, Version: "0.17.4", family: "mock", numCtx: 4096, token: 4, name: name}
	r := &reading{Script: s, line: 1 + strings.Count(s.Comment, "\n")}
	for _, f := range a.Files {
		if err := r.section(f.Name, string(f.Data)); err != nil {
			return nil, fmt.Errorf("mock script %w", err)
		}
		r.line += 1 + strings.Count(string(f.Data), "\n")
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	if len(s.turns) == 0 {
		return nil, fmt.Errorf("mock script %s: it has no turn: want a line \"-- turn --\" and sections of an answer, such as \"-- text --\"", name)
	}
	s.anytime = slices.DeleteFunc(slices.Clone(s.turns), func(t *turn) bool { return !t.any })
	s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool { return t.any })
	return s, nil
}

type reading struct {
	*Script
	line int // of the section's head
}

func (r *reading) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...))
}

var sections = []string{"server", "turn", "text", "think", "call NAME", "stop REASON", "usage", "error STATUS", "stream-error", "cut", "empty", "raw"}

func (r *reading) section(head, data string) error {
	word, rest, _ := strings.Cut(head, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "server":
		return r.lines(data, r.setting)
	case "turn":
		if err := r.finish(); err != nil {
			return err
		}
		t := &turn{line: r.line, usage: counts{prompt: 40, completion: 20}}
		r.turns = append(r.turns, t)
		return r.lines(data, t.want)
	}
	if !slices.ContainsFunc(sections, func(s string) bool { first, _, _ := strings.Cut(s, " "); return first == word }) {
		return r.fail(r.line, "unknown section %q: want %s", head, strings.Join(sections, ", "))
	}
	if len(r.turns) == 0 {
		return r.fail(r.line, "section %q stands before the first turn: put \"-- turn --\" above it", head)
	}
	if err := r.turns[len(r.turns)-1].answer(word, rest, data); err != nil {
		return r.fail(r.line, "section %q: %v", head, err)
	}
	return nil
}

// finish checks the turn that is over.
func (r *reading) finish() error {
	if len(r.turns) == 0 {
		return nil
	}
	t := r.turns[len(r.turns)-1]
	if len(t.steps) == 0 {
		return r.fail(t.line, "the turn has no answer: want a section such as text, call NAME, error STATUS or empty")
	}
	if t.raw && len(t.steps) > 1 {
		return r.fail(t.line, "the turn mixes raw with other sections: raw is the whole answer")
	}
	return nil
}

// lines reads a section line by line. Empty lines and comments (#) are skipped.
func (r *reading) lines(data string, f func(line int, text string) error) error {
	line := r.line
	for text := range strings.Lines(data) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		if err := f(line, text); err != nil {
			return r.fail(line, "%q: %v", text, err)
		}
	}
	return nil
}

var kinds = []string{"ollama", "openai", "vllm", "llamacpp", "lmstudio", "anthropic", "gemini"}

func (r *reading) setting(_ int, text string) (err error) {
	key, value, ok := strings.Cut(text, ":")
	if !ok {
		return fmt.Errorf("want KEY: VALUE")
	}
	value = strings.TrimSpace(value)
	if set, known := settings[key]; known {
		return set(r.Script, value)
	}
	return fmt.Errorf("unknown key: want %s", strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
}

// settings are the keys of a server section.
var settings = map[string]func(*Script, string) error{
	"kind":       (*Script).setKind,
	"model":      (*Script).setModels,
	"loaded":     (*Script).setLoaded,
	"delay":      (*Script).setDelay,
	"refuse":     (*Script).setRefused,
	"tools":      func(s *Script, v string) error { return yesNo(&s.Tools, v) },
	"thinking":   func(s *Script, v string) error { return yesNo(&s.Thinking, v) },
	"vision":     func(s *Script, v string) error { return yesNo(&s.vision, v) },
	"embeddings": func(s *Script, v string) error { return yesNo(&s.embeddings, v) },
	"context":    func(s *Script, v string) error { return count(&s.Context, v) },
	"num_ctx":    func(s *Script, v string) error { return count(&s.numCtx, v) },
	"token":      (*Script).setToken,
	"loading":    func(s *Script, v string) error { return count(&s.loading, v) },
	"chunk":      func(s *Script, v string) error { return count(&s.Chunk, v) },
	"write":      func(s *Script, v string) error { return count(&s.Write, v) },
	"load":       func(s *Script, v string) error { return duration(&s.load, v) },
	"family":     func(s *Script, v string) error { s.family = v; return nil },
	"version":    func(s *Script, v string) error { s.Version = v; return nil },
	"key":        func(s *Script, v string) error { s.Key = v; return nil },
}

func (s *Script) setKind(value string) error {
	if !slices.Contains(kinds, value) {
		return fmt.Errorf("unknown kind: want %s", strings.Join(kinds, ", "))
	}
	s.Kind = value
	return nil
}

func (s *Script) setModels(value string) error {
	for line := range strings.SplitSeq(value, ",") {
		words := strings.Fields(line)
		if len(words) == 0 {
			return fmt.Errorf("want NAME [WORD …], …")
		}
		for _, word := range words[1:] {
			if err := new(model).word(word); err != nil {
				return err
			}
		}
		s.Models, s.lines = append(s.Models, words[0]), append(s.lines, line)
	}
	return nil
}

func (s *Script) setLoaded(value string) (err error) {
	name, n, _ := strings.Cut(value, " ")
	s.loaded = Loaded{Model: name}
	if n != "" {
		err = count(&s.loaded.NumCtx, n)
	}
	return err
}

func (s *Script) setToken(value string) (err error) {
	if s.token, err = number(value); err != nil || s.token == 0 {
		return fmt.Errorf("want a number, 1 or more")
	}
	return nil
}

func (s *Script) setDelay(value string) error {
	path, text, found := strings.Cut(value, " ")
	if !found {
		path, text = "", value
	}
	one := delay{path: path}
	if err := duration(&one.d, text); err != nil {
		return fmt.Errorf("%w, or a path and a duration", err)
	}
	s.delays = append(s.delays, one)
	return nil
}

func (s *Script) setRefused(value string) error {
	name, text, _ := strings.Cut(value, " ")
	if name == "" {
		return fmt.Errorf("want FIELD, or FIELD TEXT")
	}
	s.refused = append(s.refused, refusedField{name, text})
	return nil
}

func yesNo(to *bool, s string) error {
	if s != "yes" && s != "no" {
		return fmt.Errorf("want yes or no")
	}
	*to = s == "yes"
	return nil
}

func count(to *int, s string) (err error) {
	*to, err = number(s)
	return err
}

func duration(to *time.Duration, s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("want a duration, such as 300ms")
	}
	*to = d
	return nil
}

func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("want a number, 0 or more")
	}
	return n, nil
}

func (t *turn) want(line int, text string) error {
	word, rest, _ := strings.Cut(text, " ")
	w := want{line: line, text: text, word: word, rest: strings.TrimSpace(rest)}
	switch {
	case text == "repeat":
		t.repeat = true
		return nil
	case text == "any":
		t.any = true
		return nil
	case word == "breaks":
		return t.breaking(w.rest)
	case text == "no tools" || text == "no stream" || text == "stream" || word == "tools":
	case (word == "contains" || word == "lacks" || word == "last") && w.rest != "":
	default:
		return fmt.Errorf("unknown line: want contains TEXT, lacks TEXT, tools [NAME …], no tools, last ROLE, stream, no stream, repeat, any or breaks N%% [seed=N]")
	}
	t.wants = append(t.wants, w)
	return nil
}

// breaking reads "N% [seed=N]".
func (t *turn) breaking(words string) error {
	share, seed, _ := strings.Cut(words, " ")
	rate, ok := strings.CutSuffix(share, "%")
	n, err := number(rate)
	if !ok || err != nil || n > 100 {
		return fmt.Errorf("want breaks N%%, with N from 0 to 100")
	}
	t.breaks = float64(n) / 100
	if seed == "" {
		return nil
	}
	value, ok := strings.CutPrefix(strings.TrimSpace(seed), "seed=")
	if n, err = number(value); !ok || err != nil {
		return fmt.Errorf("want seed=N behind the share")
	}
	t.seed = uint64(n)
	return nil
}

// answer adds a section to the reply.
func (t *turn) answer(word, rest, data string) (err error) {
	st := step{kind: word, name: rest, text: strings.TrimSuffix(data, "\n")}
	switch word {
	case "call":
		if st.name, st.id, err = callHead(rest); err != nil {
			return err
		}
	case "stop":
		if rest == "" {
			return fmt.Errorf("want a reason: stop, length, content_filter, …")
		}
		t.stop = rest
		return nil
	case "usage":
		return t.count(rest)
	case "error":
		return t.errorStatus(rest, st)
	case "cut":
		return t.cut(rest, st)
	case "raw":
		t.raw, st.text = true, data
		if status, _, _ := strings.Cut(rest, " "); rest != "" {
			if n, err := strconv.Atoi(status); err != nil || n < 200 || n > 599 {
				return fmt.Errorf("want raw, raw STATUS, or raw STATUS TYPE")
			}
		}
	}
	t.steps = append(t.steps, st)
	return nil
}

// cut breaks the reply off: here, or after so many bytes of the body.
func (t *turn) cut(words string, st step) error {
	if n, after := strings.CutPrefix(words, "after="); after {
		end, err := number(n)
		if err != nil {
			return err
		}
		t.cutAfter = &end
		return nil
	}
	if words != "" && words != "clean" {
		return fmt.Errorf("want cut, cut after=N, or cut clean")
	}
	t.steps = append(t.steps, st)
	return nil
}

func callHead(head string) (name, id string, err error) {
	for _, word := range strings.Fields(head) {
		if value, ok := strings.CutPrefix(word, "id="); ok {
			id = value
		} else if name != "" {
			return "", "", fmt.Errorf("a second name, %q: want call NAME, or call NAME id=ID", word)
		} else {
			name = word
		}
	}
	if name == "" {
		return "", "", fmt.Errorf("the tool's name is missing: want call NAME")
	}
	return name, id, nil
}

func (t *turn) count(words string) error {
	fields := map[string]*int{"prompt": &t.usage.prompt, "completion": &t.usage.completion, "cached": &t.usage.cached, "reasoning": &t.usage.reasoning}
	for _, word := range strings.Fields(words) {
		key, value, _ := strings.Cut(word, "=")
		n, err := number(value)
		if err != nil || fields[key] == nil {
			return fmt.Errorf("%q: want prompt=N, completion=N, cached=N or reasoning=N", word)
		}
		*fields[key] = n
	}
	return nil
}

func (t *turn) errorStatus(words string, st step) error {
	status, after, _ := strings.Cut(words, " ")
	n, err := strconv.Atoi(status)
	if err != nil || n < 400 || n > 599 {
		return fmt.Errorf("want an HTTP status from 400 to 599")
	}
	if after != "" {
		value, ok := strings.CutPrefix(strings.TrimSpace(after), "retry-after=")
		if !ok {
			return fmt.Errorf("%q: want retry-after=N", after)
		}
		t.retryAfter = value
	}
	t.status = n
	t.steps = append(t.steps, st)
	return nil
}

// broken says how a request breaks the line, or "".
func (w want) broken(v voice, in *chatRequest, texts string) string {
	offered := in.tools()
	switch {
	case w.word == "contains" && !strings.Contains(texts, w.rest):
		return "the request does not contain it"
	case w.word == "lacks" && strings.Contains(texts, w.rest):
		return "the request contains it"
	case w.text == "no tools" && len(offered) > 0:
		return "the request offers " + strings.Join(offered, ", ")
	case w.word == "tools" && len(offered) == 0:
		return "the request offers no tools"
	case w.word == "tools":
		for _, name := range strings.Fields(w.rest) {
			if !slices.Contains(offered, name) {
				return "the request offers only " + strings.Join(offered, ", ")
			}
		}
	case w.word == "last":
		if n := len(in.Messages); n == 0 || in.Messages[n-1].Role != w.rest {
			return "the last message is of another role"
		}
	case w.text == "stream" && !in.streams(v):
		return "the request asks for a whole reply"
	case w.text == "no stream" && in.streams(v):
		return "the request does not ask for a whole reply"
	}
	return ""
}

// listed are the models to show, each with its words.
func (s *Script) listed() []string {
	if len(s.lines) == 0 {
		return []string{"mock"}
	}
	return s.lines
}
