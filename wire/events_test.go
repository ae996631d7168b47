package wire_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// collected is the reply of a body and why it is broken.
func collected(t *testing.T, p api, body io.Reader) (utp.Reply, error) {
	t.Helper()
	x, err := p.back.Open(&utp.Request{Model: "m", Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	var evs []utp.Event
	for e, err := range wire.Events(x, body) {
		if err != nil {
			return utp.Collect(evs), err
		}
		evs = append(evs, e)
	}
	return utp.Collect(evs), nil
}

// A stream is read in pieces of any size as in one piece.
func TestEventsOfEveryStream(t *testing.T) {
	n := 0
	for _, p := range apis {
		for _, dir := range []string{"parallel", "interleaved_calls", "thinking", "unicode", "one_call"} {
			text := string(read(t, "testdata/"+dir+"/"+p.name+p.ext()))
			whole, err := collected(t, p, strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %s: %v", p.name, dir, err)
			}
			pieces, err := collected(t, p, iotest.OneByteReader(strings.NewReader(text)))
			if diff := cmp.Diff(whole, pieces); diff != "" || err != nil || len(whole.Parts) == 0 {
				t.Errorf("%s: %s: %v, %d parts\n%s", p.name, dir, err, len(whole.Parts), diff)
			}
			n++
		}
	}
	if n < 25 {
		t.Errorf("%d streams", n)
	}
}

// A server that answers in one piece where a stream was asked for is understood.
func TestEventsOfAReplyInOnePiece(t *testing.T) {
	for _, p := range apis {
		text := "\n " + string(read(t, "testdata/one_call/"+p.name+".reply.json"))
		if p.framing == wire.NDJSON {
			text = string(compact(t, []byte(text)))
		}
		r, err := collected(t, p, iotest.OneByteReader(strings.NewReader(text)))
		if err != nil || len(r.Calls()) != 1 {
			t.Errorf("%s: %v: %v", p.name, r.Calls(), err)
		}
	}
}

// What came before a reply broke is given, then why: the server's own words, a
// stream without its end, a connection that failed, bytes that are no stream.
func TestEventsOfABrokenReply(t *testing.T) {
	const begun = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"
	lost := errors.New("the line is dead")
	for name, c := range map[string]struct {
		body io.Reader
		text string
		want func(error) bool
	}{
		"cut":              {strings.NewReader(begun), "Hi", func(err error) bool { return errors.Is(err, wire.ErrCut) }},
		"lost":             {io.MultiReader(strings.NewReader(begun), iotest.ErrReader(lost)), "Hi", func(err error) bool { return errors.Is(err, lost) }},
		"refused":          {strings.NewReader(`{"error":{"message":"no such model"}}`), "", func(err error) bool { return strings.Contains(err.Error(), "no such model") }},
		"cut in an event":  {strings.NewReader(begun + "data: {\"choices\":[{\"del"), "Hi", func(err error) bool { return errors.Is(err, wire.ErrCut) }},
		"lost in an event": {io.MultiReader(strings.NewReader(begun+"data: {\"choices\":[{\"del"), iotest.ErrReader(lost)), "Hi", func(err error) bool { return errors.Is(err, lost) }},
		"whole, cut":       {strings.NewReader(`{"choices":[`), "", func(err error) bool { return errors.Is(err, wire.ErrCut) }},
		"a page": {iotest.OneByteReader(strings.NewReader("\n<html><h1>502 Bad Gateway</h1></html>")), "", func(err error) bool {
			var e *wire.Error
			return errors.As(err, &e) && e.Type == wire.NotThisAPI && strings.Contains(e.Message, "502 Bad Gateway")
		}},
		"nothing":     {strings.NewReader(": wait\n\n"), "", func(err error) bool { return errors.Is(err, wire.ErrCut) }},
		"whole, lost": {io.MultiReader(strings.NewReader(`{"choices":[`), iotest.ErrReader(lost)), "", func(err error) bool { return errors.Is(err, lost) }},
		"too long": {io.MultiReader(strings.NewReader(begun+"data: "), strings.NewReader(strings.Repeat("x", wire.MaxFrame+1))), "Hi",
			func(err error) bool { return strings.Contains(err.Error(), "long") }},
	} {
		r, err := collected(t, api{back: openai.Back{}}, c.body)
		if err == nil || !c.want(err) || r.Text() != c.text {
			t.Errorf("%s: %q: %v", name, r.Text(), err)
		}
	}
}

// Who wants no more gets no more, and the body is not read on.
func TestEventsMayBeLeft(t *testing.T) {
	x, err := openai.Back{}.Open(&utp.Request{Model: "m", Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	body := io.MultiReader(strings.NewReader("data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"), iotest.ErrReader(errors.New("read on")))
	for e, err := range wire.Events(x, body) {
		if err != nil || e.Text != "Hi" {
			t.Fatal(e, err)
		}
		break
	}
}
