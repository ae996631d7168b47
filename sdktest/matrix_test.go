package sdktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
)

// provider plays the other side of a conversation: the first request gets the
// conversation's reply, any further one that of the conversation "then".
type provider struct {
	api string
	dir string
	n   int
}

// then is a conversation with a short reply.
const then = "missing_results"

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || strings.HasSuffix(r.URL.Path, "/show") {
		http.NotFound(w, r)
		return
	}
	var body struct{ Stream bool }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	stream := body.Stream || strings.Contains(r.URL.Path, "stream")
	name := p.dir
	if p.n++; p.n > 1 {
		name = then
	}
	reply, media, err := p.file(name, stream)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(withIDs(reply, upstreams[p.api]))
}

// file is a provider's reply with its content type.
func (p *provider) file(name string, stream bool) (b []byte, media string, err error) {
	suffix, media := "reply.json", "application/json"
	switch {
	case stream && p.api == backend.Ollama:
		suffix, media = "ndjson", "application/x-ndjson"
	case stream:
		suffix, media = "sse", "text/event-stream"
	}
	b, err = os.ReadFile(filepath.Join(conversations, name, p.api+"."+suffix))
	if !stream && err == nil {
		var flat bytes.Buffer
		err = json.Compact(&flat, b)
		b = flat.Bytes()
	}
	return b, media, err
}

// upstreams are the providers with ids of two calls as they make them. Some make none.
var upstreams = map[string][]string{
	backend.OpenAI:    {"functions.search_code:0", "functions.list_dir:1"}, // as Kimi numbers its calls
	backend.Responses: {"call_vJ5zcPd3xQ0kTfWm8RbYsL2a", "call_vJ5zcPd3xQ0kTfWm8RbYsL2b"},
	backend.Anthropic: {"toolu_01A09q90qw90lq917835lq9a", "toolu_01A09q90qw90lq917835lq9b"},
	backend.Gemini:    nil,
	backend.Ollama:    nil,
}

// seals are what providers sign their reasoning with, in the conversation "thinking".
var seals = map[string]string{
	backend.Anthropic: "EqQBCgIYAhIM", backend.Responses: "gAAAAABo", backend.Gemini: "CiQBcsjafA==",
}

// withIDs puts a provider's ids into a reply.
func withIDs(reply []byte, ids []string) []byte {
	for i, old := range []string{`"call_1"`, `"call_2"`} {
		if ids == nil {
			reply = bytes.ReplaceAll(reply, []byte(`"id":`+old+`,`), nil)
			continue
		}
		reply = bytes.ReplaceAll(reply, []byte(old), []byte(`"`+ids[i]+`"`))
	}
	return reply
}

// ways are how the two halves of the way are taken.
var ways = []struct {
	name             string
	stream, upstream bool
}{{"whole", false, false}, {"stream", true, true}, {"whole of a stream", false, true}}

// run is one conversation of an SDK with the models of a provider.
type run struct {
	sdk       *sdk
	api, name string
}

// runs are all that there are.
func runs() (all []run) {
	for _, s := range sdks {
		for _, api := range backend.Providers() {
			for _, name := range carried {
				if s.lacks[name] == "" {
					all = append(all, run{s, api, name})
				}
			}
		}
	}
	return all
}

// sum says how many they are.
func sum() string {
	return fmt.Sprintf("%d SDKs × %d providers × %d conversations: %d, each in %d ways: %d runs",
		len(sdks), len(backend.Providers()), len(carried), len(runs()), len(ways), len(runs())*len(ways))
}

// Every SDK has every conversation with the models of every provider.
func TestSDKsTalkToEveryProvider(t *testing.T) {
	for _, r := range runs() {
		for _, way := range ways {
			t.Run(fmt.Sprintf("%s to %s/%s/%s", r.sdk.name, r.api, r.name, way.name), func(t *testing.T) {
				r.sdk.talks(t, r.api, load(t, r.name), way.stream, way.upstream)
			})
		}
	}
	fmt.Println(sum())
}

func (s *sdk) talks(t *testing.T, api string, c conversation, stream, upstream bool) {
	far := &recorder{Handler: &provider{api: api, dir: c.name}}
	server := httptest.NewServer(far)
	t.Cleanup(server.Close)
	b, err := backend.New(backend.Config{Provider: api, URL: server.URL, Whole: !upstream, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	url, near := listen(t, b)
	session := s.begin(url, &c.Request)
	s.hears(t, session, stream, near, as(api, c.Reply))
	if !reshaped(api, c.name) {
		s.arrives(t, api, &c.Request, far.last())
	}
	if len(c.Reply.Calls()) == 0 || c.Request.Choice.Mode == utp.ChoiceRequired {
		return
	}
	session.give(results(c.Reply))
	s.hears(t, session, stream, near, as(api, load(t, then).Reply))
	got := s.arrives(t, api, followed(c), far.last())
	if c.name == "parallel" {
		restored(t, got, upstreams[api])
	}
	if seal := seals[api]; c.name == "thinking" && !bytes.Contains(far.last().request.Body, []byte(seal)) {
		t.Errorf("the provider does not see its %s again: %s", seal, far.last().request.Body)
	}
}

// reshaped tells where a request has to say something in another way: a file that
// a tool gave, beside its result; that a call must be made, in words.
func reshaped(api, name string) bool {
	return name == "image_result" && api != backend.Anthropic && api != backend.Responses ||
		name == "choice_required" && api == backend.Ollama
}

// restored checks that the provider sees its own ids again.
func restored(t *testing.T, r *utp.Request, want []string) {
	t.Helper()
	var got []string
	for _, m := range r.Messages {
		if calls := m.Calls(); m.Role == utp.RoleAssistant && len(calls) > 0 {
			got = nil
			for _, c := range calls {
				got = append(got, c.ID)
			}
		}
	}
	if want != nil && !slices.Equal(got, want) {
		t.Errorf("the provider sees the ids %q, want its own, %q", got, want)
	}
}

// as is a reply with what the provider can say of it: Ollama counts tokens
// without their kinds.
func as(api string, r utp.Reply) utp.Reply {
	if api == backend.Ollama {
		r.Usage = utp.Usage{Input: r.Usage.Prompt(), Output: r.Usage.Completion()}
	}
	return r
}

// hears asks and checks the answer.
func (s *sdk) hears(t *testing.T, with session, stream bool, near *recorder, want utp.Reply) {
	t.Helper()
	got, err := with.ask(stream)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.wanted(want), got); diff != "" {
		t.Errorf("answer (-want +got):\n%s\n%s", diff, near.last().reply)
	}
}

// arrives checks what the provider was asked, by reading it as the provider would.
func (s *sdk) arrives(t *testing.T, api string, want *utp.Request, x exchange) *utp.Request {
	t.Helper()
	got, _, err := fronts[api].Read(x.request)
	if err != nil {
		t.Fatalf("%v\n%s", err, x.request.Body)
	}
	names(got, want)
	if diff := cmp.Diff(s.told(want), s.told(got)); diff != "" {
		t.Errorf("the provider is asked (-want +got):\n%s\n%s", diff, x.request.Body)
	}
	return got
}

// names puts the tools' own names back: not every API takes every name.
func names(r, want *utp.Request) {
	if len(r.Tools) != len(want.Tools) {
		return
	}
	own := map[string]string{}
	for i := range r.Tools {
		own[r.Tools[i].Name] = want.Tools[i].Name
	}
	for i := range r.Messages {
		for k, p := range r.Messages[i].Parts {
			if c, ok := p.(utp.Call); ok && own[c.Name] != "" {
				c.Name = own[c.Name]
				r.Messages[i].Parts[k] = c
			}
		}
	}
}
