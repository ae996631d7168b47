package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// front is a gateway before one server, and the models behind it.
type front struct {
	name   string
	url    string
	direct string // the server's own address
	env    string // that leads bx to the server
	models []string
}

func (f front) String() string { return f.name }

func (w *world) front(server string) front {
	return front{"ollama", w.gateway.url, w.ollama.url, "OLLAMA_HOST=" + w.ollama.url, named(ollamaModels...)}
}

func named(models ...string) (out []string) {
	for _, m := range models {
		out = append(out, "tiny-"+m)
	}
	return out
}

// llamaFronts are one for each llama-server: it has one model.
func (w *world) llamaFronts() (out []front) {
	for _, m := range llamaModels {
		out = append(out, front{"llama-server " + m, w.fronts[m].url, w.llama[m].url, "OPENAI_BASE_URL=" + w.llama[m].url + "/v1", named(m)})
	}
	return out
}

// of are the fronts of a kind of server.
func (w *world) of(server string) []front {
	if server == "ollama" {
		return []front{w.front(server)}
	}
	return w.llamaFronts()
}

// both makes a check of each kind of server.
func both(name string, run func(*world, []front) (string, error)) (out []check) {
	for _, server := range []string{"ollama", "llama-server"} {
		out = append(out, check{server, name, func(w *world) (string, error) { return run(w, w.of(server)) }})
	}
	return out
}

func concat(lists ...[]check) (out []check) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var findingChecks = concat(
	[]check{{"both", "bx finds the servers of its machine", discovery}},
	both("bx status", status),
	both(`bx "…" with a tool`, questions),
	both("bx edits a file", edits),
	both("bx doctor", doctors),
)

// discovery runs both servers at their usual ports in a network of its own.
func discovery(w *world) (string, error) {
	script := fmt.Sprintf(`ip link set lo up || exit 9
%[3]s status 2>&1
OLLAMA_HOST=127.0.0.1:11434 OLLAMA_MODELS=%[1]s/models %[2]s/ollama serve >%[1]s/found.log 2>&1 &
ollama=$!
for i in $(seq 60); do OLLAMA_HOST=127.0.0.1:11434 %[2]s/ollama list >/dev/null 2>&1 && break; sleep 0.2; done
%[3]s status 2>&1
%[2]s/llama-server -m %[2]s/tiny-coder.gguf --alias tiny-coder --jinja -t 1 -tb 1 -c 8192 >%[1]s/found-llama.log 2>&1 &
llama=$!
for i in $(seq 60); do %[3]s status 2>&1 | grep -q 8080 && break; sleep 0.2; done
began=$(date +%%s%%N)
%[3]s status 2>&1
echo "bx status: $(( ($(date +%%s%%N) - began) / 1000000 )) ms"
%[3]s -n %[4]q 2>&1
kill $ollama $llama`, w.work, w.dir, w.bx, riddle)
	p, err := w.start("namespace", nil, "127.0.0.1:0", "unshare", "-r", "-n", "sh", "-c", script)
	if err != nil {
		return "", err
	}
	done := time.AfterFunc(patience, p.kill)
	err = p.Wait()
	done.Stop()
	said := p.said()
	if err != nil && !strings.Contains(said, "bx status:") {
		return "", fmt.Errorf("%w (it wants unshare and ip, and the right to make a network)\n%s", err, said)
	}
	for _, want := range []string{"no model server answers on this machine", "Ollama at http://127.0.0.1:11434", "llama.cpp at http://127.0.0.1:8080 has tiny-coder in memory", "bx status:"} {
		if !strings.Contains(said, want) {
			return "", fmt.Errorf("%q is not said:\n%s", want, said)
		}
	}
	if !fromFile(said) {
		return "", fmt.Errorf("nothing of the file is in the answer:\n%s", said)
	}
	_, after, _ := strings.Cut(said, "bx status: ")
	figure, _, _ := strings.Cut(after, "\n")
	return figure, nil
}

func status(w *world, fronts []front) (string, error) {
	var took []time.Duration
	err := all(fronts, func(f front) error {
		began := time.Now()
		out, err := w.tell([]string{f.env}, w.bx, "--model", f.models[0], "status")
		took = append(took, time.Since(began))
		if err == nil && !strings.Contains(out, f.models[0]) {
			err = fmt.Errorf("%s is not said:\n%s", f.models[0], out)
		}
		return err
	})
	return median(took), err
}

// fromFile reports an answer that only who has read the file can give: the models
// repeat the word, or how the tool's result begins.
func fromFile(said string) bool {
	return strings.Contains(said, "read_file: ok") &&
		(strings.Contains(said, "The secret word is "+secret) || strings.Contains(said, "It says: docs/abc.md:"))
}

// questions are answered from a file that only a tool can read.
func questions(w *world, fronts []front) (string, error) {
	var took []time.Duration
	n := 0
	err := all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			began := time.Now()
			out, err := w.tell([]string{f.env}, w.bx, "-n", "--model", model, riddle)
			if err == nil && !fromFile(out) {
				err = fmt.Errorf("nothing of the file is in the answer:\n%s", out)
			}
			if err == nil {
				n++
				took = append(took, time.Since(began))
			}
			return err
		})
	})
	return fmt.Sprintf("%d models", n), err
}

// edits change one word of a file, by a call that bx was allowed to run unasked.
func edits(w *world, fronts []front) (string, error) {
	file := filepath.Join(w.repo, "docs", "pets.md")
	defer os.Remove(file)
	n := 0
	err := all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			if err := os.WriteFile(file, []byte("# Pets\n\nThe cat sleeps.\n"), 0o666); err != nil {
				return err
			}
			out, err := w.tell([]string{f.env}, w.bx, "--model", model, "--tier", "run", "--allow", "edit_block", "In docs/pets.md change cat to dog")
			if err != nil {
				return err
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != "# Pets\n\nThe dog sleeps.\n" {
				return fmt.Errorf("the file is %q, %v:\n%s", got, err, out)
			}
			n++
			return nil
		})
	})
	return fmt.Sprintf("%d models", n), err
}

// doctors find a form in which a model calls.
func doctors(w *world, fronts []front) (string, error) {
	var forms []string
	err := all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			out, err := w.tell([]string{f.env}, w.bx, "-q", "doctor", model, "--json")
			if err != nil {
				return err
			}
			var found struct {
				Form     string `json:"tool_format"`
				Findings []struct{ Form, Probe, Verdict, Detail string }
			}
			if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &found); err != nil {
				return err
			}
			forms = append(forms, strings.TrimPrefix(model, "tiny-")+" "+found.Form)
			seen := map[string]bool{}
			for _, one := range found.Findings {
				line := fmt.Sprint(one)
				if seen[line] {
					return fmt.Errorf("examined twice: %s", line)
				}
				seen[line] = true
			}
			if found.Form == "none" || found.Form == "" {
				return fmt.Errorf("no form was found: %s", cut(out, 600))
			}
			return nil
		})
	})
	return strings.Join(forms, ", "), err
}

var callChecks = concat(
	both("calls, five APIs, whole and streamed", matrix),
	both("tool_choice required, at a greeting", secondTry),
)

func matrix(w *world, fronts []front) (string, error) {
	ok, n := 0, 0
	var first []time.Duration
	err := all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			return all(apis, func(a api) error {
				return all([]string{"whole", "streamed"}, func(how string) error {
					n++
					got, err := a.ask(f.url, asked{model: model, text: question, tools: true, stream: how == "streamed"})
					if err == nil {
						err = got.good()
					}
					if err == nil {
						ok++
						first = append(first, got.first)
					}
					return err
				})
			})
		})
	})
	if len(first) == 0 {
		first = append(first, 0)
	}
	return fmt.Sprintf("%d of %d; first byte after %s", ok, n, median(first)), err
}

func secondTry(w *world, fronts []front) (string, error) {
	again := 0
	err := all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			return all([]bool{false, true}, func(stream bool) error {
				got, err := apis[0].ask(f.url, asked{model: model, text: "Say hello", stream: stream, max: 300, more: map[string]any{"tool_choice": "required", "tools": lamp}})
				if err != nil {
					return err
				}
				if got.header.Get("X-Bx-Again") != "" {
					again++
				}
				if len(got.calls) != 1 || !switched.MatchString(got.calls[0]) {
					return fmt.Errorf("not the call: HTTP %d %s%q %q", got.status, got.problem, got.text, got.calls)
				}
				return nil
			})
		})
	})
	return fmt.Sprintf("%d asked again", again), err
}

// lamp is a tool without a free text in its arguments, where a tiny model that is
// held to a schema could babble without an end.
var lamp = []any{map[string]any{"type": "function", "function": map[string]any{"name": "set_lamp", "description": "Switches the lamp",
	"parameters": map[string]any{"type": "object", "properties": map[string]any{"state": map[string]any{"type": "string", "enum": []string{"on", "off"}}}, "required": []string{"state"}}}}}

var switched = regexp.MustCompile(`^set_lamp \{\s*"state":\s*"(on|off)"\s*\}$`)

var thinkChecks = concat(
	both("much thinking asked, five APIs", efforts),
	both("no thinking asked", noThinking),
)

func efforts(w *world, fronts []front) (string, error) {
	n, thought := 0, 0
	err := all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			return all(apis, func(a api) error {
				got, err := a.ask(f.url, asked{model: model, text: "Say hello", more: a.effort})
				switch {
				case err != nil:
					return err
				case got.status != http.StatusOK || got.text == "":
					return fmt.Errorf("HTTP %d %s%q", got.status, got.problem, got.text)
				}
				n++
				if got.thought != "" {
					thought++
				}
				return nil
			})
		})
	})
	return fmt.Sprintf("%d answered, %d thought", n, thought), err
}

func noThinking(w *world, fronts []front) (string, error) {
	return "", all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			got, err := apis[0].ask(f.url, asked{model: model, text: "Say hello", more: map[string]any{"reasoning_effort": "none"}})
			if err == nil && (got.status != http.StatusOK || got.text == "" || got.thought != "") {
				err = fmt.Errorf("HTTP %d %s%q, thought %q", got.status, got.problem, got.text, got.thought)
			}
			return err
		})
	})
}

// cli runs Ollama's own command line on a server.
func (w *world) cli(url string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(w.dir, "ollama"), args...)
	cmd.Env = append(os.Environ(), "HOME="+w.home("cli"), "OLLAMA_HOST="+url)
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "panic:") {
		return string(out), errors.Join(err, fmt.Errorf("ollama %s: %s", strings.Join(args, " "), cut(string(out), 600)))
	}
	return string(out), nil
}
