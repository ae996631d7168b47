package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// turns writes a script of package fake: in each turn "HEAD: text" is a section.
func turns(ts ...string) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteString("-- turn --\n")
		for section := range strings.SplitSeq(t, "\n--\n") {
			head, text, ok := strings.Cut(section, ": ")
			if !ok {
				fmt.Fprintf(&b, "%s\n", section) // a want
				continue
			}
			fmt.Fprintf(&b, "-- %s --\n%s\n", head, text)
		}
	}
	return b.String()
}

// Whatever a model does over Ollama's or OpenAI's API, a question ends with something useful on standard output
// or an exit code that says why not, soon, and what was asked and said is in the
// session.
//
// contract: T-11 A-04 C-07
func TestWhateverAModelDoesSomethingUsefulComes(t *testing.T) {
	const (
		search = `call search_code: {"query":"ParseToolCalls"}`
		found  = "agent/parse.go"
		answer = "text: It is in agent/parse.go:4."
	)
	asText := func(call string) string { return turns("text: "+call, "last tool\n--\n"+answer) }
	many := func() (out []string) {
		for i := range 12 {
			out = append(out, fmt.Sprintf(`call search_code: {"query":"nothing of that kind %c"}`, 'a'+i))
		}
		return out
	}
	var flood strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&flood, "line %d\n", i)
	}
	for name, tt := range map[string]struct {
		script string
		code   int
		out    string // on standard output
		err    string // on standard error, an expression
		kept   string // in the session
	}{
		"native":                      {turns(search, "last tool\n--\n"+answer), 0, found, "1 search", found},
		"hermes":                      {asText(`<tool_call>{"name": "search_code", "arguments": {"query": "ParseToolCalls"}}</tool_call>`), 0, found, "found in text: hermes", found},
		"react":                       {asText("Thought: I look.\nAction: search_code\nAction Input: {\"query\": \"ParseToolCalls\"}"), 0, found, "found in text: react", found},
		"qwen3-coder":                 {asText("<tool_call>\n<function=search_code>\n<parameter=query>\nParseToolCalls\n</parameter>\n</function>\n</tool_call>"), 0, found, "found in text: qwen3-coder", found},
		"fenced JSON":                 {asText("```json\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"ParseToolCalls\"}}\n```"), 0, found, "found in text", found},
		"two forms in one reply":      {turns("text: <tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"agent\"}}</tool_call>\n--\n"+search, answer), 0, found, "1 search, 1 other call", found},
		"thinking in its field":       {"-- server --\nthinking: yes\n" + turns("think: Where may it be?\n--\n"+answer, answer), 0, found, "", found},
		"thinking as text":            {turns("text: <think>Where may it be?</think>It is in agent/parse.go:4.", answer), 0, "It is in agent/parse.go:4.\n", "", found},
		"the same call for ever":      {turns("repeat\n--\n" + search), 3, found, "the model gave no answer", "search_code"},
		"new words for ever":          {turns(many()...), 3, "", "brought nothing new", "nothing of that kind a"},
		"an unknown tool":             {turns(`call bash: {"command":"ls"}`, "contains does not exist. Available\n--\n"+answer), 0, found, "does not exist", "bash"},
		"an unknown tool for ever":    {turns("repeat\n--\n" + `call bash: {"command":"ls"}`), 3, "", "the model gave no answer", "bash"},
		"a flood of words":            {turns("text: It is in agent/parse.go:4.\n" + flood.String()), 0, found, "", "line 59999"},
		"ReAct's words at the end":    {turns(search, "last tool\n--\ntext: Thought: I know.\nFinal Answer: It is in agent/parse.go:4."), 0, "It is in agent/parse.go:4.\n", "1 search", found},
		"3 MB of arguments":           {turns(`call write_file: {"path":"a.txt","content":"`+strings.Repeat("words ", 500_000)+`"}`, "last tool\n--\n"+answer), 0, found, "not available at current tier", "write_file"},
		"never a call":                {turns("text: I cannot see your files.", "text: I cannot see your files, please paste them."), 0, "please paste them", "it looked at nothing here", "please paste them"},
		"dies after the reminder":     {turns(answer, `error 500: {"error":"out of memory"}`, `error 500: {"error":"out of memory"}`, `error 500: {"error":"out of memory"}`), 0, found, "what the model answered before it", found},
		"empty twice":                 {turns("empty: ", "empty: "), 3, "", "the model gave no answer, only an empty reply, twice", "Where are tool calls parsed?"},
		"too long, as Ollama says it": {turns(`error 400: {"error":"input length exceeds the context length"}`), 3, "", "the prompt is longer than the model's window", "longer than the model's window"},
		"too long, as llama.cpp says": {turns(`error 400: {"error":{"code":400,"message":"the request exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`), 3, "", "the prompt is longer than the model's window", "longer than the model's window"},
		"dies inside the answer":      {turns("text: It is in agent/pa\n--\ncut: "), 3, "It is in agent/pa", "the answer is cut off here", "It is in agent/pa"},
		"dies inside the turn":        {turns(search, `error 500: {"error":"out of memory"}`, `error 500: {"error":"out of memory"}`, `error 500: {"error":"out of memory"}`), 3, found, "HTTP 500: out of memory", "search_code"},
		"HTTP 500":                    {turns("repeat\n--\n" + `error 500: {"error":"the GPU is on fire"}`), 3, "", "the GPU is on fire", "Where are tool calls parsed?"},
		"refuses tools":               {turns(`error 400: {"error":"registry.ollama.ai/library/m does not support tools"}`, "no tools\n--\ntext: "+`<tool_call>{"name": "search_code", "arguments": {"query": "ParseToolCalls"}}</tool_call>`, answer), 0, found, "1 search", found},
		"broken JSON and a junk tag":  {turns(`text: <tool_call>{"name": "search_code", "arguments": {"query": </tool_call></junk>`, "contains could not be used\n--\n"+answer, answer), 0, found, "could not be read; the model was told", found},
		"escape sequences":            {turns("text: It is \x1b[2J\x1b]0;owned\x07in agent/parse.go:4.", "text: It is \x1b[2Jin agent/parse.go:4."), 0, "agent/parse.go:4.", "", "agent/parse.go:4."},
		"the same words for ever":     {turns("text: It is in agent/parse.go:4. " + strings.Repeat("I look again. ", 20_000)), 0, found, "says the same again and again", found},
		"a model that is not there":   {"-- server --\nmodel: qwen3:8b\n" + turns(answer), 3, "", "model 'm' not found|model `m` does not exist", "Where are tool calls parsed?"},
	} {
		for api, variable := range map[string]string{"Ollama": "OLLAMA_HOST=%s", "OpenAI": "OPENAI_BASE_URL=%s/v1"} {
			t.Run(name+"/"+api, func(t *testing.T) {
				t.Parallel()
				script, err := fake.Parse("model", []byte(tt.script))
				if err != nil {
					t.Fatal(err)
				}
				server := httptest.NewServer(fake.New(script))
				defer server.Close()
				u := newUser(t)
				run := func(args ...string) (out, errs string, code int) {
					cmd := exec.Command(u.bx, args...)
					var o, e bytes.Buffer
					cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = u.repo, append(environment(u.home), fmt.Sprintf(variable, server.URL)), &o, &e
					_ = cmd.Run()
					return o.String(), e.String(), cmd.ProcessState.ExitCode()
				}
				began := time.Now()
				out, errs, code := run("--model", "m", "Where are tool calls parsed?")
				t.Logf("it took %s", time.Since(began)) // 2 s are wanted
				if code != tt.code || !strings.Contains(out, tt.out) || !regexp.MustCompile(tt.err).MatchString(errs) || strings.ContainsRune(errs, 0x1b) || code == 0 && strings.TrimSpace(out) == "" {
					t.Errorf("exit code %d\n%.2000s\n%.2000s", code, out, errs)
				}
				show, errs, code := run("sessions", "show")
				if code != 0 || !strings.Contains(show, "> Where are tool calls parsed?") || !strings.Contains(show, tt.kept) {
					t.Errorf("the session: %d %.2000s\n%.2000s", code, show, errs)
				}
			})
		}
	}
}
