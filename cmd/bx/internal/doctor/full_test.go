package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/doctor"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// say is how a call is written in each form, and where its turn is told by.
var say = map[string]struct {
	wants string
	calls func(calls ...[2]string) string
}{
	"native": {"tools\n", func(calls ...[2]string) (s string) {
		for _, c := range calls {
			s += "-- call " + c[0] + " --\n" + c[1] + "\n"
		}
		return s
	}},
	"hermes": {"no tools\ncontains <tool_call>\n", func(calls ...[2]string) string {
		s := "-- text --\n"
		for _, c := range calls {
			s += fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>\n", c[0], c[1])
		}
		return s
	}},
	"react": {"no tools\ncontains Action Input:\n", func(calls ...[2]string) string {
		s := "-- text --\nThought: I need a tool for this question.\n"
		for _, c := range calls {
			s += fmt.Sprintf("Action: %s\nAction Input: %s\n", c[0], c[1])
		}
		return s
	}},
}

// script is a model that answers every scenario in three forms, and breaks its
// calls in all of them but one, or in all.
func script(rate, seed int, but string) string {
	var s strings.Builder
	s.WriteString("-- server --\nmodel: tiny\n")
	weather := func(city string) [2]string { return [2]string{"get_weather", `{"city": "` + city + `"}`} }
	clock := [2]string{"get_time", "{}"}
	for _, form := range []string{"native", "hermes", "react"} {
		turn := func(contains, answer string) {
			fmt.Fprintf(&s, "-- turn --\nany\n%s%s\n", say[form].wants, contains)
			if form != but {
				fmt.Fprintf(&s, "breaks %d%% seed=%d\n", rate, seed)
			}
			s.WriteString(answer)
		}
		call := say[form].calls
		turn("contains 17.3", "-- text --\nIt is 17.3 degrees in Oslo.\n")
		turn("contains once for each city", call(weather("Oslo"), weather("Rome")))
		turn("contains opposite of warm", "-- text --\nCold.\n")
		turn("contains article A-7", call([2]string{"create_order", `{"customer": {"name": "Ada", "city": "Oslo"}, "items": [{"sku": "A-7", "count": 2}]}`}))
		turn("contains 東京", call(weather("東京")))
		turn("contains What time is it?", call(clock))
		turn("contains It may rain", call(weather("Oslo")))
		turn("contains Think first", call(clock))
		turn("contains weather in Oslo?", call(weather("Oslo")))
	}
	s.WriteString("-- turn --\nany\n-- text --\nI cannot.\n")
	return s.String()
}

// real asks a scripted model over HTTP.
type real struct {
	url   string
	after int // requests, until it breaks off; 0: never
	asked int
}

var errBroke = errors.New("interrupted")

func (s *real) Open(setup doctor.Setup) (doctor.Model, func() string, error) {
	if s.asked++; s.after > 0 && s.asked > s.after {
		return nil, nil, errBroke
	}
	c, err := backend.New(backend.Config{Provider: "ollama", URL: s.url, Model: "tiny", Whole: setup.Whole, Parse: parse.Config{},
		Formats: []format.Layer{{Level: format.Call, From: "test", Format: setup.Form}}})
	return c, func() string { return "" }, err
}

func (s *real) Explain(err error) (string, bool) { return err.Error(), false }

func serve(t *testing.T, text string) *real {
	t.Helper()
	sc, err := fake.Parse("doctor", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(fake.New(sc))
	t.Cleanup(srv.Close)
	return &real{url: srv.URL}
}

func TestTheFormThatBreaksNoCallIsFound(t *testing.T) {
	for i := range 10 {
		but, rate := []string{"native", "hermes", "react"}[i%3], 5+35*i/9
		s := serve(t, script(rate, i+1, but))
		r, err := doctor.Full(context.Background(), "tiny", s, nil, nil, nil)
		if err != nil || r.Format != but {
			t.Errorf("%d %% broken in all forms but %s: found %s (%s), %v", rate, but, r.Format, r.Why, err)
		}
		seen := map[string]bool{}
		for _, m := range r.Forms {
			if seen[m.Form] || m.Success.Of > 60 {
				t.Errorf("%s was examined again, or too long: %+v", m.Form, m.Success)
			}
			seen[m.Form] = true
		}
	}
}

func TestEqualFormsAreNoBetter(t *testing.T) {
	for _, rate := range []int{0, 10, 20, 40} {
		s := serve(t, script(rate, 3, ""))
		r, err := doctor.Full(context.Background(), "tiny", s, []string{"native", "hermes", "react"}, nil, nil)
		if err != nil || r.Format != "native" || !strings.HasPrefix(r.Why, "no form is better") {
			t.Errorf("%d %% broken in all forms: %s (%s), %v", rate, r.Format, r.Why, err)
		}
	}
}

// Wherever it breaks off, it goes on there and asks nothing again.
func TestAnInterruptedExaminationGoesOn(t *testing.T) {
	text, file := script(20, 1, "hermes"), filepath.Join(t.TempDir(), "doctor", "tiny.json")
	state, err := doctor.LoadState(file, "server", "tiny")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, text)
	asked := map[string]int{}
	for tries, over := 0, false; !over; tries++ {
		s.after = s.asked + 20
		r, err := doctor.Full(context.Background(), "tiny", s, nil, state.Asked, func(a doctor.Asked) {
			asked[fmt.Sprint(a.Form, a.Probe, a.Whole, a.Round)]++
			state.Asked = append(state.Asked, a)
		})
		if over = err == nil; over {
			state.Over, state.Format = true, r.Format
		} else if !errors.Is(err, errBroke) || tries > 20 {
			t.Fatal(err)
		}
		if err := state.Save(file); err != nil {
			t.Fatal(err)
		}
		if state, err = doctor.LoadState(file, "server", "tiny"); err != nil {
			t.Fatal(err)
		}
	}
	for what, n := range asked {
		if n > 1 {
			t.Errorf("%s was asked %d times", what, n)
		}
	}
	if state.Format != "hermes" {
		t.Errorf("found %s", state.Format)
	}
	e := state.Evidence()
	if ranks := e.Standings(); len(ranks) != 2 || ranks[0].Form != "hermes" || e.Forms()[0] != "hermes" {
		t.Errorf("%+v", ranks)
	}
	if other, err := doctor.LoadState(file, "another", "tiny"); err != nil || len(other.Asked) > 0 {
		t.Errorf("the examination of another server: %+v, %v", other, err)
	}
}

func TestAFormWithoutACallIsLeft(t *testing.T) {
	s := serve(t, "-- server --\nmodel: tiny\n-- turn --\nany\n-- text --\nI cannot.\n")
	r, err := doctor.Full(context.Background(), "tiny", s, nil, nil, nil)
	if err != nil || r.Format != "none" || len(r.Forms) < 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, m := range r.Forms {
		if m.Dropped == "" || m.Success.Of > 2 {
			t.Errorf("%+v", m)
		}
	}
}
