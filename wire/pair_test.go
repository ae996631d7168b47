package wire_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

func post(t *testing.T, p api, model string, stream bool, body []byte) *utp.Request {
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
	eachAPI(t, func(t *testing.T, dir string, c conversation, p api) {
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
		carries(t, &c.Request, r, first.Losses)
	})
}

// carries checks that a request has the calls and results that another has, in
// their order: names and ids as they could be sent, arguments by value, each
// call with its own result; and the tools, but for those that are reported.
func carries(t *testing.T, want, got *utp.Request, losses []wire.Loss) {
	t.Helper()
	var ordered []utp.Message
	for _, m := range history.Order(want.Messages, nil, nil) {
		ordered = append(ordered, m.Message)
	}
	a, b := exchanges(t, ordered), exchanges(t, got.Messages)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("calls and results (-want +got):\n%s", diff)
	}
	reported := slices.ContainsFunc(losses, func(l wire.Loss) bool { return l.Path == "tools" || l.Path == "choice.allowed" })
	if !reported && len(offered(want)) != len(offered(got)) {
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
			args, _ := codec.CallObject(c)
			out = append(out, string(compact(t, args))+" → "+results[c.ID])
		}
	}
	return out
}

// notes are what stands in a result for its files.
var notes = regexp.MustCompile(`(?s)\n?(\(attached below\)|\(a file that cannot be shown: .*?\)|<document.*?</document>)`)

// resultText is a result's text, as success or failure; objects by value.
func resultText(t *testing.T, r utp.Result) string {
	t.Helper()
	text := strings.TrimSuffix(notes.ReplaceAllString(r.Text(), ""), "\n")
	if text == "(empty)" {
		text = ""
	}
	if shape.IsObject([]byte(text)) {
		text = string(compact(t, []byte(text)))
	}
	if r.Status != "" && r.Status != utp.StatusOK {
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
	eachAPI(t, func(t *testing.T, dir string, c conversation, p api) {
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
		if err != nil || (len(losses) > 0) != p.loses(reply) {
			t.Fatal(err, losses)
		}
		reply = p.saying(reply)
		got, err := back.Read(body, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameReply(t, reply, got)
		frames := emit(p, client, utp.Replay(reply), nil)
		if wrong := p.legal(frames); wrong != "" {
			t.Fatal(wrong)
		}
		sameReply(t, reply, collect(t, p, client, []byte(transcript(p, frames))))
	})
}

// saying is what a provider can say of a reply: Gemini does not count what is
// written to a cache, Ollama counts tokens without their kinds, and knows two ways
// to end.
func (p api) saying(r utp.Reply) utp.Reply {
	if p.name == "gemini" {
		r.Usage.Input, r.Usage.CacheWrite = r.Usage.Input+r.Usage.CacheWrite, 0
	}
	if p.name == "ollama" {
		r.Usage = utp.Usage{Input: r.Usage.Prompt(), Output: r.Usage.Completion()}
		if r.Stop == utp.StopFilter {
			r.Stop = utp.StopEnd
		}
	}
	return r
}

// loses reports whether a provider cannot say all of a reply.
func (p api) loses(r utp.Reply) bool {
	signed := false
	for _, q := range r.Parts {
		t, think := q.(utp.Think)
		signed = signed || think && (t.Signature != "" || t.Redacted)
	}
	return p.name == "ollama" && signed || !cmp.Equal(p.saying(r).End, r.End)
}

// renamed is a reply with the names under which a client offered the tools,
// which are told by their descriptions.
func renamed(r utp.Reply, from, to *utp.Request) utp.Reply {
	names := map[string]string{}
	for _, a := range from.Tools {
		for _, b := range to.Tools {
			if base, _, _ := strings.Cut(b.Description, "\n"); base == a.Description {
				names[a.Name] = b.Name
			}
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
	eachAPI(t, func(t *testing.T, dir string, c conversation, from api) {
		c.Request.Stream = true // so that the client asks for the counts
		first, err := from.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		r := post(t, from, c.Request.Model, true, first.Body)
		for _, to := range apis {
			second, err := to.back.Open(r)
			if err != nil {
				t.Fatal(err)
			}
			there := post(t, to, c.Request.Model, true, second.Body)
			carries(t, &c.Request, there, append(first.Losses, second.Losses...))
			reply := renamed(c.Reply, &c.Request, there)
			answer, _, err := to.front.Whole(there, reply, wire.Stamp{ID: "id_2"})
			if err != nil {
				t.Fatal(err)
			}
			read, err := second.Read(answer, nil)
			if err != nil {
				t.Fatalf("%s: %v", to.name, err)
			}
			home := from.saying(to.saying(renamed(c.Reply, &c.Request, r)))
			sameReply(t, dropKind(to.saying(renamed(c.Reply, &c.Request, r))), dropKind(read))
			sameReply(t, dropKind(home), dropKind(collect(t, from, r,
				[]byte(transcript(from, emit(from, r, utp.Replay(read), nil))))))
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
