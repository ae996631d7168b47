package sdktest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

var fronts = map[string]wire.Front{
	"openai": openai.Front{}, "responses": responses.Front{}, "anthropic": anthropic.Front{}, "gemini": gemini.Front{},
	"ollama": ollama.Front{},
}

// each runs f for every SDK and conversation that it can have, whole and streamed.
func each(t *testing.T, f func(t *testing.T, s *sdk, c conversation, stream bool)) {
	for _, s := range sdks {
		for _, name := range carried {
			if s.lacks[name] != "" {
				continue
			}
			for _, how := range []string{"whole", "stream"} {
				t.Run(fmt.Sprintf("%s/%s/%s", s.name, name, how), func(t *testing.T) { f(t, s, load(t, name), how == "stream") })
			}
		}
	}
}

// done is the reply to the results that a program gives.
var done = utp.Reply{
	Message: utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Text{Text: "All done."}}},
	End:     utp.End{Stop: utp.StopEnd, Usage: utp.Usage{Input: 60, Output: 3}},
}

// next is the reply to the results of a conversation's calls. Where a call must
// be made, it is made again.
func next(c conversation) utp.Reply {
	if c.Request.Choice.Mode == utp.ChoiceRequired {
		return c.Reply
	}
	return done
}

// results are what a program says to the calls of a reply.
func results(r utp.Reply) (texts []string) {
	for i := range r.Calls() {
		texts = append(texts, fmt.Sprintf("result %d: \"ü\" & <b>", i+1))
	}
	return texts
}

// followed is the request of the second turn.
func followed(c conversation) *utp.Request {
	r := c.Request
	r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], c.Reply.Message)
	for i, text := range results(c.Reply) {
		r.Messages = append(r.Messages, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c.Reply.Calls()[i], utp.StatusOK, text)}})
	}
	return &r
}

// A conversation that an SDK has with a gateway reaches the model as it is
// meant, without a loss, and the reply reaches the program; also in the turn
// after it.
func TestSDKsTalkToTheFronts(t *testing.T) {
	each(t, func(t *testing.T, s *sdk, c conversation, stream bool) {
		m := &model{replies: []utp.Reply{c.Reply, next(c)}}
		url, seen := listen(t, m)
		session := s.begin(url, &c.Request)
		got, err := session.ask(stream)
		if err != nil {
			t.Fatalf("%v\n%s", err, seen.last().reply)
		}
		if diff := cmp.Diff(s.wanted(c.Reply), got); diff != "" {
			t.Errorf("answer (-want +got):\n%s\n%s", diff, seen.last().reply)
		}
		s.same(t, &c.Request, seen.last(), stream)
		if len(c.Reply.Calls()) == 0 {
			return
		}
		session.give(results(c.Reply))
		got, err = session.ask(stream)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.wanted(next(c)), got); diff != "" {
			t.Errorf("answer of the second turn (-want +got):\n%s", diff)
		}
		s.same(t, followed(c), seen.last(), stream)
	})
}

// same checks that a request, as a client sent it, is what it should say.
func (s *sdk) same(t *testing.T, want *utp.Request, x exchange, stream bool) {
	t.Helper()
	got, losses, err := fronts[s.api].Read(x.request)
	if err != nil || len(losses) > 0 {
		t.Fatalf("%v, losses %v\n%s", err, losses, x.request.Body)
	}
	if diff := cmp.Diff(s.told(want), s.told(got)); diff != "" {
		t.Errorf("request (-want +got):\n%s\n%s", diff, x.request.Body)
	}
	if want.Params.MaxTokens == nil {
		got.Params.MaxTokens = nil // some must say something
	}
	if want.Params.SchemaName == "" {
		got.Params.SchemaName = "" // a name that OpenAI's APIs must have
	}
	if want.Params.SchemaHeld == nil {
		got.Params.SchemaHeld = nil // the other APIs have nothing but strict schemas
	}
	if diff := cmp.Diff(s.offer(want), s.offer(got)); diff != "" {
		t.Errorf("tools, choice and settings (-want +got):\n%s\n%s", diff, x.request.Body)
	}
	if got.Model != want.Model || got.Stream != stream {
		t.Errorf("model %q, stream %t", got.Model, got.Stream)
	}
}

// offer is what a request says beside its messages.
func (s *sdk) offer(r *utp.Request) (lines []string) {
	for _, tool := range r.Tools {
		if len(tool.Schema) == 0 {
			tool.Schema = noArguments
		}
		if s.loose {
			tool.Schema = json.RawMessage(`"some"`)
		}
		lines = append(lines, fmt.Sprintf("tool %s: %s: %s", tool.Name, tool.Description, canonical(tool.Schema)))
	}
	p, choice := r.Params, r.Choice
	s.params(&p)
	if choice.Parallel != nil && *choice.Parallel {
		choice.Parallel = nil // is the default everywhere
	}
	if s.lacks["choice_one"] != "" {
		choice.Parallel = nil
	}
	if p.Schema != nil {
		p.Schema = json.RawMessage(canonical(p.Schema))
	}
	b, err := json.Marshal([]any{p, choice})
	if err != nil {
		return []string{err.Error()}
	}
	return append(lines, string(b))
}

// Calls that a model writes at the same time reach the program one by one,
// whatever stands between them.
func TestSDKsReadCallsThatAlternate(t *testing.T) {
	a, b := utp.Call{ID: "call_a", Name: "f", Args: []byte(`{"x":1}`)}, utp.Call{ID: "call_b", Name: "g", Args: []byte(`{"y":[2,3]}`)}
	events := []utp.Event{
		{Kind: utp.EventText, Part: 0, Text: "Both "}, {Kind: utp.EventText, Part: 0, Text: "now."},
		{Kind: utp.EventCallStart, Part: 1, Call: &utp.Call{ID: a.ID, Name: a.Name}},
		{Kind: utp.EventCallStart, Part: 2, Call: &utp.Call{ID: b.ID, Name: b.Name}},
		{Kind: utp.EventCallDelta, Part: 2, Text: `{"y":`}, {Kind: utp.EventCallDelta, Part: 1, Text: `{"x"`},
		{Kind: utp.EventCallDelta, Part: 2, Text: `[2,3]}`}, {Kind: utp.EventCallEnd, Part: 2, Call: &b},
		{Kind: utp.EventText, Part: 3, Text: " Wait."},
		{Kind: utp.EventCallDelta, Part: 1, Text: `:1}`}, {Kind: utp.EventCallEnd, Part: 1, Call: &a},
		{Kind: utp.EventText, Part: 3, Text: " Done."},
		{Kind: utp.EventFinish, Part: 4, End: &utp.End{Stop: utp.StopTool, Usage: utp.Usage{Input: 9, Output: 8}}},
	}
	r := hello()
	r.Tools = []utp.Tool{{Name: "f"}, {Name: "g"}}
	eachWay(t, func(t *testing.T, s *sdk, stream bool) {
		url, seen := listen(t, &model{events: events})
		got, err := s.begin(url, r).ask(stream)
		if err != nil {
			t.Fatalf("%v\n%s", err, seen.last().reply)
		}
		if diff := cmp.Diff(s.wanted(utp.Collect(events)), got); diff != "" {
			t.Errorf("answer (-want +got):\n%s\n%s", diff, seen.last().reply)
		}
	})
}

// Replies that say little or nothing are replies too.
func TestSDKsReadReplies(t *testing.T) {
	half := utp.Usage{Input: 9, Output: 4}
	text := []utp.Part{utp.Text{Text: "No."}}
	think := []utp.Part{utp.Think{Text: "Hm."}}
	for name, r := range map[string]utp.Reply{
		"nothing":       {End: utp.End{Stop: utp.StopEnd, Usage: half}},
		"only thought":  {Message: utp.Message{Parts: think}, End: utp.End{Stop: utp.StopLength, Usage: half}},
		"cut":           {End: utp.End{Stop: utp.StopLength, Usage: half}},
		"refused":       {Message: utp.Message{Parts: text}, End: utp.End{Stop: utp.StopFilter, Usage: half}},
		"filtered":      {End: utp.End{Stop: utp.StopFilter, Usage: half}},
		"stop sequence": {Message: utp.Message{Parts: text}, End: utp.End{Stop: utp.StopSequence, StopSeq: "X", Usage: half}},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, s *sdk, stream bool) {
				url, seen := listen(t, &model{replies: []utp.Reply{r}})
				got, err := s.begin(url, hello()).ask(stream)
				if err != nil {
					t.Fatalf("%v\n%s", err, seen.last().reply)
				}
				if diff := cmp.Diff(s.wanted(r), got); diff != "" {
					t.Errorf("answer (-want +got):\n%s\n%s", diff, seen.last().reply)
				}
			})
		})
	}
}

// A program may name the response that it goes on from in place of the
// conversation.
func TestResponsesGoOnFromTheLast(t *testing.T) {
	c := load(t, "parallel")
	m := &model{replies: []utp.Reply{c.Reply, done}}
	url, _ := listen(t, m)
	s := beginResponses(url, &c.Request).(*responsesSession)
	if _, err := s.ask(false); err != nil {
		t.Fatal(err)
	}
	s.params.PreviousResponseID, s.input = s.last, nil
	s.give(results(c.Reply))
	got, err := s.ask(true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(responsesSDK.wanted(done), got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(responsesSDK.told(followed(c)), responsesSDK.told(m.asked[1])); diff != "" {
		t.Errorf("the model is asked (-want +got):\n%s", diff)
	}
}
