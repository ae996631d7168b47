package wire_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// A case of testdata/streams/PROVIDER is a stream as the provider's servers
// send it, a frame a line, with the names of the tools that were offered.
//
// contract: P-05 N-05 R-02 R-06 R-13 CON-23 Z-09 Z-13
func TestStreams(t *testing.T) {
	for _, p := range providers {
		golden.Run(t, "testdata/streams/"+p.name+"/*.txtar", func(t *testing.T, c *golden.Case) {
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
			for line := range strings.Lines(c.Get("stream")) {
				evs = append(evs, reader.Feed(wire.Frame{Data: []byte(strings.TrimSuffix(line, "\n"))})...)
			}
			evs = append(evs, reader.Close()...)
			deltasAreArguments(t, evs)
			c.Want(t, "events", dump(evs, reader.Err()))
		})
	}
}

// dump prints an event a line.
func dump(evs []utp.Event, err error) string {
	var b strings.Builder
	for _, e := range evs {
		fmt.Fprintf(&b, "%d %s", e.Part, e.Kind)
		switch e.Kind {
		case utp.CallStart:
			fmt.Fprintf(&b, " %s id=%s", e.Call.Name, e.Call.ID)
		case utp.CallEnd:
			fmt.Fprintf(&b, " %s %s id=%s orig=%s", e.Call.Name, e.Call.Args, e.Call.ID, e.Call.OrigID)
		case utp.ProblemEvent:
			fmt.Fprintf(&b, " %s %s %q: %s", e.Problem.Kind, e.Problem.Name, e.Problem.Raw, e.Problem.Message)
		case utp.PartEnd:
			j, _ := json.Marshal(e.Value)
			fmt.Fprintf(&b, " %s", j)
		case utp.Finish:
			j, _ := json.Marshal(e.End)
			fmt.Fprintf(&b, " %s", j)
		default:
			fmt.Fprintf(&b, " %q", e.Text)
		}
		b.WriteByte('\n')
	}
	if err != nil {
		fmt.Fprintf(&b, "error %v\n", err)
	}
	return b.String()
}

func TestEveryStreamEndsWithOneFinish(t *testing.T) {
	for _, p := range providers {
		golden.Run(t, "testdata/streams/"+p.name+"/*.txtar", func(t *testing.T, c *golden.Case) {
			lines := strings.SplitAfter(c.Get("stream"), "\n")
			for n := range lines {
				finishesOnce(t, p, lines[:n])
			}
		})
	}
}

func finishesOnce(t *testing.T, p provider, lines []string) {
	t.Helper()
	x, err := p.back.Open(&utp.Request{Model: "m", Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	reader := x.Reader(nil)
	var evs []utp.Event
	for _, line := range lines {
		evs = append(evs, reader.Feed(wire.Frame{Data: []byte(line)})...)
	}
	evs = append(append(evs, reader.Close()...), reader.Close()...)
	finishes := 0
	for _, e := range evs {
		if e.Kind == utp.Finish {
			finishes++
		}
	}
	if finishes != 1 || evs[len(evs)-1].Kind != utp.Finish {
		t.Fatalf("%d lines: want one Finish, at the end:\n%s", len(lines), dump(evs, reader.Err()))
	}
	if last := evs[len(evs)-1].End; (last.Stop == utp.StopError) != (reader.Err() != nil) {
		t.Fatalf("%d lines: stop %q and error %v disagree", len(lines), last.Stop, reader.Err())
	}
}

// FuzzReader feeds any bytes to the decoders and readers of both providers,
// whole and cut in two: no panic, one Finish, valid arguments, the same reply.
func FuzzReader(f *testing.F) {
	for _, p := range providers {
		files, _ := filepath.Glob("testdata/*/" + p.name + "." + p.stream)
		for _, file := range files {
			f.Add(read(f, file), uint16(7))
		}
	}
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"a\",\"arguments\":\"{\"}}]}}]}\n\n"), uint16(3))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		for _, p := range providers {
			x, err := p.back.Open(&utp.Request{Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			n := min(int(cut), len(stream))
			whole, parted := fuzzRead(t, x, stream), fuzzRead(t, x, stream[:n], stream[n:])
			if whole != parted {
				t.Fatalf("%s: whole:\n%s\ncut at %d:\n%s", p.name, whole, n, parted)
			}
		}
	})
}

func fuzzRead(t *testing.T, x *wire.Exchange, pieces ...[]byte) string {
	decoder, reader := x.Framing.Decoder(), x.Reader(counter())
	var evs []utp.Event
	feed := func(frames []wire.Frame, _ error) {
		for _, f := range frames {
			evs = append(evs, reader.Feed(f)...)
		}
	}
	for _, piece := range pieces {
		feed(decoder.Feed(piece))
	}
	feed(decoder.Close())
	evs = append(evs, reader.Close()...)
	deltasAreArguments(t, evs)
	for _, e := range evs {
		if e.Kind == utp.CallEnd && !shape.IsObject(e.Call.Args) {
			t.Fatalf("arguments %q", e.Call.Args)
		}
	}
	if evs[len(evs)-1].Kind != utp.Finish {
		t.Fatal("no Finish")
	}
	return dump(evs, reader.Err())
}
