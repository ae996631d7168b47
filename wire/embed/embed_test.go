package embed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/embed"
)

// Each case is a client's request, "API PATH" and the body: as it is asked of the
// servers of the other APIs, and their replies as the client gets them.
func TestCases(t *testing.T) {
	golden.Run(t, "testdata/*/case.txtar", func(t *testing.T, c *golden.Case) {
		line, body, _ := strings.Cut(c.Get("request"), "\n")
		api, path, _ := strings.Cut(line, " ")
		q, err := embed.Read(api, path, []byte(body))
		if err != nil {
			var input *wire.InputError
			if !errors.As(err, &input) {
				t.Errorf("%v is no error of the client's", err)
			}
			c.Want(t, "error", err.Error())
			return
		}
		for _, server := range []string{embed.OpenAI, embed.Ollama, embed.Gemini} {
			if server == api {
				continue // what it gets is the client's own
			}
			c.Want(t, "to "+server, asked(q, server))
			if c.Has("from " + server) {
				c.Want(t, "answer from "+server, answered(q, server, c.Get("from "+server)))
			}
		}
	})
}

func asked(q *embed.Request, server string) string {
	path, body, losses := q.Open(server)
	return path + "\n" + string(body) + lost(losses)
}

func answered(q *embed.Request, server, body string) string {
	reply, err := q.ReadReply(server, []byte(body))
	if err != nil {
		return "error: " + err.Error()
	}
	answer, losses := q.WriteReply(reply)
	return string(answer) + lost(losses)
}

func lost(losses []wire.Loss) (text string) {
	for _, l := range losses {
		text += fmt.Sprintf("\nloss: %s: %s: %s", l.Path, l.What, l.Why)
	}
	return text
}

// TestVectorsAreTheSame: whatever form a vector takes on its way, its numbers are
// those of the server.
func TestVectorsAreTheSame(t *testing.T) {
	server := `{"embeddings":[[0.1,-1e-7,3.4028235e+38,0,0.00123456]],"prompt_eval_count":3}`
	read := func(api, path, body string) *embed.Request {
		q, err := embed.Read(api, path, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	packed := read(embed.OpenAI, "/v1/embeddings", `{"model":"m","input":"x","encoding_format":"base64"}`)
	plain := read(embed.Ollama, "/api/embed", `{"model":"m","input":"x"}`)
	first, err := packed.ReadReply(embed.Ollama, []byte(server))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := packed.WriteReply(first)
	second, err := plain.ReadReply(embed.OpenAI, body)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := plain.WriteReply(second); !strings.Contains(string(got), `[[0.1,-1e-07,3.4028235e+38,0,0.00123456]]`) {
		t.Errorf("%s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("/v1/embeddings", `{"model":"m","input":["a",[1,2]],"encoding_format":"base64"}`)
	f.Add("/v1beta/models/m:batchEmbedContents", `{"requests":[{"content":{"parts":[{"text":"a"}]}}]}`)
	f.Add("/api/embeddings", `{"model":"m","prompt":"a"}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		for _, api := range []string{embed.OpenAI, embed.Ollama, embed.Gemini} {
			q, err := embed.Read(api, path, []byte(body))
			if err != nil {
				continue
			}
			for _, server := range []string{embed.OpenAI, embed.Ollama, embed.Gemini} {
				if path, body, _ := q.Open(server); path == "" || !json.Valid(body) {
					t.Errorf("%s: %s %s", server, path, body)
				}
				if r, err := q.ReadReply(server, []byte(body)); err == nil {
					q.WriteReply(r)
				}
			}
		}
	})
}
