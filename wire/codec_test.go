package wire_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
	calls "github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// eachCodec runs f for every conversation of testdata and of testdata/hosted,
// which holds what only hosted providers say, and every codec.
func eachCodec(t *testing.T, f func(t *testing.T, dir string, c conversation, p codec)) {
	files, _ := filepath.Glob("testdata/*/utp.json")
	hosted, _ := filepath.Glob("testdata/hosted/*/utp.json")
	if len(files) < 20 || len(hosted) < 1 {
		t.Fatalf("%d and %d conversations, want at least 20 and 1", len(files), len(hosted))
	}
	for _, file := range append(files, hosted...) {
		dir := filepath.Dir(file)
		for _, p := range codecs {
			t.Run(filepath.Base(dir)+"/"+p.name, func(t *testing.T) {
				var c conversation
				if err := json.Unmarshal(compact(t, read(t, file)), &c); err != nil {
					t.Fatal(err)
				}
				f(t, dir, c, p)
			})
		}
	}
}

// contract: F-04 F-07 F-08 F-09 F-10 F-11 F-15
func TestCodecOpensTheRequest(t *testing.T) {
	eachCodec(t, func(t *testing.T, dir string, c conversation, p codec) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		want(t, filepath.Join(dir, p.name+".request.json"), indent(t, x.Body))
		var losses []byte
		if len(x.Losses) > 0 {
			losses, err = shape.Marshal(x.Losses)
		}
		if err != nil {
			t.Fatal(err)
		}
		want(t, filepath.Join(dir, p.name+".loss.json"), indent(t, losses))
	})
}

// contract: P-07 T-03 Z-02 Z-07 Z-13 Z-14
func TestCodecReadsTheReply(t *testing.T) {
	eachCodec(t, func(t *testing.T, dir string, c conversation, p codec) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Read(read(t, filepath.Join(dir, p.name+".reply.json")), counter())
		if err != nil {
			t.Fatal(err)
		}
		sameReply(t, c.Reply, got)
		stream := read(t, filepath.Join(dir, p.name+"."+p.stream))
		sameReply(t, c.Reply, collect(t, p.provider, &c.Request, stream))
		for n := 0; n < len(stream); n += 41 {
			sameReply(t, c.Reply, collect(t, p.provider, &c.Request, stream[:n], stream[n:]))
		}
		var bytewise [][]byte
		for i := range stream {
			bytewise = append(bytewise, stream[i:i+1])
		}
		sameReply(t, c.Reply, collect(t, p.provider, &c.Request, bytewise...))
	})
}

// sameReply compares what every provider can say. Extras, signatures, ids and
// models of replies are a provider's own.
func sameReply(t *testing.T, want, got utp.Reply) {
	t.Helper()
	if diff := cmp.Diff(bare(t, want), bare(t, got)); diff != "" {
		t.Fatalf("reply (-want +got):\n%s", diff)
	}
}

func bare(t *testing.T, r utp.Reply) string {
	t.Helper()
	r.End.Extra, r.Message.Extra = nil, nil
	parts := make([]utp.Part, 0, len(r.Parts))
	for _, p := range r.Parts {
		switch q := p.(type) {
		case utp.Call:
			q.Extra = nil
			q.Args = compact(t, q.Args)
			p = q
		case utp.Text:
			q.Extra = nil
			p = q
		}
		parts = append(parts, p)
	}
	r.Parts = parts
	return plain(t, r)
}

func post(t *testing.T, p codec, model string, stream bool, body []byte) *utp.Request {
	t.Helper()
	in := wire.HTTPRequest{Method: "POST", Body: body, Path: "/v1beta/models/" + model + ":generateContent", Query: map[string][]string{"alt": {"sse"}}}
	if stream {
		in.Path = "/v1beta/models/" + model + ":streamGenerateContent"
	}
	r, _, err := p.front.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What Back writes Front reads: the same calls, results and texts as utp.json up
// to the losses, and writing that again gives the same bytes.
//
// contract: N-08 N-10
func TestCodecReadsItsOwnRequests(t *testing.T) {
	eachCodec(t, func(t *testing.T, dir string, c conversation, p codec) {
		first, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		r := post(t, p, c.Request.Model, c.Request.Stream, first.Body)
		again, err := p.back.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(indent(t, first.Body)), string(indent(t, again.Body))); diff != "" {
			t.Errorf("written again (-first +second):\n%s", diff)
		}
		if again.Path != first.Path || len(again.Losses) > 0 {
			t.Errorf("path %s, losses %v", again.Path, again.Losses)
		}
		carries(t, &c.Request, r)
	})
}

// carries checks that a request has the calls and results that another has, in
// their order: names and ids as they could be sent, arguments by value, each
// call with its own result.
func carries(t *testing.T, want, got *utp.Request) {
	t.Helper()
	ordered, _ := history.Order(want.Messages, nil)
	a, b := exchanges(t, ordered), exchanges(t, got.Messages)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("calls and results (-want +got):\n%s", diff)
	}
	if len(offered(want)) != len(offered(got)) && len(want.Choice.Allowed) == 0 {
		t.Errorf("tools %v, want %v", offered(got), offered(want))
	}
}

// exchanges lists each call's arguments with the text of its result.
func exchanges(t *testing.T, messages []utp.Message) (out []string) {
	t.Helper()
	results := map[string]string{}
	for _, m := range messages {
		for _, r := range m.Results() {
			results[r.CallID] = resultText(t, r)
		}
	}
	for _, m := range messages {
		for _, c := range m.Calls() {
			args, _ := calls.CallObject(c)
			out = append(out, string(compact(t, args))+" → "+results[c.ID])
		}
	}
	return out
}

// resultText is a result's text, as success or failure; objects by value.
func resultText(t *testing.T, r utp.Result) string {
	t.Helper()
	text := strings.TrimSuffix(strings.ReplaceAll(r.Text(), "(attached below)", ""), "\n")
	if text == "(empty)" {
		text = ""
	}
	if shape.IsObject([]byte(text)) {
		text = string(compact(t, []byte(text)))
	}
	if r.Status != "" && r.Status != utp.OK {
		var j struct{ Error string }
		if json.Unmarshal([]byte(text), &j) == nil && j.Error != "" {
			text = j.Error
		}
		return "failed: " + text
	}
	return text
}

func offered(r *utp.Request) (names []string) {
	for _, t := range r.Tools {
		if t.Kind == utp.FunctionTool || t.Kind == utp.CustomTool {
			names = append(names, t.Name)
		}
	}
	return names
}

// A reply that Front writes, whole or streamed, Back reads as the same.
func TestCodecReadsItsOwnReplies(t *testing.T) {
	eachCodec(t, func(t *testing.T, dir string, c conversation, p codec) {
		c.Request.Stream = true // so that the client asks for the counts
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		// A client knows the tools by the names that it sent.
		client := post(t, p, c.Request.Model, true, x.Body)
		back, err := p.back.Open(client)
		if err != nil {
			t.Fatal(err)
		}
		reply := renamed(c.Reply, &c.Request, client)
		stamp := wire.Stamp{ID: "id_1", Unix: 1787306400}
		body, losses, err := p.front.Whole(client, reply, stamp)
		if err != nil || len(losses) > 0 {
			t.Fatal(err, losses)
		}
		got, err := back.Read(body, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameReply(t, reply, got)
		frames := emit(p, client, utp.Replay(reply), nil)
		if wrong := p.legal(frames); wrong != "" && c.Reply.Stop != utp.StopLength && c.Reply.Stop != utp.StopFilter {
			t.Fatal(wrong)
		}
		sameReply(t, reply, collect(t, provider{p.name, p.back, p.stream}, client, []byte(transcript(frames))))
	})
}

// renamed is a reply with the names under which a client offered the tools.
func renamed(r utp.Reply, from, to *utp.Request) utp.Reply {
	names := map[string]string{}
	if a, b := offered(from), offered(to); len(a) == len(b) {
		for i := range a {
			names[a[i]] = b[i]
		}
	}
	parts := append([]utp.Part(nil), r.Parts...)
	for i, p := range parts {
		if c, ok := p.(utp.Call); ok {
			if names[c.Name] != "" {
				c.Name = names[c.Name]
			}
			for _, t := range to.Tools {
				if t.Name == c.Name && t.Kind != utp.CustomTool {
					c.Kind = utp.FunctionCall
				}
			}
			parts[i] = c
		}
	}
	r.Parts = parts
	return r
}

// Every pair of a client's API and a server's carries every conversation, and
// the answer comes back to the client as its API has it.
func TestEveryPairCarriesEveryConversation(t *testing.T) {
	eachCodec(t, func(t *testing.T, dir string, c conversation, from codec) {
		c.Request.Stream = true // so that the client asks for the counts
		first, err := from.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		r := post(t, from, c.Request.Model, true, first.Body)
		for _, to := range codecs {
			second, err := to.back.Open(r)
			if err != nil {
				t.Fatal(err)
			}
			there := post(t, to, c.Request.Model, true, second.Body)
			carries(t, &c.Request, there)
			reply := renamed(c.Reply, &c.Request, there)
			answer, _, err := to.front.Whole(there, reply, wire.Stamp{ID: "id_2"})
			if err != nil {
				t.Fatal(err)
			}
			read, err := second.Read(answer, nil)
			if err != nil {
				t.Fatalf("%s: %v", to.name, err)
			}
			home := renamed(c.Reply, &c.Request, r)
			sameReply(t, dropKind(home), dropKind(read))
			sameReply(t, dropKind(home), dropKind(collect(t, provider{from.name, from.back, "sse"}, r,
				[]byte(transcript(emit(from, r, utp.Replay(read), nil))))))
		}
	})
}

// dropKind forgets how a call carries its input: where free text tools are not
// known it is a function.
func dropKind(r utp.Reply) utp.Reply {
	parts := append([]utp.Part(nil), r.Parts...)
	for i, p := range parts {
		if c, ok := p.(utp.Call); ok {
			c.Kind = utp.FunctionCall
			parts[i] = c
		}
	}
	r.Parts = parts
	return r
}

// A client's broken request is an error that says where, in the API's own shape.
func TestFrontsSayWhatIsWrong(t *testing.T) {
	for _, p := range codecs {
		for name, body := range map[string]string{
			"nothing": "", "no object": `[1]`, "cut": `{"model":"m","messages":[{"role":"us`, "a number": `{"model":5}`, "NaN": `{"temperature":NaN}`,
			"not UTF-8": "{\"model\":\"\xff\"}", "junk": `{} {}`, "deep": `{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
			"role":  `{"model":"m","messages":[{"role":"robot","content":""}],"input":[{"role":"robot","content":""}],"contents":[{"role":"robot","parts":[]}]}`,
			"twice": `{"model":"m","messages":[],"input":[],"contents":[],"tools":[` + twice[p.name] + `]}`,
		} {
			_, _, err := p.front.Read(wire.HTTPRequest{Path: "/v1beta/models/m:generateContent", Body: []byte(body)})
			in, ok := err.(*wire.InputError)
			if !ok {
				t.Errorf("%s: %s: %v", p.name, name, err)
				continue
			}
			status, reply := p.front.Error(err)
			if status != 400 || !json.Valid(reply) || !strings.Contains(string(reply), "want ") {
				t.Errorf("%s: %s: %d %s", p.name, name, status, reply)
			}
			if name == "role" && (in.Path == "" || in.Offset <= 0) {
				t.Errorf("%s: %s: %v", p.name, name, err)
			}
		}
	}
}

var twice = map[string]string{
	"anthropic": `{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}`,
	"responses": `{"type":"function","name":"f"},{"type":"function","name":"f"}`,
	"openai":    `{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}`,
	"gemini":    `{"functionDeclarations":[{"name":"f"},{"name":"f"}]}`,
}

// contract: Z-09
func TestCodecsTellACutStream(t *testing.T) {
	eachCodec(t, func(t *testing.T, dir string, c conversation, p codec) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := new(wire.SSEDecoder).Feed(read(t, filepath.Join(dir, p.name+".sse")))
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(frames) - 2 {
			reader := x.Reader(counter())
			var evs []utp.Event
			for _, f := range frames[:n] {
				evs = append(evs, reader.Feed(f)...)
			}
			evs = append(append(evs, reader.Close()...), reader.Close()...)
			last := evs[len(evs)-1]
			if last.Kind != utp.Finish || last.End.Stop != utp.StopError || reader.Err() == nil {
				t.Fatalf("%d of %d frames: %+v, %v", n, len(frames), last, reader.Err())
			}
		}
	})
}

// FuzzCodecs feeds any bytes to every reader, whole and cut in two, and to every
// front: no panic, one Finish, valid arguments.
func FuzzCodecs(f *testing.F) {
	for _, p := range codecs {
		for _, kind := range []string{"." + p.stream, ".request.json", ".reply.json"} {
			files, _ := filepath.Glob("testdata/*/" + p.name + kind)
			for _, file := range files {
				f.Add(read(f, file), uint16(9))
			}
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		for _, p := range codecs {
			x, err := p.back.Open(&utp.Request{Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			n := min(int(cut), len(stream))
			whole, parted := fuzzRead(t, x, stream), fuzzRead(t, x, stream[:n], stream[n:])
			if whole != parted {
				t.Fatalf("%s: whole:\n%s\ncut at %d:\n%s", p.name, whole, n, parted)
			}
			if _, err := x.Read(stream, nil); err == nil && !json.Valid(stream) {
				t.Fatalf("%s: read %q", p.name, stream)
			}
			r, _, err := p.front.Read(wire.HTTPRequest{Path: "/v1beta/models/m:generateContent", Body: stream})
			if err != nil {
				continue
			}
			for _, to := range codecs {
				if x, err := to.back.Open(r); err != nil || !json.Valid(x.Body) {
					t.Fatalf("%s to %s: %v", p.name, to.name, err)
				}
			}
		}
	})
}

// A case of testdata/streams/PROVIDER is a stream as servers send it, a frame a
// line, with the names of the tools that were offered.
//
// contract: P-05 R-06 R-13 CON-23 Z-09 Z-13
func TestCodecStreams(t *testing.T) {
	for _, p := range codecs {
		golden.Run(t, "testdata/streams/"+p.name+"/*.txtar", func(t *testing.T, c *golden.Case) {
			lines := strings.Split(strings.TrimSpace(c.Get("stream")), "\n")
			evs, err := streamed(t, p, c, lines)
			deltasAreArguments(t, evs)
			c.Want(t, "events", dump(evs, err))
			for n := range lines {
				evs, err := streamed(t, p, c, lines[:n])
				if last := evs[len(evs)-1]; last.Kind != utp.Finish || (last.End.Stop == utp.StopError) != (err != nil) {
					t.Fatalf("%d lines:\n%s", n, dump(evs, err))
				}
			}
		})
	}
}

func streamed(t *testing.T, p codec, c *golden.Case, lines []string) ([]utp.Event, error) {
	t.Helper()
	r := utp.Request{Model: "m", Stream: true}
	for _, name := range strings.Fields(c.Get("tools")) {
		r.Tools = append(r.Tools, utp.Tool{Name: name})
	}
	x, err := p.back.Open(&r)
	if err != nil {
		t.Fatal(err)
	}
	reader := x.Reader(counter())
	var evs []utp.Event
	for _, line := range lines {
		evs = append(evs, reader.Feed(wire.Frame{Data: []byte(line)})...)
	}
	return append(evs, reader.Close()...), reader.Err()
}
