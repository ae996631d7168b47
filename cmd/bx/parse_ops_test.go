package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/wire/translate"
)

// A line translates as bx translate does.
func TestTranslateLine(t *testing.T) {
	p := translate.Pair{From: translate.OpenAI, To: translate.Anthropic}
	for kind, c := range map[string]struct {
		in  string
		run func(*translated, translate.Pair, []byte) error
	}{
		"request":  {`{"model":"m","seed":1,"messages":[{"role":"user","content":"Hi"}]}`, (*translated).request},
		"response": {`{"id":"r","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`, (*translated).reply},
		"stream":   {"data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", (*translated).stream},
	} {
		want := translated{Losses: []translate.Loss{}}
		if err := c.run(&want, p, []byte(c.in)); err != nil {
			t.Fatal(kind, err)
		}
		quoted, _ := json.Marshal(c.in)
		for _, input := range []string{string(quoted), c.in} {
			if kind == "stream" && input == c.in {
				continue
			}
			answer, err := translateLine([]byte(`{"op":"translate","from":"openai","to":"anthropic","kind":"` + kind + `","input":` + input + `}`))
			got, ok := answer.(translatedLine)
			if err != nil || !ok || string(got.out) != string(want.out) || got.Path != want.Path || len(got.Losses) != len(want.Losses) || got.Broken != "" {
				t.Errorf("%s: %+v %v, want %+v", kind, got, err, want)
			}
			b, _ := json.Marshal(got)
			if first := map[bool]string{true: `{"output":"`, false: `{"output":{`}[kind == "stream"]; !strings.HasPrefix(string(b), first) || !strings.Contains(string(b), "Hi") {
				t.Errorf("%s: %s", kind, b)
			}
		}
	}
	answer, err := translateLine([]byte(`{"from":"openai","to":"gemini","kind":"stream","input":"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n"}`))
	if got, _ := answer.(translatedLine); err != nil || got.Broken == "" || !strings.Contains(string(got.out), "Hi") {
		t.Errorf("a stream that breaks off: %+v %v", got, err)
	}
	for line, want := range map[string]string{
		`{"to":"openai","input":{}}`:                                    "from: want one of anthropic, ",
		`{"from":"openai","to":"x","input":{}}`:                         `, have "x"`,
		`{"from":"openai","to":"gemini"}`:                               `"input" is missing`,
		`{"from":"openai","to":"gemini","kind":"x","input":{}}`:         "kind: want request, response or stream",
		`{"from":"openai","to":"gemini","input":{"model":"m"}}`:         "messages",
		`{"from":"openai","to":"gemini","kind":"response","input":"x"}`: "",
	} {
		if got, err := translateLine([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v, want %q", line, got, err, want)
		}
	}
}
