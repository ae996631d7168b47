package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// probed are the dialects in which a model prints its calls for a probe. Nothing
// tells bx which one it is.
var probed = []string{"hermes", "qwen3-coder", "glm", "deepseek-v3.1", "kimi-k2", "mistral-args", "llama3", "harmony", "gemma4", "pythonic", "tools-tag", "minimax-m2"}

// scenario is a question of CanIToolCall's probe with what a model says to it.
type scenario struct {
	asked string // words of the question
	calls []utp.Call
	text  string
}

// scenarios are in the order of the probe.
var scenarios = []scenario{
	{asked: "weather in Paris right now", calls: calls("get_weather", `{"city":"Paris","unit":"c"}`)},
	{asked: "in Paris and in Tokyo", calls: append(calls("get_weather", `{"city":"Paris"}`), calls("get_weather", `{"city":"Tokyo"}`)...)},
	{asked: "What is 17 + 25?", text: "42"},
	{asked: "Design review", calls: calls("create_event", `{"title":"Design review","start":"2026-10-01T15:00:00Z","attendees":[{"name":"Ana","email":"ana@example.com"},{"name":"Bo","email":"bo@example.com"}],"location":{"city":"Berlin","room":"4.12"}}`)},
	{asked: "Grüße aus Zürich", calls: calls("save_note", `{"title":"Grüße aus Zürich","body":"Café ☕ in 東京 — naïve résumé 🚀"}`)},
	{asked: "What time is it on the server?", calls: calls("get_server_time", `{}`)},
	{asked: "something about Lisbon", calls: calls("get_weather", `{"city":"Lisbon"}`)},
	{asked: `"temp_c"`, text: "It is clear in Paris, at 18 °C."},
	{asked: "Think it through", text: "<think>\n9.9 is 9.90, so it is larger than 9.11.\n</think>\n\n", calls: calls("record_answer", `{"answer":"9.9"}`)},
}

func calls(name, args string) []utp.Call {
	return []utp.Call{{Name: name, Args: json.RawMessage(args)}}
}

// probeAll runs CanIToolCall's probe of bx serve before a model that prints its
// calls in each dialect, and fails if one check does.
func probeAll(dir, bx, program string, dialects []string) error {
	if len(dialects) == 0 {
		dialects = probed
	}
	var failed []string
	for _, name := range dialects {
		g, ok := grammar.ByName(name)
		if !ok {
			return fmt.Errorf("there is no grammar %s: bx grammar list names them", name)
		}
		verdict, table, err := probe(dir, bx, program, g)
		if err != nil {
			failed = append(failed, name)
			fmt.Printf("%s\n%v\n", table, err)
		}
		fmt.Printf("%-14s %s\n", name, verdict)
	}
	if len(failed) > 0 {
		return fmt.Errorf("not so: %s", strings.Join(failed, ", "))
	}
	return nil
}

// probe returns the last line of the probe's table, and all of it.
func probe(dir, bx, program string, g *grammar.Grammar) (verdict, table string, err error) {
	work, err := os.MkdirTemp(dir, "probe")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(work)
	script, err := probeScript(work, g)
	if err != nil {
		return "", "", err
	}
	mock, err := serve(filepath.Join(work, "mock.log"), "/", nil, bx, "mock", "--listen", "$ADDRESS", script)
	if err != nil {
		return "", "", err
	}
	defer mock.stop()
	gateway, err := serve(filepath.Join(work, "serve.log"), "/", []string{"OLLAMA_HOST=" + mock.url, "XDG_CONFIG_HOME=" + work}, bx, "serve", "--listen", "$ADDRESS")
	if err != nil {
		return "", "", err
	}
	defer gateway.stop()
	out, err := exec.Command(program, "probe", "--base-url", gateway.url+"/v1", "--model", "m", "--concurrency", "1").CombinedOutput()
	verdict = summary.FindString(string(out))
	if err == nil && verdict != fmt.Sprintf("summary: %d pass, 0 fail, 0 error, 0 skip", 3*len(scenarios)) {
		err = fmt.Errorf("not all passes without a warning:\n%s", gateway.said())
	}
	return verdict, string(out), err
}

var summary = regexp.MustCompile(`summary: .*`)

// probeScript writes what the model says: each answer twice, for the probe asks
// without a stream and with one.
func probeScript(work string, g *grammar.Grammar) (string, error) {
	var b strings.Builder
	b.WriteString("-- server --\nmodel: m\ncontext: 131072\n")
	for _, s := range scenarios {
		said, err := prompt.Calls(g, s.calls)
		if err != nil {
			return "", err
		}
		turn := fmt.Sprintf("-- turn --\ncontains %s\n-- text --\n%s\n", s.asked, s.text+said)
		b.WriteString(turn + turn)
	}
	to := filepath.Join(work, "script.txtar")
	return to, os.WriteFile(to, []byte(b.String()), 0o666)
}
