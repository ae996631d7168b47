package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/prompting"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/wire/translate"
)

// lineOps answer what a line of bx parse --jsonl asks for beside reading, by the word
// in its "op". own are dialects of the user's own.
func lineOps(own []*grammar.Grammar) map[string]func(line []byte) (any, error) {
	k := prompting.Known{Tools: reading.ParseTools,
		Dialect: func(name, model string) (*grammar.Grammar, error) { return reading.Written(name, model, own...) }}
	return map[string]func([]byte) (any, error){
		"render":    func(line []byte) (any, error) { return k.Render(line) },
		"translate": translateLine,
	}
}

// translatedLine is a text for another API, in a line.
type translatedLine struct {
	Output any `json:"output"` // an object, or the text of a stream
	translated
	Broken string `json:"broken,omitempty"` // why the stream broke off
}

func translateLine(line []byte) (any, error) {
	var l struct {
		From  string          `json:"from"`
		To    string          `json:"to"`
		Kind  string          `json:"kind"`
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	for _, api := range [][2]string{{"from", l.From}, {"to", l.To}} {
		if !slices.Contains(translate.APIs(), translate.API(api[1])) {
			return nil, fmt.Errorf("%s: want one of %s, have %q", api[0], apiNames(), api[1])
		}
	}
	text, err := textOf(l.Input)
	if err != nil {
		return nil, err
	}
	p := translate.Pair{From: translate.API(l.From), To: translate.API(l.To), Model: l.Model}
	out := translatedLine{translated: translated{Losses: []translate.Loss{}}}
	switch l.Kind {
	case "", "request":
		err = out.request(p, text)
	case "response":
		err = out.reply(p, text)
	case "stream":
		if err := out.stream(p, text); err != nil {
			out.Broken = err.Error()
		}
		out.Output = string(out.out)
		return out, nil
	default:
		return nil, fmt.Errorf("kind: want request, response or stream, have %q", l.Kind)
	}
	out.Output = json.RawMessage(out.out)
	return out, err
}

// textOf is JSON as it stands, or the text that it is.
func textOf(in json.RawMessage) (text []byte, err error) {
	in = bytes.TrimSpace(in)
	switch {
	case len(in) == 0 || string(in) == "null":
		return nil, errors.New(`"input" is missing: want an object of the API that "from" names, or its text`)
	case in[0] != '"':
		return in, nil
	}
	var s string
	err = json.Unmarshal(in, &s)
	return []byte(s), err
}
