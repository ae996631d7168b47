package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// held is what Ollama itself says is in its memory: names and windows.
func (w *world) held() (map[string]int, error) {
	ps, err := get(w.ollama.url + "/api/ps")
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, m := range list(ps, "models") {
		n, _ := dig(m, "context_length").(float64)
		out[text(m, "name")] = int(n)
	}
	return out, nil
}

// unloadAll empties Ollama's memory.
func (w *world) unloadAll() error {
	held, err := w.held()
	if err != nil {
		return err
	}
	for name := range held {
		if _, err := fetch(http.MethodPost, w.ollama.url+"/api/generate", fmt.Appendf(nil, `{"model":%q,"keep_alive":0}`, name)); err != nil {
			return err
		}
	}
	return w.released(slices.Collect(maps.Keys(held))...)
}

// released waits until none of the models is in memory: Ollama answers before it lets go.
func (w *world) released(models ...string) (err error) {
	var held map[string]int
	for range 50 {
		if held, err = w.held(); err != nil || !slices.ContainsFunc(models, func(m string) bool { return held[m] != 0 }) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("still in memory: %v", held)
}

var greeting = asked{model: "tiny-plain", text: "Say hello"}

// direct asks Ollama itself.
func (w *world) direct(q asked) (answer, error) { return apis[4].ask(w.ollama.url, q) }

var windowChecks = []check{
	{"ollama", "a loaded window that fits is used", loadedWindow},
	{"ollama", "max_tokens 32000 for a greeting", bigReserve},
	{"ollama", "12 turns with results of 6 KB", longSession},
	{"ollama", "what the server cuts is told", silentCut},
}

// loadedWindow: another client of the server has loaded the model with 4096.
func loadedWindow(w *world) (string, error) {
	if err := w.unloadAll(); err != nil {
		return "", err
	}
	var took []time.Duration
	before := 0
	for i := range 6 {
		began := time.Now()
		_, err := w.direct(greeting)
		if err == nil && i%2 == 1 {
			_, err = apis[0].ask(w.gateway.url, greeting)
		}
		if err != nil {
			return "", err
		}
		if i == 0 {
			before = w.loads()
			time.Sleep(2500 * time.Millisecond) // bx believes for two seconds what it knew
		} else {
			took = append(took, time.Since(began))
		}
	}
	n := w.loads() - before
	figure := fmt.Sprintf("%d reloads, %s a request", n, median(took))
	if n > 0 {
		return figure, errors.New("bx and another client in turn reload the model")
	}
	return figure, nil
}

func bigReserve(w *world) (string, error) {
	if err := w.unloadAll(); err != nil {
		return "", err
	}
	q := greeting
	q.max = 32000
	got, err := apis[2].ask(w.gateway.url, q)
	if err != nil {
		return "", err
	}
	held, err := w.held()
	if err != nil {
		return "", err
	}
	n := held["tiny-plain:latest"]
	figure := fmt.Sprintf("num_ctx %d", n)
	if warning := got.header.Get("X-Bx-Warning"); n == 0 || n > 8192 || warning != "" || got.text == "" {
		return figure, fmt.Errorf("in memory %v, warning %q, answer %q, want at most 8192 and no warning", held, warning, got.text)
	}
	return figure, nil
}

// longSession grows as a coding agent's does.
func longSession(w *world) (string, error) {
	if err := w.unloadAll(); err != nil {
		return "", err
	}
	before := w.loads()
	var windows []int
	history := []any{map[string]any{"role": "user", "content": question}}
	for turn := range 12 {
		got, err := apis[0].ask(w.gateway.url, asked{model: "tiny-coderp", tools: true, max: 300, more: map[string]any{"messages": history}})
		if err != nil {
			return "", err
		}
		if got.status != http.StatusOK {
			return "", fmt.Errorf("turn %d: HTTP %d %s", turn, got.status, got.problem)
		}
		held, err := w.held()
		if err != nil {
			return "", err
		}
		if n := held["tiny-coderp:latest"]; !slices.Contains(windows, n) {
			windows = append(windows, n)
		}
		id := fmt.Sprintf("call_%d", turn)
		history = append(history,
			map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": `{"path":"docs/abc.md"}`}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": strings.Repeat("a line of words in a file\n", 6000/26)})
	}
	n := w.loads() - before - 1
	figure := fmt.Sprintf("%d reloads, windows %v", n, windows)
	if n > 2 {
		return figure, errors.New("want at most 2")
	}
	return figure, nil
}

// silentCut: bytes are this model's tokens, which no estimate expects.
func silentCut(w *world) (string, error) {
	if err := w.unloadAll(); err != nil {
		return "", err
	}
	small := greeting
	small.more = map[string]any{"options": map[string]any{"num_ctx": 2048}}
	if _, err := w.direct(small); err != nil {
		return "", err
	}
	q := greeting
	q.text, q.max = strings.Repeat("several words of text ", 130)+"Say hello", 8
	got, err := apis[0].ask(w.gateway.url, q)
	if err != nil {
		return "", err
	}
	held, err := w.held()
	if err != nil {
		return "", err
	}
	window := held["tiny-plain:latest"]
	figure := fmt.Sprintf("%d bytes, %.0f counted, window %d", len(q.text), got.prompt, window)
	if told := got.header.Get("X-Bx-Warning"); int(got.prompt) >= window && told == "" && !strings.Contains(w.gateway.said(), "cut") {
		return figure, errors.New("neither a header nor the log tells that the prompt was cut")
	}
	return figure, nil
}

var nameChecks = concat(
	[]check{
		{"ollama", "a name without its tag", noTag},
		{"ollama", "a model made after the start", newModel},
		{"ollama", "lists tell what /api/show tells", abilities},
	},
	both("a name that nobody has", unknownName),
	both("ollama list, ps, show, run, stop", ownCLI),
)

func (w *world) onlyLoads(model, name string) error {
	if err := w.unloadAll(); err != nil {
		return err
	}
	got, err := apis[0].ask(w.gateway.url, asked{model: model, text: "Say hello"})
	if err != nil {
		return err
	}
	held, err := w.held()
	if err != nil {
		return err
	}
	if held[name] == 0 || len(held) != 1 || got.text == "" {
		return fmt.Errorf("asked for %s, in memory are %v, answer %q %s", model, held, got.text, got.problem)
	}
	return nil
}

func noTag(w *world) (string, error) {
	return "", all(ollamaModels, func(m string) error {
		return errors.Join(w.onlyLoads("tiny-"+m, "tiny-"+m+":latest"), w.onlyLoads("tiny-"+m+":latest", "tiny-"+m+":latest"))
	})
}

func newModel(w *world) (string, error) {
	if _, err := w.cli(w.ollama.url, "cp", "tiny-coder", "tiny-made"); err != nil {
		return "", err
	}
	defer func() { _, _ = w.cli(w.ollama.url, "rm", "tiny-made") }()
	if err := w.onlyLoads("tiny-made", "tiny-made:latest"); err != nil {
		return "", err
	}
	models, err := get(w.gateway.url + "/v1/models")
	if err != nil {
		return "", err
	}
	for _, m := range list(models, "data") {
		if text(m, "id") == "tiny-made:latest" || text(m, "id") == "tiny-made" {
			return "", nil
		}
	}
	return "", fmt.Errorf("/v1/models has no tiny-made: %s", compact(models))
}

// abilities compares what the gateway lists with what the server says of each.
func abilities(w *world) (string, error) {
	tags, err := get(w.gateway.url + "/api/tags")
	if err != nil {
		return "", err
	}
	return "", all(list(tags, "models"), func(m any) error {
		name := text(m, "name")
		shown, err := fetch(http.MethodPost, w.ollama.url+"/api/show", fmt.Appendf(nil, `{"model":%q}`, name))
		if err != nil {
			return err
		}
		says, listed := list(shown, "capabilities"), list(m, "capabilities")
		for _, ability := range []any{"tools", "thinking"} {
			if ability == "tools" && !slices.Contains(says, ability) {
				continue // bx puts tools into the prompt of a model that takes none
			}
			if slices.Contains(says, ability) != slices.Contains(listed, ability) {
				return fmt.Errorf("%s: the server says %v, the list %v", name, says, listed)
			}
		}
		return nil
	})
}

// unknownName is answered by the route's model, and said so, or refused.
func unknownName(w *world, fronts []front) (string, error) {
	return "", all(fronts, func(f front) error {
		got, err := apis[0].ask(f.url, asked{model: "no-such-model", text: "Say hello"})
		if err != nil {
			return err
		}
		by := got.header.Get("X-Bx-Model")
		if got.status == http.StatusOK && (by == "" || by == "no-such-model") {
			return fmt.Errorf("answered without a word: X-Bx-Model is %q", by)
		}
		return nil
	})
}

func ownCLI(w *world, fronts []front) (string, error) {
	return "", all(fronts, func(f front) error {
		model := f.models[len(f.models)-1]
		for _, args := range [][]string{{"list"}, {"run", model, "Say hello"}, {"ps"}, {"show", model}, {"stop", model}} {
			out, err := w.cli(f.url, args...)
			if err != nil {
				return err
			}
			if (args[0] == "list" || args[0] == "ps") && !strings.Contains(out, model) {
				return fmt.Errorf("ollama %s: no %s in\n%s", args[0], model, out)
			}
		}
		if f.name != "ollama" {
			return nil
		}
		return w.released(model + ":latest")
	})
}

var memoryChecks = []check{
	{"ollama", "load and unload through the gateway", loadUnload},
	{"ollama", "embeddings, three APIs", embeddings},
	{"llama-server", "embeddings are refused in its words", noEmbeddings},
}

func loadUnload(w *world) (string, error) {
	if err := w.unloadAll(); err != nil {
		return "", err
	}
	for _, path := range []string{"/api/chat", "/api/generate"} {
		for _, keep := range []string{`"10m"`, "0"} {
			reason := map[string]string{`"10m"`: "load", "0": "unload"}[keep]
			reply, err := fetch(http.MethodPost, w.gateway.url+path, fmt.Appendf(nil, `{"model":"tiny-plain","keep_alive":%s}`, keep))
			if err != nil {
				return "", err
			}
			time.Sleep(200 * time.Millisecond)
			held, err := w.held()
			if err != nil {
				return "", err
			}
			if text(reply, "done_reason") != reason || (len(held) > 0) != (reason == "load") {
				return "", fmt.Errorf("%s, keep_alive %s: %s, in memory %v", path, keep, compact(reply), held)
			}
		}
	}
	if _, err := fetch(http.MethodPost, w.gateway.url+"/api/generate", []byte(`{"model":"nosuch"}`)); err == nil || !strings.Contains(err.Error(), "404") {
		return "", fmt.Errorf("a model that is not there: %v", err)
	}
	return "", nil
}

func embeddings(w *world) (string, error) {
	want, err := fetch(http.MethodPost, w.ollama.url+"/api/embed", []byte(`{"model":"tiny-plain","input":"hello"}`))
	if err != nil {
		return "", err
	}
	vector := compact(dig(want, "embeddings", 0))
	for path, way := range map[string]struct {
		body string
		at   []any
	}{
		"/api/embed":                             {`{"model":"tiny-plain","input":"hello"}`, []any{"embeddings", 0}},
		"/v1/embeddings":                         {`{"model":"tiny-plain","input":"hello"}`, []any{"data", 0, "embedding"}},
		"/v1beta/models/tiny-plain:embedContent": {`{"content":{"parts":[{"text":"hello"}]}}`, []any{"embedding", "values"}},
	} {
		got, err := fetch(http.MethodPost, w.gateway.url+path, []byte(way.body))
		if err != nil {
			return "", err
		}
		if one := compact(dig(got, way.at...)); one != vector {
			return "", fmt.Errorf("%s: %s, want %s", path, cut(one, 200), cut(vector, 200))
		}
	}
	return fmt.Sprintf("%d dimensions", len(list(want, "embeddings", 0))), nil
}

func noEmbeddings(w *world) (string, error) {
	_, err := fetch(http.MethodPost, w.fronts["plain"].url+"/v1/embeddings", []byte(`{"model":"tiny-plain","input":"hello"}`))
	if err == nil || !strings.Contains(err.Error(), "embeddings") || !strings.Contains(err.Error(), "501") {
		return "", fmt.Errorf("want its 501: %v", err)
	}
	return "", nil
}
