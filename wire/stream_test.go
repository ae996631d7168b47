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
)

// A case of testdata/streams/PROVIDER is a stream as servers send it, a frame a
// line, with the names of the tools that were offered.
//
// contract: P-05 N-05 R-02 R-06 R-13 CON-23 Z-09 Z-13
func TestStreams(t *testing.T) {
	for _, p := range apis {
		golden.Run(t, "testdata/streams/"+p.name+"/*.txtar", func(t *testing.T, c *golden.Case) {
			lines := strings.Split(strings.TrimSpace(c.Get("stream")), "\n")
			evs, err := streamed(t, p, c, lines)
			deltasAreArguments(t, evs)
			c.Want(t, "events", dump(evs, err))
			for n := range lines {
				evs, err := streamed(t, p, c, lines[:n])
				if last := evs[len(evs)-1]; last.Kind != utp.EventFinish || (last.End.Stop == utp.StopError) != (err != nil) {
					t.Fatalf("%d lines:\n%s", n, dump(evs, err))
				}
			}
		})
	}
}

func streamed(t *testing.T, p api, c *golden.Case, lines []string) ([]utp.Event, error) {
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

// dump prints an event a line.
func dump(evs []utp.Event, err error) string {
	var b strings.Builder
	for _, e := range evs {
		fmt.Fprintf(&b, "%d %s", e.Part, e.Kind)
		switch e.Kind {
		case utp.EventCallStart:
			fmt.Fprintf(&b, " %s id=%s", e.Call.Name, e.Call.ID)
		case utp.EventCallEnd:
			fmt.Fprintf(&b, " %s %s id=%s orig=%s", e.Call.Name, e.Call.Args, e.Call.ID, e.Call.OrigID)
		case utp.EventProblem:
			fmt.Fprintf(&b, " %s %s %q: %s", e.Problem.Kind, e.Problem.Name, e.Problem.Raw, e.Problem.Message)
		case utp.EventPartEnd:
			j, _ := json.Marshal(e.Value)
			fmt.Fprintf(&b, " %s", j)
		case utp.EventFinish:
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
	for _, p := range apis {
		golden.Run(t, "testdata/streams/"+p.name+"/*.txtar", func(t *testing.T, c *golden.Case) {
			lines := strings.SplitAfter(c.Get("stream"), "\n")
			for n := range lines {
				finishesOnce(t, p, lines[:n])
			}
		})
	}
}

func finishesOnce(t *testing.T, p api, lines []string) {
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
		if e.Kind == utp.EventFinish {
			finishes++
		}
	}
	if finishes != 1 || evs[len(evs)-1].Kind != utp.EventFinish {
		t.Fatalf("%d lines: want one Finish, at the end:\n%s", len(lines), dump(evs, reader.Err()))
	}
	if last := evs[len(evs)-1].End; (last.Stop == utp.StopError) != (reader.Err() != nil) {
		t.Fatalf("%d lines: stop %q and error %v disagree", len(lines), last.Stop, reader.Err())
	}
}

// contract: Z-09
func TestCodecsTellACutStream(t *testing.T) {
	eachAPI(t, func(t *testing.T, dir string, c conversation, p api) {
		x, err := p.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := p.framing.Decoder().Feed(read(t, filepath.Join(dir, p.name+p.ext())))
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(frames) - p.closing() {
			reader := x.Reader(counter())
			var evs []utp.Event
			for _, f := range frames[:n] {
				evs = append(evs, reader.Feed(f)...)
			}
			evs = append(append(evs, reader.Close()...), reader.Close()...)
			last := evs[len(evs)-1]
			if last.Kind != utp.EventFinish || last.End.Stop != utp.StopError || reader.Err() == nil {
				t.Fatalf("%d of %d frames: %+v, %v", n, len(frames), last, reader.Err())
			}
		}
	})
}

// closing is how many frames at the end of a stream a reader can do without.
func (p api) closing() int {
	if p.name == "ollama" {
		return 1
	}
	return 2
}
