package gateway

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// What a client collects of a stream is the text of the whole reply.
func TestAStreamSaysWhatAWholeReplySays(t *testing.T) {
	files, err := filepath.Glob("../grammar/testdata/*/*.txtar")
	if err != nil || len(files) < 500 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	tools := schema.Compile([]utp.Tool{{Name: "get_weather"}, {Name: "shell"}, {Name: "ls"}})
	for _, file := range files {
		c, err := golden.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{c.Get("in"), "\n\n" + c.Get("in") + "\n", "Well.\n\n" + c.Get("in") + "\n\nDone.\n"} {
			for _, size := range []int{1, 7, len(in) + 1} {
				if streamed, whole := sides(parse.Config{Tools: tools}, in, size); streamed != whole {
					t.Errorf("%s, in pieces of %d: streamed\n%q\nwhole\n%q", file, size, streamed, whole)
				}
			}
		}
	}
}

// sides are the text and thinking of a stream in pieces, and of the whole.
func sides(c parse.Config, in string, size int) (streamed, whole string) {
	p, evs := parse.New(c), []utp.Event(nil)
	for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
		evs = append(evs, p.Feed(rest[:min(size, len(rest))])...)
	}
	evs = append(append(evs, p.Close(false)...), utp.Event{Kind: utp.EventFinish, End: &utp.End{}})
	if broke(evs) {
		return "", "" // a stream of these ends in an error
	}
	var say, think strings.Builder
	for _, e := range evs {
		switch {
		case e.Kind == utp.EventThink:
			think.WriteString(e.Text)
		case e.Kind == utp.EventText:
			say.WriteString(e.Text)
		case e.Kind == utp.EventProblem && e.Problem.Shows():
			say.WriteString(e.Raw)
		}
	}
	var text, thought string
	for _, p := range utp.Collect(evs).Parts {
		switch p := p.(type) {
		case utp.Text:
			text += p.Text
		case utp.Think:
			thought += p.Text
		}
	}
	return think.String() + "\x00" + say.String(), thought + "\x00" + text
}

// broke reports a call that began and did not end.
func broke(evs []utp.Event) bool {
	open := map[int]bool{}
	for _, e := range evs {
		switch e.Kind {
		case utp.EventCallStart:
			open[e.Part] = true
		case utp.EventCallEnd:
			delete(open, e.Part)
		}
	}
	return len(open) > 0
}
