package wire_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// FuzzCodecs feeds any bytes to a reader, whole and cut in two, and to a front: no
// panic, one Finish, valid arguments. What the reader gives every API writes as a
// legal stream, or ends with its error; what the front gives every API can be asked.
func FuzzCodecs(f *testing.F) {
	for i, p := range apis {
		for _, kind := range []string{p.ext(), ".request.json", ".reply.json"} {
			files, _ := filepath.Glob("testdata/*/" + p.name + kind)
			for _, file := range files {
				if text := read(f, file); len(text) < 1<<10 {
					f.Add(uint8(i), text, uint16(9))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, stream []byte, cut uint16) {
		p := apis[int(which)%len(apis)]
		x, err := p.back.Open(&utp.Request{Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		n := min(int(cut), len(stream))
		whole, parted := fuzzRead(t, x, stream), fuzzRead(t, x, stream[:n], stream[n:])
		if whole != parted {
			t.Fatalf("%s: whole:\n%s\ncut at %d:\n%s", p.name, whole, n, parted)
		}
		fuzzEmit(t, x, stream)
		if _, err := x.Read(stream, nil); err == nil && !json.Valid(stream) {
			t.Fatalf("%s: read %q", p.name, stream)
		}
		r, _, err := p.front.Read(wire.HTTPRequest{Path: "/v1beta/models/m:generateContent", Body: stream})
		if err != nil {
			return
		}
		for _, to := range apis {
			if x, err := to.back.Open(r); err != nil || !json.Valid(x.Body) {
				t.Fatalf("%s to %s: %v", p.name, to.name, err)
			}
		}
	})
}

func fuzzEmit(t *testing.T, x *wire.Exchange, stream []byte) {
	decoder, reader := x.Framing.Decoder(), x.Reader(counter())
	frames, _ := decoder.Feed(stream)
	last, _ := decoder.Close()
	var evs []utp.Event
	for _, f := range append(frames, last...) {
		evs = append(evs, reader.Feed(f)...)
	}
	evs = append(evs, reader.Close()...)
	for _, to := range apis {
		sent := emit(to, &utp.Request{Model: "m"}, evs, reader.Err())
		if to.fails(sent[len(sent)-1]) {
			continue
		}
		if wrong := to.legal(sent); wrong != "" {
			t.Fatalf("%s: %s\n%s", to.name, wrong, transcript(to, sent))
		}
	}
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
		if e.Kind == utp.EventCallEnd && !shape.IsObject(e.Call.Args) {
			t.Fatalf("arguments %q", e.Call.Args)
		}
	}
	if evs[len(evs)-1].Kind != utp.EventFinish {
		t.Fatal("no Finish")
	}
	return dump(evs, reader.Err())
}
