package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// scripted runs the agents that are named, or all, before a model that prints its
// calls in a dialect (bx mock).
func scripted(dir, bx, dialect string, names []string) error {
	g, ok := grammar.ByName(dialect)
	if !ok {
		return fmt.Errorf("there is no grammar %s: bx grammar list names them", dialect)
	}
	var failed []string
	for _, a := range chosen(agents, names) {
		if err := a.play(dir, bx, g); err != nil {
			failed = append(failed, a.name)
			fmt.Printf("%-9s %-36s %v\n", a.name, a.pack, err)
			continue
		}
		fmt.Printf("%-9s %-36s ok\n", a.name, a.pack)
	}
	if len(failed) > 0 {
		return fmt.Errorf("not so: %s", strings.Join(failed, ", "))
	}
	return nil
}

// play asks the question and looks for the word in the answer.
func (a agent) play(dir, bx string, g *grammar.Grammar) error {
	if err := a.install(dir); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "bx-clients")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	t := task{model: "qwen3:8b", file: "notes.txt", word: "plover"}
	if err := t.prepare(work); err != nil {
		return err
	}
	script, err := a.script(work, t, g)
	if err != nil {
		return err
	}
	mock, err := serve(filepath.Join(work, ".mock.log"), "/", nil, bx, "mock", "--listen", "$ADDRESS", script)
	if err != nil {
		return err
	}
	defer mock.stop()
	gateway, err := serve(filepath.Join(work, ".serve.log"), "/", []string{"OLLAMA_HOST=" + mock.url, "XDG_CONFIG_HOME=" + work}, bx, "serve", "--listen", "$ADDRESS")
	if err != nil {
		return err
	}
	defer gateway.stop()
	answer, err := a.ask(dir, work, gateway.url, t, a.set)
	switch {
	case err != nil:
		return fmt.Errorf("%w\n%s\n%s", err, answer, gateway.said())
	case !strings.Contains(answer, t.answer()):
		return fmt.Errorf("answered %q\n%s", answer, gateway.said())
	}
	return nil
}

// script writes what the model says.
func (a agent) script(work string, t task, g *grammar.Grammar) (string, error) {
	quoted, err := json.Marshal(filepath.Join(work, t.file))
	if err != nil {
		return "", err
	}
	args := strings.ReplaceAll(a.call, `"$FILE"`, string(quoted))
	call, err := prompt.Calls(g, []utp.Call{{Name: a.tool, Args: json.RawMessage(args)}})
	if err != nil {
		return "", err
	}
	to := filepath.Join(work, ".script.txtar")
	text := fmt.Sprintf("-- server --\nmodel: %s\ncontext: 131072\n-- turn --\ntools %s\n-- text --\n%s\n-- turn --\ncontains %s\n-- text --\n%s\n",
		t.model, a.tool, call, t.word, t.answer())
	return to, os.WriteFile(to, []byte(text), 0o666)
}
