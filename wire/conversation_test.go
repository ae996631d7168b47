package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// provider is a codec with the suffix of its streams' files.
type provider struct {
	name   string
	back   wire.Back
	stream string
}

var providers = []provider{{"openai", openai.Back{}, "sse"}, {"ollama", ollama.Back{}, "ndjson"}}

// conversation is utp.json: what is asked and what every provider's reply says.
type conversation struct {
	Request utp.Request `json:"request"`
	Reply   utp.Reply   `json:"reply"`
}

// A folder of testdata is one conversation: utp.json, and of each provider X
// what Open writes (X.request.json and, with losses, X.loss.json) and what it
// answers, whole (X.reply.json) and streamed (X.sse, X.ndjson).
func eachConversation(t *testing.T, f func(t *testing.T, dir string, c conversation, p provider)) {
	dirs, err := filepath.Glob("testdata/*/utp.json")
	if err != nil || len(dirs) < 8 {
		t.Fatalf("conversations: %d, want at least 8 (%v)", len(dirs), err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		for _, p := range providers {
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

// compact takes the white space out, which would count inside arguments.
func compact(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// contract: F-01 F-03 F-09 F-10 F-11 F-13 N-08 N-10
func TestOpenWritesTheRequest(t *testing.T) {
	eachConversation(t, func(t *testing.T, dir string, c conversation, p provider) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		want(t, filepath.Join(dir, p.name+".request.json"), indent(t, x.Body))
		losses, err := shape.Marshal(x.Losses)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Losses) == 0 {
			losses = nil
		}
		want(t, filepath.Join(dir, p.name+".loss.json"), indent(t, losses))
	})
}

func indent(t *testing.T, b []byte) []byte {
	t.Helper()
	if len(b) == 0 {
		return nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return append(out.Bytes(), '\n')
}

// want compares got with a file; with -update it writes the file. Nothing and
// no file are the same.
func want(t *testing.T, file string, got []byte) {
	t.Helper()
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	switch {
	case bytes.Equal(have, got):
	case golden.Update() && len(got) == 0:
		_ = os.Remove(file)
	case golden.Update():
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s (-want +got, go test -update writes it):\n%s", file, cmp.Diff(string(have), string(got)))
	}
}

func counter() func() string {
	n := 0
	return func() string { n++; return "new_" + strconv.Itoa(n) }
}

// contract: P-01 P-02 P-04 P-06 P-07 T-03 A-24 CON-08 CON-39
func TestReadsTheWholeReply(t *testing.T) {
	eachConversation(t, func(t *testing.T, dir string, c conversation, p provider) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Read(read(t, filepath.Join(dir, p.name+".reply.json")), counter())
		if err != nil {
			t.Fatal(err)
		}
		same(t, p, c.Reply, got)
	})
}

// contract: Z-02 Z-07 Z-13 Z-14 P-07
func TestReadsTheStreamHoweverItIsCut(t *testing.T) {
	eachConversation(t, func(t *testing.T, dir string, c conversation, p provider) {
		stream := read(t, filepath.Join(dir, p.name+"."+p.stream))
		same(t, p, c.Reply, collect(t, p, &c.Request, stream))
		for n := range stream {
			same(t, p, c.Reply, collect(t, p, &c.Request, stream[:n], stream[n:]))
		}
		var bytewise [][]byte
		for i := range stream {
			bytewise = append(bytewise, stream[i:i+1])
		}
		same(t, p, c.Reply, collect(t, p, &c.Request, bytewise...))
	})
}

func collect(t *testing.T, p provider, r *utp.Request, pieces ...[]byte) utp.Reply {
	t.Helper()
	x, err := p.back.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	decoder, reader := x.Framing.Decoder(), x.Reader(counter())
	var evs []utp.Event
	feed := func(frames []wire.Frame, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			evs = append(evs, reader.Feed(f)...)
		}
	}
	for _, piece := range pieces {
		feed(decoder.Feed(piece))
	}
	feed(decoder.Close())
	evs = append(evs, reader.Close()...)
	if reader.Err() != nil {
		t.Fatal(reader.Err())
	}
	deltasAreArguments(t, evs)
	return utp.Collect(evs)
}

// deltasAreArguments checks the promise of the events: after CallStart nothing
// changes but appends.
func deltasAreArguments(t *testing.T, evs []utp.Event) {
	t.Helper()
	deltas := map[int]string{}
	for _, e := range evs {
		switch e.Kind {
		case utp.CallDelta:
			deltas[e.Part] += e.Text
		case utp.CallEnd:
			if deltas[e.Part] != string(e.Call.Args) {
				t.Fatalf("deltas %q, arguments %q", deltas[e.Part], e.Call.Args)
			}
		}
	}
}

// same compares what all providers can say. Ids and models of replies, the
// origin of reasoning and the raw spelling of arguments are a provider's own;
// Ollama counts tokens without their kinds.
func same(t *testing.T, p provider, want, got utp.Reply) {
	t.Helper()
	if p.name == "ollama" {
		want.Usage = utp.Usage{Input: want.Usage.Prompt(), Output: want.Usage.Completion()}
	}
	if diff := cmp.Diff(plain(t, want), plain(t, got)); diff != "" {
		t.Fatalf("reply (-want +got):\n%s", diff)
	}
}

func plain(t *testing.T, r utp.Reply) string {
	t.Helper()
	r.ID, r.Model = "", ""
	parts := make([]utp.Part, len(r.Parts))
	for i, p := range r.Parts {
		switch q := p.(type) {
		case utp.Think:
			p = utp.Think{Text: q.Text}
		case utp.Call:
			q.RawArgs = ""
			p = q
		}
		parts[i] = p
	}
	r.Parts = parts
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
