package sdktest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// teller is a model behind an API that gives its replies one after the other.
type teller struct {
	api     string
	replies []utp.Reply

	mu    sync.Mutex
	asked []*utp.Request
}

func (m *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || strings.HasSuffix(r.URL.Path, "/show") {
		http.NotFound(w, r)
		return
	}
	front := fronts[m.api]
	q, _, err := front.Read(wire.HTTPRequest{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header, Body: body})
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || len(m.asked) >= len(m.replies) {
		http.Error(w, fmt.Sprint("one request too many, or a bad one: ", err), http.StatusBadRequest)
		return
	}
	reply := m.replies[len(m.asked)]
	m.asked = append(m.asked, q)
	if !q.Stream {
		body, _, _ := front.Whole(q, reply, wire.Stamp{ID: "up_1", Model: "m"})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
		return
	}
	framing, media := wire.SSE, "text/event-stream"
	if m.api == backend.Ollama {
		framing, media = wire.NDJSON, "application/x-ndjson"
	}
	w.Header().Set("Content-Type", media)
	writer := front.Writer(q, wire.Stamp{ID: "up_1", Model: "m"})
	for _, e := range append(pieces(utp.Replay(reply)), utp.Event{}) {
		frames := writer.Write(e)
		if e.Kind == 0 {
			frames = writer.Close(nil)
		}
		for _, f := range frames {
			_, _ = w.Write(framing.Append(nil, f))
		}
	}
}

// manners are how calls travel between the gateway and the model: in the
// provider's own field, as text in a dialect though tools are offered natively,
// and as text of a model that has its tools in the prompt.
var manners = []struct {
	name, grammar string
	prompted      bool
}{{"native", "", false}, {"hermes", "hermes", false}, {"qwen3-coder", "qwen3-coder", false}, {"prompted", "hermes", true}}

// Every SDK goes with the models of every provider through three turns, whatever
// the models write their calls as, and sends the results back.
func TestSDKsCallToolsThroughEveryModel(t *testing.T) {
	runs := 0
	for _, s := range sdks {
		for _, api := range backend.Providers() {
			for _, m := range manners {
				for _, stream := range []bool{false, true} {
					runs++
					t.Run(fmt.Sprintf("%s to %s/%s/stream=%t", s.name, api, m.name, stream), func(t *testing.T) {
						s.works(t, api, m.grammar, m.prompted, stream)
					})
				}
			}
		}
	}
	t.Logf("%d runs of three turns", runs)
	if runs < 300 {
		t.Errorf("%d runs, want 300 at least", runs)
	}
}

func (s *sdk) works(t *testing.T, api, dialect string, prompted, stream bool) {
	t.Helper()
	turns := []utp.Reply{
		says("", utp.Call{ID: "call_1", Name: "weather", Args: []byte(`{"city":"Zürich \"West\"","days":3}`)}),
		says("", utp.Call{ID: "call_2", Name: "cities", Args: []byte(`{}`)}, utp.Call{ID: "call_3", Name: "weather", Args: []byte(`{"city":"Rome","days":1}`)}),
		says("All done."),
	}
	for i := range turns {
		turns[i].Usage = utp.Usage{Input: 7, Output: 3}
	}
	far := &teller{api: api, replies: written(t, dialect, turns)}
	server := httptest.NewServer(far)
	t.Cleanup(server.Close)
	conf := backend.Config{Provider: api, URL: server.URL, Retries: -1, OnlyOffered: true}
	conf.Parse.Policy.Unknown = parse.TextUnknown
	if prompted {
		conf.Formats = []format.Layer{{Tools: "text", Text: dialect}}
	}
	b, err := backend.New(conf)
	if err != nil {
		t.Fatal(err)
	}
	url, near := listen(t, b)
	r := hello()
	r.Tools = []utp.Tool{
		{Name: "weather", Description: "The weather.", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"]}`)},
		{Name: "cities", Description: "All cities.", Schema: []byte(`{"type":"object","properties":{}}`)},
	}
	session := s.begin(url, r)
	for i, turn := range turns {
		s.hears(t, session, stream, near, as(api, turn))
		if t.Failed() {
			return
		}
		switch i {
		case 0:
			session.give([]string{"the first result"})
		case 1:
			session.give([]string{"the second result", "the third result"})
		}
	}
	far.sees(t, prompted)
}

// written are the replies with their calls as text of a dialect; "" leaves them.
func written(t *testing.T, dialect string, turns []utp.Reply) (out []utp.Reply) {
	t.Helper()
	g, ok := grammar.ByName(dialect)
	for _, r := range turns {
		if calls := r.Calls(); ok && len(calls) > 0 {
			text, err := prompt.Calls(g, calls)
			if err != nil {
				t.Fatal(err)
			}
			usage := r.Usage
			r = says(text)
			r.Usage = usage
		}
		out = append(out, r)
	}
	return out
}

// sees checks what the model was asked at last: tools, calls and results in its
// own manner, each once.
func (m *teller) sees(t *testing.T, prompted bool) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.asked[len(m.asked)-1]
	calls, text := 0, ""
	for _, msg := range q.Messages {
		calls += len(msg.Calls())
		text += msg.Text()
		for _, r := range msg.Results() {
			text += r.Text()
		}
	}
	want := 3
	if prompted {
		want = 0
	}
	if calls != want || prompted == (len(q.Tools) > 0) {
		t.Errorf("the model sees %d calls and %d tools in fields of their own", calls, len(q.Tools))
	}
	for _, result := range []string{"the first result", "the second result", "the third result"} {
		if strings.Count(text, result) != 1 {
			t.Errorf("the model does not see %q once: %s", result, text)
		}
	}
}
