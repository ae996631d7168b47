package doctor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/doctor"
)

// parrot calls the first tool for Oslo until it gets a result, which it repeats.
type parrot struct{}

func (parrot) Open(doctor.Setup) (doctor.Model, func() string, error) {
	return parrot{}, func() string { return "" }, nil
}

func (parrot) Explain(err error) (string, bool) { return err.Error(), true }

func (parrot) Stream(_ context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	m := utp.Message{Role: utp.RoleAssistant}
	if last := r.Messages[len(r.Messages)-1]; len(last.Results()) > 0 {
		m.Parts = []utp.Part{utp.Text{Text: last.Results()[0].Text()}}
	} else {
		m.Parts = []utp.Part{utp.Call{Name: r.Tools[0].Name, Args: json.RawMessage(`{"city":"Oslo"}`), Source: utp.SourceNative}}
	}
	return func(yield func(utp.Event, error) bool) {
		for _, e := range utp.Replay(utp.Reply{Message: m}) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func ExampleExamine() {
	r, err := doctor.Examine(context.Background(), "parrot", parrot{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range r.Findings[:6] {
		fmt.Println(f.Form, f.Probe, f.Verdict, f.Detail)
	}
	fmt.Println(r.Format, r.Why)
	// Output:
	// native call yes get_weather {"city":"Oslo"}
	// native whole reply yes get_weather {"city":"Oslo"}
	// native no arguments no called get_weather
	// native parallel no one call in place of two
	// native in thinking - does not think
	// native second turn yes cites the result
	// native calls come, and results are answered
}
