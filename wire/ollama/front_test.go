package ollama_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

func read(t *testing.T, path, body string) (*utp.Request, []wire.Loss) {
	t.Helper()
	r, losses, err := ollama.Front{}.Read(wire.HTTPRequest{Method: "POST", Path: path, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	return r, losses
}

// sameJSON compares by value.
func sameJSON(t *testing.T, want, got string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// As Ollama's own clients can write them, with fields of tomorrow.
const client = `{"model":"qwen3:8b","stream":true,"keep_alive":"5m","think":true,"truncate":true,
 "format":{"type":"object","properties":{"answer":{"type":"string"}}},
 "options":{"num_ctx":8192,"num_predict":200,"temperature":0.2,"top_p":0.9,"top_k":20,"seed":7,"stop":["END"],"min_p":0.05,"repeat_penalty":1.1},
 "messages":[
  {"role":"system","content":"Be brief."},
  {"role":"user","content":"What is that?","images":["iVBORw0KGgo="]},
  {"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{"n":9007199254740993}}},{"id":"call_2","function":{"index":1,"name":"g","arguments":{}}}]},
  {"role":"tool","content":"one","tool_name":"f","tool_call_id":"call_1"},
  {"role":"tool","content":"ERROR: two","tool_name":"g","tool_call_id":"call_2"},
  {"role":"user","content":"Go on."}],
 "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}},
  {"type":"function","function":{"name":"g","description":"","parameters":{"type":"object","properties":{}}},"items":null}]}`

// contract: F-01 F-09
func TestWhatAClientSaysComesThrough(t *testing.T) {
	r, losses := read(t, "/api/chat", client)
	x, err := ollama.Back{}.Open(r)
	if err != nil || len(losses) > 0 || len(x.Losses) > 0 {
		t.Fatal(err, losses, x.Losses)
	}
	sameJSON(t, strings.Replace(client, `"name":"g","description":"",`, `"name":"g",`, 1), string(x.Body))
	p := r.Params
	if *p.Context != 8192 || *p.MaxTokens != 200 || *p.TopK != 20 || *p.Seed != 7 || p.Stop[0] != "END" || p.Effort != "medium" || !strings.Contains(string(p.Schema), "answer") || !r.Stream {
		t.Errorf("%+v", p)
	}
	if b, ok := r.Messages[1].Parts[1].(utp.Blob); !ok || b.MIME != "image/png" || len(b.Data) != 8 {
		t.Errorf("%+v", r.Messages[1])
	}
	if c := r.Messages[2].Calls(); string(c[0].Args) != `{"n":9007199254740993}` {
		t.Errorf("%+v", c)
	}
	if res := r.Messages[4].Results()[0]; res.Status != utp.StatusFailed || res.Text() != "two" || res.Name != "g" {
		t.Errorf("%+v", res)
	}
}

// Results find their calls by id, by the tool's name or by their order.
//
// contract: F-11
func TestResultsFindTheirCalls(t *testing.T) {
	for _, c := range []struct{ name, results, want string }{
		{"by order", `{"role":"tool","content":"1"},{"role":"tool","content":"2"},{"role":"tool","content":"3"}`, "1 2 3"},
		{"by name", `{"role":"tool","tool_name":"g","content":"2"},{"role":"tool","tool_name":"f","content":"1"},{"role":"tool","tool_name":"f","content":"3"}`, "1 2 3"},
		{"by id", `{"role":"tool","tool_call_id":"x","content":"2"},{"role":"tool","tool_name":"f","content":"1"},{"role":"tool","tool_name":"f","content":"3"}`, "1 2 3"},
		{"by both", `{"role":"tool","content":"1"},{"role":"tool","tool_name":"f","content":"3"},{"role":"tool","content":"2"}`, "1 2 3"},
	} {
		r, _ := read(t, "/api/chat", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"id":"x","function":{"name":"g"}},{"function":{"name":"f","arguments":"{\"a\":3}"}}]},`+c.results+`]}`)
		results := map[string]utp.Result{}
		for _, m := range r.Messages {
			for _, res := range m.Results() {
				results[res.CallID] = res
			}
		}
		var got []string
		for _, call := range r.Messages[0].Calls() {
			res := results[call.ID]
			if got = append(got, res.Text()); res.Name != call.Name || call.ID == "" || !shape.IsObject(call.Args) {
				t.Errorf("%s: %+v for %+v", c.name, res, call)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	r, _ := read(t, "/api/chat", `{"messages":[{"role":"tool","tool_name":"f","content":"of nothing"}]}`)
	if res := r.Messages[0].Results()[0]; res.Name != "f" || res.CallID != "" {
		t.Errorf("%+v", res)
	}
}

func TestSettings(t *testing.T) {
	for body, check := range map[string]func(r *utp.Request) bool{
		`{"think":false}`:                        func(r *utp.Request) bool { return r.Params.Effort == "none" },
		`{"model":"gpt-oss:20b","think":"high"}`: func(r *utp.Request) bool { return r.Params.Effort == "high" },
		`{"think":null}`:                         func(r *utp.Request) bool { return r.Params.Effort == "" },
		`{}`:                                     func(r *utp.Request) bool { return r.Stream && r.Params.Schema == nil && r.Extra == nil },
		`{"stream":false}`:                       func(r *utp.Request) bool { return !r.Stream },
		`{"format":"json"}`:                      func(r *utp.Request) bool { return string(r.Params.Schema) == "{}" },
		`{"format":""}`:                          func(r *utp.Request) bool { return r.Params.Schema == nil },
		`{"options":{"num_predict":-1}}`:         func(r *utp.Request) bool { return r.Params.MaxTokens == nil },
		`{"options":{"stop":"a"}}`:               func(r *utp.Request) bool { return len(r.Params.Stop) == 1 },
		`{"options":null,"tools":null}`:          func(r *utp.Request) bool { return r.Extra == nil && r.Tools == nil },
		`{"options":{"num_thread":8}}`:           func(r *utp.Request) bool { return string(r.Extra) == `{"ollama":{"options":{"num_thread":8}}}` },
		`{"messages":[{"role":"user","content":"x","images":["data:image/gif;base64,R0lGODlh"]}]}`: func(r *utp.Request) bool {
			return r.Messages[0].Parts[1].(utp.Blob).MIME == "image/gif"
		},
	} {
		r, _ := read(t, "/api/chat", body)
		if !check(r) {
			t.Errorf("%s: %+v", body, r)
		}
		x, err := ollama.Back{}.Open(r)
		if err != nil || len(x.Losses) > 0 {
			t.Errorf("%s: %v %v", body, err, x.Losses)
		}
	}
}

// A request of /api/generate is a chat of one question, and its reply has no message.
func TestGenerate(t *testing.T) {
	r, losses := read(t, "/api/generate", `{"model":"m","prompt":"Why?","system":"Be brief.","images":["/9j/AA=="],"suffix":"s","template":"t","raw":true,"context":[1,2],"options":{"seed":1},"keep_alive":0}`)
	if len(losses) != 4 || len(r.Messages) != 2 || r.Messages[0].Role != utp.RoleSystem || r.Messages[1].Text() != "Why?" || r.Messages[1].Parts[1].(utp.Blob).MIME != "image/jpeg" || *r.Params.Seed != 1 {
		t.Fatalf("%+v %v", r, losses)
	}
	x, err := ollama.Back{}.Open(r)
	if err != nil || strings.Contains(string(x.Body), "prompt") || strings.Contains(string(x.Body), "generate") || !strings.Contains(string(x.Body), `"keep_alive":0`) {
		t.Errorf("%s %v", x.Body, err)
	}
	reply := utp.Reply{Message: utp.Message{Parts: []utp.Part{utp.Think{Text: "Hm."}, utp.Text{Text: "So."}}}, End: utp.End{Usage: utp.Usage{Input: 5, Output: 2}}}
	stamp := wire.Stamp{Unix: 1787306400, Elapsed: func() time.Duration { return 3 * time.Second }}
	body, losses, err := ollama.Front{}.Whole(r, reply, stamp)
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	sameJSON(t, `{"model":"m","created_at":"2026-08-21T10:00:00Z","response":"So.","thinking":"Hm.","done":true,"done_reason":"stop","total_duration":3000000000,"eval_duration":3000000000,"prompt_eval_count":5,"eval_count":2}`, string(body))
	w := ollama.Front{}.Writer(r, stamp)
	var lines []string
	for _, e := range append(utp.Replay(reply)[:2], utp.Event{Kind: utp.EventCallEnd, Part: 3, Call: &utp.Call{Name: "f"}}, utp.Event{Kind: utp.EventFinish, End: &reply.End}) {
		for _, f := range w.Write(e) {
			lines = append(lines, string(f.Data))
		}
	}
	want := []string{`{"model":"m","created_at":"2026-08-21T10:00:00Z","response":"","thinking":"Hm.","done":false}`, `{"model":"m","created_at":"2026-08-21T10:00:00Z","response":"So.","done":false}`,
		`{"model":"m","created_at":"2026-08-21T10:00:00Z","response":"","done":true,"done_reason":"stop","total_duration":3000000000,"prompt_eval_count":5,"prompt_eval_duration":3000000000,"eval_count":2}`}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"/api/generate", "/api/chat"} {
		r, _ := read(t, path, `{"model":"m"}`)
		if got := string(ollama.Front{}.Loaded(r, wire.Stamp{})); len(r.Messages) > 0 || !strings.Contains(got, `"done":true,"done_reason":"load"}`) || strings.Contains(got, "response") != strings.HasSuffix(path, "generate") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// The times of an Ollama server come through; of others the caller's clock tells them.
func TestTimes(t *testing.T) {
	r, _ := read(t, "/api/chat", `{"model":"m","messages":[{"role":"user","content":"x"}]}`)
	x, err := ollama.Back{}.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"model":"m","created_at":"2026-08-21T10:00:00Z","message":{"role":"assistant","content":"y","mood":"good"},"done":true,"done_reason":"length","total_duration":50,"load_duration":10,"prompt_eval_count":4,"prompt_eval_duration":20,"eval_count":2,"eval_duration":15,"context":[1]}`
	reply, err := x.Read([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, losses, err := ollama.Front{}.Whole(r, reply, wire.Stamp{Unix: 1787306400, Elapsed: func() time.Duration { return time.Hour }})
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	sameJSON(t, body, string(got))
	clock := time.Duration(0)
	w := ollama.Front{}.Writer(r, wire.Stamp{Elapsed: func() time.Duration { clock += time.Second; return clock }})
	w.Write(utp.Event{Kind: utp.EventText, Text: "y"})
	last := w.Write(utp.Event{Kind: utp.EventFinish, End: &utp.End{}})
	if want := `"total_duration":2000000000,"prompt_eval_duration":1000000000,"eval_duration":1000000000`; len(last) != 1 || !strings.Contains(string(last[0].Data), want) {
		t.Errorf("%s", last)
	}
}

// What an Ollama client cannot be told is reported.
func TestLossesOfReplies(t *testing.T) {
	parts := []utp.Part{utp.Think{Text: "a", Signature: "s", Provider: "anthropic"}, utp.Blob{URL: "https://x/y.png"}, utp.Unknown{Provider: "gemini", Raw: []byte("{}")}, utp.Blob{MIME: "image/png", Data: []byte("\x89PNG")}, utp.Text{Text: "x"}}
	reply := utp.Reply{Message: utp.Message{Parts: parts}, End: utp.End{Stop: utp.StopFilter, Usage: utp.Usage{Input: 1, CacheRead: 2, Output: 3}}}
	body, losses, err := ollama.Front{}.Whole(&utp.Request{Model: "m"}, reply, wire.Stamp{})
	var paths []string
	for _, l := range losses {
		paths = append(paths, l.Path)
	}
	if got := strings.Join(paths, "; "); err != nil || got != "message.thinking; message.images; message; done_reason; prompt_eval_count, eval_count" {
		t.Error(got, err)
	}
	sameJSON(t, `{"model":"m","created_at":"1970-01-01T00:00:00Z","message":{"role":"assistant","content":"x","thinking":"a","images":["iVBORw=="]},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":3}`, string(body))
}

func TestBadInput(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[{"role":"robot"}]}`:                                             "messages[0].role: offset 13: want system, user, assistant or tool, not robot",
		`{"messages":[{"role":"user","images":["!"]}]}`:                               "messages[0].images[0]: offset 38: want an image in base64 (illegal base64 data at input byte 0)",
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":""}}]}]}`: "messages[0].tool_calls[0].function.name: offset 47: want the name of a tool",
		`{"think":3}`:                  "think: offset 9: want true, false or a level: low, medium, high",
		`{"format":"xml"}`:             `format: offset 10: want "json" or a JSON schema`,
		`{"options":{"num_ctx":[]}}`:   "options.num_ctx: offset 22: want a number",
		`{"options":{"stop":[1]}}`:     "options.stop[0]: offset 20: want a string",
		`{"messages":[{"content":5}]}`: "messages[0].content: offset 24: want a string",
		`{"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]}`: "tools[1].function.name: offset 84: want every name once, not a second f",
	} {
		_, _, err := ollama.Front{}.Read(wire.HTTPRequest{Body: []byte(body)})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
			continue
		}
		status, reply := ollama.Front{}.Error(err)
		var j struct{ Error string }
		if json.Unmarshal(reply, &j) != nil || status != 400 || j.Error != want {
			t.Errorf("%d %s", status, reply)
		}
	}
	if status, body := (ollama.Front{}).Error(&wire.Error{Status: 413, Message: "long"}); status != 400 || string(body) != `{"error":"long"}` {
		t.Errorf("%d %s", status, body)
	}
}

// TestListsSuitOllamasProgram: "ollama list" and "ollama ps" cut 12 letters off
// the digest and read the dates; a server's own entries pass.
func TestListsSuitOllamasProgram(t *testing.T) {
	theirs := []byte(`{"models":[{"name":"m:latest","model":"m:latest","size":1e9,"digest":"0123456789abcdef","modified_at":"2026-08-21T10:00:00.5+02:00","details":{"family":"x","parameter_size":"8B"},"new_field":1}]}`)
	ours, err := ollama.Tags(theirs, false)
	if err != nil || len(ours) != 1 || ours[0].Created != 1787299200 {
		t.Fatal(ours, err)
	}
	inMemory, err := ollama.Tags([]byte(`{"models":[{"name":"m:latest","digest":"0123456789abcdef","expires_at":"2026-08-21T11:00:00Z","size_vram":7}]}`), true)
	if err != nil {
		t.Fatal(err)
	}
	ours[0].Loaded, ours[0].Running, ours[0].ID = true, inMemory[0].Running, "alias"
	models := append(ours, wire.Model{ID: "other", Chat: true, Loaded: true, Created: 1787306400})
	for _, c := range []struct {
		body []byte
		want []string
	}{
		{ollama.Front{}.Models(models), []string{`"name":"alias"`, `"digest":"0123456789abcdef"`, `"size":1e9`, `"parameter_size":"8B"`, `"new_field":1`, `"capabilities":["completion","tools"]`}},
		{ollama.Front{}.Running(models), []string{`"name":"alias"`, `"expires_at":"2026-08-21T11:00:00Z"`, `"size_vram":7`}},
	} {
		var j struct {
			Models []struct {
				Digest   string
				Modified time.Time `json:"modified_at"`
				Expires  time.Time `json:"expires_at"`
			}
		}
		if err := json.Unmarshal(c.body, &j); err != nil || len(j.Models) != 2 {
			t.Fatalf("%v: %s", err, c.body)
		}
		for _, m := range j.Models {
			if len(m.Digest) < 12 || m.Modified.Unix() <= 0 && m.Expires.Unix() <= 0 {
				t.Errorf("%+v of %s", m, c.body)
			}
		}
		if len(j.Models[1].Digest) != 64 {
			t.Errorf("digest %q, want 64 digits", j.Models[1].Digest)
		}
		for _, want := range c.want {
			if !strings.Contains(string(c.body), want) {
				t.Errorf("%s is missing in %s", want, c.body)
			}
		}
	}
}

func TestLists(t *testing.T) {
	yes, no := true, false
	models := []wire.Model{{ID: "qwen3:8b", Chat: true, Owner: "qwen3", Context: 40960, Tools: &yes, Think: &yes, Loaded: true, Created: 1787306400}, {ID: "old", Chat: true, Tools: &no}, {ID: "embed"}}
	tags, err := ollama.Tags(ollama.Front{}.Models(models), false)
	if err != nil || len(tags) != 2 || tags[0].ID != "qwen3:8b" || !*tags[0].Tools || !*tags[0].Think || *tags[1].Tools || tags[0].Owner != "qwen3" {
		t.Errorf("%+v %v", tags, err)
	}
	running, err := ollama.Tags(ollama.Front{}.Running(models), true)
	if err != nil || len(running) != 1 || running[0].Context != 40960 {
		t.Errorf("%+v %v", running, err)
	}
	d, err := ollama.Show("qwen3:8b", ollama.Front{}.Describe(models[0]))
	if err != nil || d.Context != 40960 || !*d.Tools || !*d.Think || !d.Chat {
		t.Errorf("%+v %v", d, err)
	}
	if v, err := ollama.Version(ollama.Front{}.Version("0.12.0")); err != nil || v != "0.12.0" {
		t.Error(v, err)
	}
	for body, want := range map[string]string{string(ollama.ShowRequest("m")): "m", `{"name":"n"}`: "n", `{"model":"a","verbose":true}`: "a"} {
		if got, err := (ollama.Front{}).ReadShow([]byte(body)); err != nil || got != want {
			t.Errorf("%s: %s %v", body, got, err)
		}
	}
	for _, body := range []string{`{}`, `{"model":5}`, `[]`, "\xff"} {
		if _, err := (ollama.Front{}).ReadShow([]byte(body)); err == nil {
			t.Errorf("%s passed", body)
		}
	}
}

// TestCallsThatAreCompleteTogetherGoInOneLine: and one that came alone does not
// wait for the next.
func TestCallsThatAreCompleteTogetherGoInOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		pause bool
		want  []int // calls a line
	}{"together": {false, []int{2, 0}}, "apart": {true, []int{1, 1, 0}}} {
		w := ollama.Front{}.Writer(&utp.Request{Model: "m", Stream: true}, wire.Stamp{Model: "m"})
		var frames []wire.Frame
		keep := func(list []wire.Frame) {
			for _, f := range list {
				frames = append(frames, wire.Frame{Data: append([]byte(nil), f.Data...)})
			}
		}
		for i, city := range []string{"Oslo", "Bergen"} {
			call := &utp.Call{ID: city, Name: "weather", Args: json.RawMessage(`{"city":"` + city + `"}`), Source: utp.SourceNative}
			keep(w.Write(utp.Event{Kind: utp.EventCallStart, Part: i, Call: call}))
			keep(w.Write(utp.Event{Kind: utp.EventCallEnd, Part: i, Call: call}))
			if c.pause {
				keep(w.Pause())
			}
		}
		keep(w.Write(utp.Event{Kind: utp.EventFinish, Part: 2, End: &utp.End{Stop: utp.StopTool}}))
		var got []int
		for _, f := range frames {
			got = append(got, strings.Count(string(f.Data), `"city"`))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d calls a line, want %d: %s", name, got, c.want, frames)
		}
	}
}
