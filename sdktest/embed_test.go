package sdktest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"google.golang.org/genai"

	"github.com/unifiedtoolprotocol/utp/backend"
)

// embeds asks for the vectors of texts through an SDK; SDKs that are not here have
// no call for it.
var embeds = map[*sdk]func(url, model string, texts []string) ([][]float32, error){
	chatSDK: openaiEmbed, geminiSDK: geminiEmbed, ollamaSDK: ollamaEmbed,
	npmChat: npmEmbed("openai"), npmGemini: npmEmbed("gemini"), npmOllama: npmEmbed("ollama"),
}

func openaiEmbed(url, model string, texts []string) (out [][]float32, err error) {
	client := openaiAPI(url)
	reply, err := client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{Model: model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}})
	if err != nil {
		return nil, err
	}
	if reply.Usage.PromptTokens != 6 {
		return nil, fmt.Errorf("%d tokens, want 6", reply.Usage.PromptTokens)
	}
	for _, d := range reply.Data {
		v := make([]float32, len(d.Embedding))
		for i, f := range d.Embedding {
			v[i] = float32(f)
		}
		out = append(out, v)
	}
	return out, nil
}

func geminiEmbed(url, model string, texts []string) (out [][]float32, err error) {
	client, err := geminiAPI(url)
	if err != nil {
		return nil, err
	}
	var contents []*genai.Content
	for _, text := range texts {
		contents = append(contents, genai.NewContentFromText(text, genai.RoleUser))
	}
	reply, err := client.Models.EmbedContent(context.Background(), model, contents, nil)
	if err != nil {
		return nil, err
	}
	for _, e := range reply.Embeddings {
		out = append(out, e.Values)
	}
	return out, nil
}

func ollamaEmbed(url, model string, texts []string) ([][]float32, error) {
	client, err := ollamaAPI(url)
	if err != nil {
		return nil, err
	}
	reply, err := client.Embed(context.Background(), &api.EmbedRequest{Model: model, Input: texts})
	if err != nil {
		return nil, err
	}
	if reply.PromptEvalCount != 6 {
		return nil, fmt.Errorf("%d tokens, want 6", reply.PromptEvalCount)
	}
	return reply.Embeddings, nil
}

func npmEmbed(name string) func(url, model string, texts []string) ([][]float32, error) {
	return func(url, model string, texts []string) (out [][]float32, err error) {
		err = node.order(npmOrder{SDK: name, Order: "embed", URL: url, Model: model, Texts: texts}, &out)
		return out, err
	}
}

// embedder is a server of every API that makes vectors of the lengths of texts.
func embedder(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input    any
		Encoding string `json:"encoding_format"`
		Requests []struct {
			Content struct{ Parts []struct{ Text string } }
		}
	}
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || json.Unmarshal(body, &in) != nil {
		http.NotFound(w, r)
		return
	}
	var texts, vectors []string
	if list, ok := in.Input.([]any); ok {
		for _, text := range list {
			texts = append(texts, text.(string))
		}
	}
	for _, q := range in.Requests {
		texts = append(texts, q.Content.Parts[0].Text)
	}
	for i, text := range texts {
		vectors = append(vectors, vector(r.URL.Path, in.Encoding, i, len(text)))
	}
	all := strings.Join(vectors, ",")
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/v1/embeddings":
		fmt.Fprintf(w, `{"object":"list","data":[%s],"usage":{"prompt_tokens":6,"total_tokens":6}}`, all)
	case r.URL.Path == "/api/embed":
		fmt.Fprintf(w, `{"model":"m","embeddings":[%s],"prompt_eval_count":6}`, all)
	case strings.HasSuffix(r.URL.Path, ":batchEmbedContents"):
		fmt.Fprintf(w, `{"embeddings":[%s],"usageMetadata":{"promptTokenCount":6}}`, all)
	default:
		http.NotFound(w, r)
	}
}

// vector is an embedding in the form of a path.
func vector(path, encoding string, i, n int) string {
	switch {
	case path == "/api/embed":
		return fmt.Sprintf("[%d,-0.25]", n)
	case path != "/v1/embeddings":
		return fmt.Sprintf(`{"values":[%d,-0.25]}`, n)
	case encoding == "base64":
		b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(n)))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(-0.25))
		return fmt.Sprintf(`{"index":%d,"embedding":%q}`, i, base64.StdEncoding.EncodeToString(b))
	}
	return fmt.Sprintf(`{"index":%d,"embedding":[%d,-0.25]}`, i, n)
}

// TestSDKsEmbed: every SDK gets the vectors of every provider that has any.
func TestSDKsEmbed(t *testing.T) {
	for _, s := range sdks {
		embed := embeds[s]
		if embed == nil {
			continue
		}
		for _, provider := range []string{backend.OpenAI, backend.Responses, backend.Ollama, backend.Gemini} {
			t.Run(s.name+" to "+provider, func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(embedder))
				t.Cleanup(server.Close)
				b, err := backend.New(backend.Config{Provider: provider, URL: server.URL, Retries: -1})
				if err != nil {
					t.Fatal(err)
				}
				url, seen := listen(t, b)
				got, err := embed(url, "m", []string{"One", "Seven"})
				want := [][]float32{{3, -0.25}, {5, -0.25}}
				if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
					t.Errorf("%v, want %v (%v)\n%s", got, want, err, seen.last().reply)
				}
			})
		}
	}
}
