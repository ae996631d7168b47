package sdktest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// failures are what a provider says. Anthropic's status is 529 where others
// have 503, Ollama's 400 where others have 413.
var failures = []struct {
	err    wire.Error
	status map[string]int    // where it differs
	words  map[string]string // that stand before the message, where the clients of an API know the error by them
}{
	{err: wire.Error{Status: 400, Message: "temperature: want 0 to 2"}},
	{err: wire.Error{Status: 404, Message: "no such model"}},
	{err: wire.Error{Status: 413, Message: "too much"}, status: map[string]int{"ollama": 400}},
	{err: wire.Error{Status: 429, Message: "slow down", RetryAfter: 7 * time.Second}},
	{err: wire.Error{Status: 500, Message: "it broke"}},
	{err: wire.Error{Status: 503, Message: "busy"}, status: map[string]int{"anthropic": 529}},
	{err: wire.Error{Status: 400, Message: "This model's maximum context length is 8192 tokens"}, words: map[string]string{
		"anthropic": "prompt is too long: ", "gemini": "The input token count exceeds the maximum number of tokens allowed: "}},
}

func eachWay(t *testing.T, f func(t *testing.T, s *sdk, stream bool)) {
	for _, s := range sdks {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", s.name, stream), func(t *testing.T) { f(t, s, stream) })
		}
	}
}

func hello() *utp.Request {
	return &utp.Request{Model: "m", Messages: []utp.Message{utp.NewText(utp.RoleUser, "Hello.")}}
}

// A provider's error reaches the program as the SDK's own error, with the
// status, the kind and the words.
func TestSDKsKnowTheErrors(t *testing.T) {
	eachWay(t, func(t *testing.T, s *sdk, stream bool) {
		for _, f := range failures {
			url, seen := listen(t, &model{fail: &f.err})
			_, err := s.begin(url, hello()).ask(stream)
			want := fault{f.err.Status, "", f.words[s.api] + f.err.Message}
			if other := f.status[s.api]; other != 0 {
				want.Status = other
			}
			want.Kind = s.kinds[want.Status]
			if s.mute[want.Status] {
				want.Message = ""
			}
			got, ok := s.fault(err)
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%d: %T %v (-want +got):\n%s", f.err.Status, err, err, diff)
			}
			if wait := seen.last().header.Get("Retry-After"); (f.err.RetryAfter > 0) != (wait == "7") {
				t.Errorf("%d: Retry-After %q", f.err.Status, wait)
			}
		}
	})
}

// Who has no key is told so.
func TestSDKsKnowThatTheyNeedAKey(t *testing.T) {
	eachWay(t, func(t *testing.T, s *sdk, stream bool) {
		url, _ := listenWith(t, gateway.Config{
			Routes:  []gateway.Route{{To: []gateway.Target{{Backend: &model{}}}}},
			Clients: []gateway.Client{{Name: "another", Key: sha256.Sum256([]byte("another"))}},
		})
		_, err := s.begin(url, hello()).ask(stream)
		if got, ok := s.fault(err); !ok || got.Status != 401 || got.Kind != s.kinds[401] || (got.Message == "") != s.mute[401] {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// A request that is wrong is the client's error.
func TestSDKsKnowThatTheyAskedWrongly(t *testing.T) {
	eachWay(t, func(t *testing.T, s *sdk, stream bool) {
		url, _ := listenWith(t, gateway.Config{Routes: []gateway.Route{{Match: []string{"m"}, To: []gateway.Target{{Backend: &model{}}}}}})
		nameless := hello()
		nameless.Tools = []utp.Tool{{Name: ""}}
		stranger := hello()
		stranger.Model = "gpt-unknown"
		for status, r := range map[int]*utp.Request{400: nameless, 404: stranger} {
			_, err := s.begin(url, r).ask(stream)
			if got, ok := s.fault(err); !ok || got.Status != status || got.Kind != s.kinds[status] || got.Message == "" {
				t.Errorf("%d: %+v %v", status, got, err)
			}
		}
	})
}

// A reply that breaks off is an error, never a reply that is shorter.
func TestSDKsSeeABrokenReply(t *testing.T) {
	eachWay(t, func(t *testing.T, s *sdk, stream bool) {
		for _, c := range []string{"one_call", "length_stop"} {
			url, seen := listen(t, &model{replies: []utp.Reply{load(t, c).Reply}, fail: &wire.Error{Status: 503, Message: "gone"}})
			if got, err := s.begin(url, hello()).ask(stream); err == nil {
				t.Errorf("%+v\n%s", got, seen.last().reply)
			}
		}
	})
}

// A model that takes its time does not lose its clients.
func TestSDKsBearAHeartbeat(t *testing.T) {
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			m := &model{replies: []utp.Reply{done}, pause: 50 * time.Millisecond}
			url, seen := listenWith(t, gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: m, Retries: -1}}}}, Limits: gateway.Limits{Heartbeat: 5 * time.Millisecond}})
			got, err := s.begin(url, hello()).ask(true)
			if err != nil {
				t.Fatalf("%v\n%s", err, seen.last().reply)
			}
			if diff := cmp.Diff(s.wanted(done), got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSDKsListTheModels(t *testing.T) {
	for _, s := range sdks {
		if s.models == nil {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			url, seen := listen(t, &model{})
			got, err := s.models(url)
			if want := []string{"model-a", "org/model-b"}; err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, want %v (%v)\n%s", got, want, err, seen.last().reply)
			}
		})
	}
}

func TestSDKsCountTokens(t *testing.T) {
	for _, s := range sdks {
		if s.tokens == nil {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			url, _ := listen(t, &model{})
			c := load(t, "parallel")
			short, err := s.tokens(url, hello())
			if err != nil {
				t.Fatal(err)
			}
			long, err := s.tokens(url, &c.Request)
			if err != nil || short < 1 || long <= short {
				t.Errorf("%d and %d tokens (%v)", short, long, err)
			}
		})
	}
}
