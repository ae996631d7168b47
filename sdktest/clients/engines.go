package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// engine is a model server of make engines, and its models.
type engine struct {
	name   string
	models []string
	start  func(cache, work, model string) (*server, error)
	env    string // by which bx finds it at $URL
}

var engines = []engine{
	{"ollama", []string{"tiny-hermes", "tiny-native", "tiny-coderp", "tiny-plain"}, startOllama, "OLLAMA_HOST=$URL"},
	{"llama", []string{"tiny-hermes", "tiny-coder", "tiny-plain"}, startLlama, "OPENAI_BASE_URL=$URL/v1"},
}

// about tells what is special of a model.
var about = map[string]string{
	"tiny-hermes": "calls as text, thinks",
	"tiny-native": "calls found by Ollama's template, thinks",
	"tiny-coder":  "calls as XML",
	"tiny-coderp": "calls found by Ollama's parser",
	"tiny-plain":  "no tools in its template",
}

func startOllama(cache, work, model string) (*server, error) {
	env := []string{"OLLAMA_HOST=$ADDRESS", "OLLAMA_MODELS=" + filepath.Join(work, "models"), "HOME=" + work}
	s, err := serve(filepath.Join(work, "ollama.log"), "/", env, filepath.Join(cache, "ollama"), "serve")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(cache, strings.TrimPrefix(model, "tiny-")+".mf")
	create := exec.Command(filepath.Join(cache, "ollama"), "create", model, "-f", file)
	create.Env = append(os.Environ(), "OLLAMA_HOST="+s.url, "HOME="+work)
	if out, err := create.CombinedOutput(); err != nil {
		s.stop()
		return nil, fmt.Errorf("ollama create: %w\n%s", err, out)
	}
	return s, nil
}

func startLlama(cache, work, model string) (*server, error) {
	return serve(filepath.Join(work, "llama.log"), "/health", nil, filepath.Join(cache, "llama-server"), "-m", filepath.Join(cache, model+".gguf"),
		"--alias", model, "--jinja", "--host", "127.0.0.1", "--port", "$PORT", "-t", "1", "-tb", "1", "-c", "32768")
}

// words are what the files say: neither they nor the names of the files are known to a model.
var words = []string{"plover", "heron", "dunlin", "avocet", "curlew", "godwit", "whimbrel", "turnstone", "sanderling", "knot", "ruff", "snipe", "gull"}

// meetAll runs the agents that can be asked for an effort, or those of them that are
// named, before the models of an engine, and prints a row for each.
func meetAll(dir, bx, cache, against string, names []string) error {
	var rows, failed int
	for _, e := range engines {
		if against != "both" && against != e.name {
			continue
		}
		for _, model := range e.models {
			for _, a := range chosen(agents, names) {
				if a.effort.args == nil && a.effort.env == nil && a.effort.files == nil {
					continue
				}
				for _, effort := range []bool{false, true} {
					r := a.meet(dir, bx, cache, e, model, effort, rows)
					if errors.Is(r.err, errWord) {
						fmt.Fprintln(os.Stderr, r.err)
						r = a.meet(dir, bx, cache, e, model, effort, rows+1)
						r.tasks++
					}
					if rows == 0 {
						fmt.Println("| client | server | model | effort | finished | tasks | requests | calls | errors | seconds |\n|---|---|---|---|---|---|---|---|---|---|")
					}
					fmt.Println(r)
					if rows++; r.err != nil {
						failed++
						fmt.Fprintln(os.Stderr, r.err)
					}
				}
			}
		}
	}
	switch {
	case rows == 0:
		return fmt.Errorf("nobody to ask: -against is ollama, llama or both; the agents are claude, codex, gemini and pi")
	case failed > 0:
		return fmt.Errorf("%d of %d did not finish", failed, rows)
	}
	return nil
}

// row is what came of an agent's task.
type row struct {
	agent, engine, model    string
	effort                  bool
	tasks                   int // a second one after words that the model misspelt
	requests, calls, errors int
	took                    time.Duration
	err                     error
}

// errWord is what tiny models cause themselves: of 60 names they copy 55 to the
// letter, so that about a run in fifteen asks for a file that is not there. Another
// task is given then.
var errWord = errors.New("the word is not in the answer")

func (r row) String() string {
	effort, finished := "default", "yes"
	if r.effort {
		effort = "set"
	}
	if r.err != nil {
		finished = "**no**"
	}
	return fmt.Sprintf("| %s | %s | %s (%s) | %s | %s | %d | %d | %d | %d | %.0f |",
		r.agent, r.engine, r.model, about[r.model], effort, finished, r.tasks, r.requests, r.calls, r.errors, r.took.Seconds())
}

// meet gives an agent a task before a model behind bx serve.
func (a agent) meet(dir, bx, cache string, e engine, model string, effort bool, number int) row {
	r := row{agent: a.name, engine: e.name, model: model, effort: effort, tasks: 1}
	began := time.Now()
	said, err := a.finish(dir, bx, cache, e, &r, task{
		model: model, word: words[number%len(words)], file: fmt.Sprintf("birds/%s%d.txt", words[(number+5)%len(words)], number),
	})
	r.took = time.Since(began)
	if r.err = err; err != nil && said != "" {
		r.err = fmt.Errorf("%w\n%s", err, said)
	}
	return r
}

// finish runs the task and reports what the gateway said of it.
func (a agent) finish(dir, bx, cache string, e engine, r *row, t task) (said string, err error) {
	if err := a.install(dir); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp("", "bx-clients")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	apart, err := os.MkdirTemp("", "bx-engine") // the agent does not see it
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(apart)
	if err := t.prepare(work); err != nil {
		return "", err
	}
	backend, err := e.start(cache, apart, t.model)
	if err != nil {
		return "", err
	}
	defer backend.stop()
	traces := filepath.Join(apart, "trace")
	env := []string{strings.ReplaceAll(e.env, "$URL", backend.url), "XDG_CONFIG_HOME=" + apart}
	gateway, err := serve(filepath.Join(apart, "serve.log"), "/", env, bx, "serve", "--listen", "$ADDRESS", "--trace", traces)
	if err != nil {
		return "", err
	}
	set := a.set
	if r.effort {
		set = set.and(a.effort)
	}
	answer, asked := a.ask(dir, work, gateway.url, t, set)
	gateway.stop()
	r.requests, r.calls, r.errors = counted(gateway.said())
	said = strings.TrimSpace(answer) + "\n" + gateway.said()
	switch {
	case asked != nil:
		return said, asked
	case !strings.Contains(answer, t.answer()):
		return said, errWord
	case r.calls == 0:
		return said, errors.New("no tool was called")
	}
	return said, whole(traces, t)
}

var logged = regexp.MustCompile(`(?m)^time=.* msg=request .*\bmodel=.*$`)

// counted reads the log of bx serve: the requests to a model, the calls in their
// replies, and the requests that failed.
func counted(log string) (requests, calls, errors int) {
	for _, line := range logged.FindAllString(log, -1) {
		requests++
		for _, field := range strings.Fields(line) {
			name, value, _ := strings.Cut(field, "=")
			n, _ := strconv.Atoi(value)
			switch {
			case name == "calls":
				calls += n
			case name == "status" && n != 200:
				errors++
			}
		}
	}
	return requests, calls, errors
}

// chosen are the agents that are named, or all.
func chosen(agents []agent, names []string) []agent {
	return slices.DeleteFunc(slices.Clone(agents), func(a agent) bool { return len(names) > 0 && !slices.Contains(names, a.name) })
}
