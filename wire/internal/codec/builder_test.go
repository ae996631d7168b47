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
	if len(r.Calls()) != 0 || len(r.Problems) != 1 || r.Problems[0].Kind != utp.TooLong {
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

func TestBuilderOneCallAtATime(t *testing.T) {
	b := Builder{One: true}
	b.Call(Fragment{Name: "f", Whole: true})
	b.Call(Fragment{Name: "g", Whole: true})
	b.Finish(utp.End{Stop: utp.StopEnd}, nil)
	r := utp.Collect(b.Take())
	if len(r.Calls()) != 1 || len(r.Problems) != 1 || r.Problems[0].Name != "g" {
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
