package codec

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

func TestBuilderBounds(t *testing.T) {
	b := Builder{}
	b.Call(Fragment{Index: 0, ID: "a", Name: "f", Args: `{"x":"`})
	for range maxCall>>20 + 1 {
		b.Call(Fragment{Index: 0, Args: strings.Repeat("x", 1<<20)})
	}
	b.Finish(utp.End{Stop: utp.StopEnd}, nil)
	r := utp.Collect(b.Take())
	if len(r.Calls()) != 0 || len(r.Problems) != 1 || r.Problems[0].Kind != utp.ProblemTooLong {
		t.Errorf("a call over the cap: %d calls, problems %d", len(r.Calls()), len(r.Problems))
	}

	b = Builder{}
	for range maxCalls + 10 {
		b.Call(Fragment{Name: "f", Whole: true})
	}
	b.Finish(utp.End{Stop: utp.StopEnd}, nil)
	r = utp.Collect(b.Take())
	if len(r.Calls()) != maxCalls || len(r.Problems) != 1 {
		t.Errorf("too many calls: %d calls, %d problems", len(r.Calls()), len(r.Problems))
	}
}

// A second call is refused before it begins, so that no client is told of it.
func TestBuilderOneCallAtATime(t *testing.T) {
	b := Builder{One: true}
	b.Call(Fragment{Index: 0, ID: "a", Name: "f", Args: `{"x":`})
	b.Call(Fragment{Index: 1, ID: "b", Name: "g"})
	b.Call(Fragment{Index: 1, Args: "{}"})
	b.Call(Fragment{Index: 0, Args: "1}"})
	b.Call(Fragment{Name: "h", Whole: true})
	b.Finish(utp.End{Stop: utp.StopEnd}, nil)
	begun := 0
	evs := b.Take()
	for _, e := range evs {
		if e.Kind == utp.EventCallStart {
			begun++
		}
	}
	r := utp.Collect(evs)
	if begun != 1 || len(r.Calls()) != 1 || string(r.Calls()[0].Args) != `{"x":1}` || len(r.Problems) != 2 || r.Problems[0].Name != "g" {
		t.Errorf("%d calls begun: %+v", begun, r)
	}
}

// One that cannot be read leaves its place to the next.
func TestBuilderOneGoodCall(t *testing.T) {
	b := Builder{One: true}
	b.Call(Fragment{Name: "f", Args: "no JSON", Whole: true})
	b.Call(Fragment{Name: "g", Whole: true})
	b.Finish(utp.End{Stop: utp.StopEnd}, nil)
	if r := utp.Collect(b.Take()); len(r.Calls()) != 1 || r.Calls()[0].Name != "g" || len(r.Problems) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestBuilderIsSilentAfterFinish(t *testing.T) {
	b := Builder{}
	b.Finish(utp.End{}, nil)
	b.Take()
	b.Text("more")
	b.Call(Fragment{Name: "f", Whole: true})
	b.Finish(utp.End{}, nil)
	if evs := b.Take(); len(evs) != 0 {
		t.Errorf("%+v", evs)
	}
}

// A call streamed in four-byte pieces costs what its length costs.
func BenchmarkBuilderLongCall(b *testing.B) {
	args := `{"content":"` + strings.Repeat("line of text\\n", 80_000) + `"}`
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		w := Builder{}
		w.Call(Fragment{ID: "a", Name: "write_file"})
		for rest := args; rest != ""; rest = rest[min(4, len(rest)):] {
			w.Call(Fragment{Args: rest[:min(4, len(rest))]})
			w.Take()
		}
		w.Finish(utp.End{}, nil)
	}
}
