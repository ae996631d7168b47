package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// whole reports what of an agent's requests with tools did not reach the model
// server: the question, a text of the conversation, a tool. The tiny models see
// little of it, so the trace of bx serve has to tell.
func whole(traces string, t task) error {
	files, err := filepath.Glob(filepath.Join(traces, "*.jsonl"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("want one trace in %s, have %d", traces, len(files))
	}
	f, err := os.Open(files[0])
	if err != nil {
		return err
	}
	defer f.Close()
	asked := map[string]any{}
	compared := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var piece struct{ ID, Side, What, Body string }
		if err := json.Unmarshal(lines.Bytes(), &piece); err != nil {
			return err
		}
		var body map[string]any
		if piece.What != "request" || json.Unmarshal([]byte(piece.Body), &body) != nil {
			continue
		}
		switch client, known := asked[piece.ID]; {
		case piece.Side == "client" && body["tools"] != nil:
			asked[piece.ID] = body
		case piece.Side == "backend" && known && body["messages"] != nil:
			if lost := missing(client, body, t); lost != "" {
				return fmt.Errorf("the model server did not get %s", lost)
			}
			compared++
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if compared < 2 {
		return errors.New("the trace has no request with a result")
	}
	return nil
}

// missing is the first thing of a client's request that the one to the server lacks.
func missing(client, server any, t task) string {
	var sent []string
	walk(server, "", func(_, text string) { sent = append(sent, text) })
	all := squeeze(strings.Join(sent, "\n"))
	lost := ""
	need := func(what, text string) {
		if lost == "" && !strings.Contains(all, squeeze(text)) {
			lost = what + " " + fmt.Sprintf("%.100q", text)
		}
	}
	need("the question", t.question())
	for _, name := range tools(client.(map[string]any)["tools"]) {
		need("the tool", name)
	}
	for _, part := range []string{"system", "instructions", "systemInstruction", "messages", "input", "contents"} {
		walk(client.(map[string]any)[part], part, func(key, text string) {
			switch key {
			case "text", "content", "instructions", "system":
				if !strings.HasPrefix(text, "x-anthropic-billing-header:") { // for Anthropic's accounts alone
					need("the text", text)
				}
			}
		})
	}
	return lost
}

// tools are the names of an API's functions. Tools that a provider runs itself have none.
func tools(list any) (names []string) {
	each, _ := list.([]any)
	for _, one := range each {
		tool, _ := one.(map[string]any)
		function, nested := tool["function"].(map[string]any)
		switch {
		case tool["type"] == "namespace":
			for _, name := range tools(tool["tools"]) {
				names = append(names, fmt.Sprint(tool["name"], "__", name))
			}
		case tool["functionDeclarations"] != nil:
			names = append(names, tools(tool["functionDeclarations"])...)
		case nested:
			names = append(names, fmt.Sprint(function["name"]))
		case tool["name"] != nil:
			names = append(names, fmt.Sprint(tool["name"]))
		}
	}
	return names
}

// walk visits each string of a JSON value with the key that it stands under. Thoughts
// are left out: a server may have no place for those of earlier turns.
func walk(value any, key string, visit func(key, text string)) {
	switch v := value.(type) {
	case string:
		visit(key, v)
	case []any:
		for _, one := range v {
			walk(one, key, visit)
		}
	case map[string]any:
		if v["type"] == "reasoning" || v["type"] == "thinking" || v["thought"] == true {
			return
		}
		for k, one := range v {
			walk(one, k, visit)
		}
	}
}

// squeeze makes every run of white space one space.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
