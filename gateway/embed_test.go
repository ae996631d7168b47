package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/gateway"
)

// embedder is a server of an API whose vectors are made of the texts: their length
// and 0.5.
func embedder(api string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var in struct {
			Model    string
			Input    any
			Requests []struct {
				Model   string
				Content struct{ Parts []struct{ Text string } }
			}
		}
		if r.Method == http.MethodGet || r.URL.Path == "/api/show" {
			_, _ = io.WriteString(w, `{"models":[],"data":[]}`)
			return
		}
		_ = json.Unmarshal(body, &in)
		var vectors []string
		list, ok := in.Input.([]any)
		if !ok && in.Input != nil {
			list = []any{in.Input}
		}
		for _, text := range list {
			vectors = append(vectors, fmt.Sprintf("[%d,0.5]", len(text.(string))))
		}
		for _, q := range in.Requests {
			vectors = append(vectors, fmt.Sprintf("[%d,0.5]", len(q.Content.Parts[0].Text)))
			in.Model = strings.TrimPrefix(q.Model, "models/")
		}
		switch paths := map[string]string{"openai": "/v1/embeddings", "ollama": "/api/embed", "gemini": "/v1beta/models/real:batchEmbedContents"}; {
		case strings.Contains(string(body), "overlong"):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"the input is too long"}}`)
		case in.Model != "real" || r.URL.Path != paths[api]:
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"error":"%s %s"}`, r.URL.Path, in.Model)
		case api == "openai":
			for i, v := range vectors {
				vectors[i] = fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, v)
			}
			fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"real","usage":{"prompt_tokens":6,"total_tokens":6}}`, strings.Join(vectors, ","))
		case api == "ollama":
			fmt.Fprintf(w, `{"model":"real","embeddings":[%s],"prompt_eval_count":6}`, strings.Join(vectors, ","))
		default:
			for i, v := range vectors {
				vectors[i] = `{"values":` + v + `}`
			}
			fmt.Fprintf(w, `{"embeddings":[%s],"usageMetadata":{"promptTokenCount":6}}`, strings.Join(vectors, ","))
		}
	}
}

// TestEmbeddingsCrossTheAPIs: each client of the three APIs gets the vectors of
// each server in its own form, with the tokens, and errors in its own form, too.
func TestEmbeddingsCrossTheAPIs(t *testing.T) {
	for _, back := range []string{"openai", "ollama", "gemini", "responses"} {
		server := back
		if back == "responses" {
			server = "openai"
		}
		to := behind(t, "up", back, embedder(server))
		to.Model = "real"
		url := listen(t, gateway.Config{NewID: ids(), Explain: true, Routes: []gateway.Route{{To: []gateway.Target{to}}}})
		for _, c := range []struct{ api, path, body, want string }{
			{"openai", "/v1/embeddings", `{"model":"m","input":["One","Seven"]}`, `"data":[{"object":"embedding","index":0,"embedding":[3,0.5]},{"object":"embedding","index":1,"embedding":[5,0.5]}],"model":"M","usage":{"prompt_tokens":6,"total_tokens":6}`},
			{"openai", "/embeddings", `{"model":"m","input":"One"}`, `"embedding":[3,0.5]`},
			{"ollama", "/api/embed", `{"model":"m","input":["One","Seven"]}`, `"embeddings":[[3,0.5],[5,0.5]]`},
			{"ollama", "/api/embeddings", `{"model":"m","prompt":"One"}`, `{"embedding":[3,0.5]}`},
			{"gemini", "/v1beta/models/m:batchEmbedContents", `{"requests":[{"model":"models/m","content":{"parts":[{"text":"One"}]}},{"model":"models/m","content":{"parts":[{"text":"Seven"}]}}]}`, `{"embeddings":[{"values":[3,0.5]},{"values":[5,0.5]}],"usageMetadata":{"promptTokenCount":6}}`},
			{"gemini", "/v1beta/models/m:embedContent", `{"content":{"parts":[{"text":"One"}]}}`, `{"embedding":{"values":[3,0.5]}`},
		} {
			if c.api == server || c.api == "openai" && server == "ollama" {
				continue // goes through as it is
			}
			resp, body := get(t, "POST", url+c.path, c.body)
			if want := strings.ReplaceAll(c.want, `"M"`, `"m"`); resp.StatusCode != 200 || !strings.Contains(body, want) {
				t.Errorf("%s behind, %s: HTTP %d: %s, want %s", back, c.path, resp.StatusCode, body, want)
			}
			if resp.Header.Get("X-Bx-Model") != "real" {
				t.Errorf("%s behind, %s: %v", back, c.path, resp.Header)
			}
			resp, body = get(t, "POST", url+c.path, strings.ReplaceAll(c.body, "One", "overlong"))
			if form := errorWords[c.api][0]; resp.StatusCode != 400 || !strings.Contains(body, "the input is too long") || form == "" {
				t.Errorf("%s behind, %s: HTTP %d: %s", back, c.path, resp.StatusCode, body)
			}
		}
	}
}

// TestEmbeddingsAreOfTheModelAskedFor: no model stands in for another, and what has
// no embeddings says so in its own form.
func TestEmbeddingsAreOfTheModelAskedFor(t *testing.T) {
	claude := behind(t, "claude", "anthropic", embedder("anthropic"))
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{Match: []string{"claude-*"}, To: []gateway.Target{claude}}, ownRoute(t, newLibrary("m:latest"))}})
	for _, c := range []struct {
		path, body string
		header     []string
		status     int
		want       string
	}{
		{"/v1/embeddings", `{"model":"text-embedding-3-small","input":"x"}`, nil, 404, `there is no model \"text-embedding-3-small\"`},
		{"/api/embed", `{"model":"claude-3","input":"x"}`, nil, 501, "claude has none"},
		{"/v1/embeddings", `{"model":"m","input":"x"}`, []string{"anthropic-version", "2023-06-01"}, 501, `{"type":"error"`},
		{"/v1/embeddings", `{"input":"x"}`, nil, 400, "the name of a model"},
		{"/v1beta/models/m:embedContent", `{"content":{"parts":[{"inlineData":{}}]}}`, nil, 400, "content.parts[0]"},
	} {
		if resp, body := get(t, "POST", url+c.path, c.body, c.header...); resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: HTTP %d: %s, want %d with %s", c.path, c.body, resp.StatusCode, body, c.status, c.want)
		}
	}
}
