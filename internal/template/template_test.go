package template_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	theirs "text/template"

	"github.com/unifiedtoolprotocol/utp/internal/template"
)

type inner struct{ Text, hidden string }

type level int

func (l level) String() string { return fmt.Sprintf("level %d", int(l)) }

type data struct {
	inner
	Name    string
	Yes, No bool
	N       int
	U       uint8
	F       float64
	List    []string
	Rows    []inner
	None    []string
	In      inner
	At      *inner
	Nil     *inner
	Flag    *bool
	Level   level
	Any     any
	Bytes   []byte
	Pair    [2]int
}

func sample() *data {
	no := false
	return &data{inner{"own", "x"}, "Ann <b>", true, false, 7, 200, 1.5, []string{"a", "b", "c"}, []inner{{"r1", ""}, {"r2", ""}},
		nil, inner{"in", ""}, &inner{"at", ""}, nil, &no, 3, 12, []byte(`{"a":1}`), [2]int{4, 5}}
}

// same are templates whose text is that of text/template.
var same = []string{
	"", "plain", "{{.Name}}", "{{.Text}} {{.In.Text}} {{.At.Text}}", "{{.}}", "{{.Nil}} {{.Flag}} {{.Level}} {{.Any}} {{.At}}",
	"{{if .Yes}}a{{else}}b{{end}}{{if .No}}a{{else if .N}}b{{else}}c{{end}}{{if .Flag}}set{{end}}{{if .In}}struct{{end}}",
	"{{with .Name}}[{{.}}]{{else}}none{{end}}{{with .Nil}}x{{else with .At}}{{.Text}}{{end}}",
	"{{range .List}}<{{.}}>{{else}}none{{end}}{{range .None}}x{{else}}none{{end}}",
	"{{range $i, $x := .List}}{{$i}}={{$x}},{{$.Name}}{{end}}{{range $x := .Rows}}{{$x.Text}}{{.Text}}{{end}}",
	"{{range 3}}{{.}}{{end}}{{range .N}}.{{end}}{{range .Pair}}{{.}}{{end}}{{range $i := 2}}{{$i}}{{end}}{{range 0}}x{{else}}y{{end}}",
	"{{range .List}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}{{range .List}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}",
	"{{range .List}}{{range $.Rows}}{{break}}{{end}}{{.}}{{end}}",
	"{{$x := 1}}{{if .Yes}}{{$x = 2}}{{$y := 3}}{{$y}}{{end}}{{$x}}{{$x := 4}}{{$x}}",
	"{{$i := 9}}{{$x := 8}}{{range $i, $x = .List}}{{end}}{{$i}}{{$x}}",
	"{{define \"t\"}}[{{.}}{{$}}]{{end}}{{template \"t\" .Name}}{{template \"t\"}}{{block \"b\" .N}}b{{.}}{{end}}",
	"{{.Name | printf \"%q-%s\" .Text | len}}{{printf \"%d %v\" 3 .List}}{{print 1 2 \"x\" .Yes}}{{println .N}}{{print}}",
	"{{html .Name}}{{js .Name}}{{urlquery .Name .N}}{{\"<\" | html}}",
	"{{len .List}}{{len .Name}}{{index .List 1}}{{index .Pair .Pair | print}}{{slice .Name 1 3}}{{slice .List 1}}{{slice .Name}}",
	"{{and .Yes .N}}{{and .No .Nil.Text}}{{or .No .Name .Nil.Text}}{{or .No .No}}{{not .No}}{{.No | or .Yes}}{{1 | and 0}}",
	"{{eq .N 7}}{{eq .N 1 2 7}}{{eq .U 200}}{{eq .Name \"x\"}}{{eq .F 1.5}}{{eq .Level 3}}{{ne .N 7}}{{eq .Any 12}}{{eq .Nil nil}}{{eq .At nil}}{{eq .In .In}}{{eq .Yes true}}{{eq 1i 1i}}",
	"{{lt 1 2}}{{le 2 2}}{{gt .N 8}}{{ge .N 7}}{{lt \"a\" \"b\"}}{{lt .F 2.0}}{{lt .U .N}}{{gt .U 255}}",
	"{{1}}{{-1}}{{0x1e}}{{1e3}}{{'e'}}{{'a'}}{{1.0}}{{0b11}}{{1_000}}{{0x1p4}}{{true}}{{`raw`}}{{\"q\\n\"}}",
	"{{(index .Rows 0).Text}}{{(print .N) | len}}{{- /* comment */ -}}  x  {{- .N -}}  y",
	"{{printf \"%s\" .Bytes}}{{.Bytes}}{{len .Bytes}}{{.Missing}}", "{{.Nil.Text}}", "{{.hidden}}", "{{.Name.X}}", "{{.N.X}}", "{{nil}}",
	"{{index .List 9}}", "{{index .List -1}}", "{{index .None 0}}", "{{index .N 0}}", "{{slice .Name 3 1}}", "{{slice .Name 99}}", "{{len 3}}", "{{index .List \"a\"}}",
	"{{eq 1 1.5}}", "{{eq .Name 1}}", "{{lt .Yes .No}}", "{{lt 1 \"a\"}}", "{{eq .List .List}}", "{{not}}", "{{len}}", "{{1 2}}", "{{.Name 1}}", "{{1 | .Name}}",
	"{{template \"none\"}}", "{{if .Name", "{{nothing .}}", "{{$x}}", "{{end}}", "{{range .Name}}{{end}}", "{{range .In}}{{end}}", "{{range .Yes}}{{end}}",
	"{{range $i, $x := 3}}{{end}}", "{{99999999999999999999}}", "{{printf 1}}", "{{(.Nil).Text}}",
	"{{with $x := .Name}}{{$x}}{{end}}{{if $n := .N}}{{$n}}{{end}}", "{{range $x := .None}}{{else}}{{$x}}{{end}}", "{{break}}", "{{.Name}}{{.Missing}}",
}

// both runs a template here and in text/template.
func both(text string, data any) (ours, wanted string, err, wantErr error) {
	if s, e := template.New("t", text); e != nil {
		err = e
	} else {
		ours, err = s.Execute("t", data)
	}
	if t, e := theirs.New("t").Parse(text); e != nil {
		wantErr = e
	} else {
		var b strings.Builder
		wantErr = t.Execute(&b, data)
		wanted = b.String()
	}
	return ours, wanted, err, wantErr
}

func TestATemplateSaysWhatTextTemplateSays(t *testing.T) {
	for _, text := range same {
		ours, wanted, err, wantErr := both(text, sample())
		if (err == nil) != (wantErr == nil) || err == nil && ours != wanted {
			t.Errorf("%s:\n  %q, %v\n  text/template: %q, %v", text, ours, err, wanted, wantErr)
		}
	}
}

// What a person reads of a mistake is the same, too, where a template of a prompt can make one.
func TestAnErrorSaysWhatTextTemplateSays(t *testing.T) {
	for _, text := range []string{"{{.Name", "x\n {{.Nothing}}", "{{nothing}}", "{{.In.hidden}}", "{{.Nil.Text}}", "{{template \"none\"}}", "{{if .Missing}}{{end}}", "{{nil}}", "{{1 2}}"} {
		if _, _, err, want := both(text, sample()); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s:\n  %v\n  text/template: %v", text, err, want)
		}
	}
}

func TestFilesUseEachOther(t *testing.T) {
	s, err := template.Files(fstest.MapFS{"a.md": {Data: []byte(`<{{template "b.md" .}}>`)}, "b.md": {Data: []byte(`{{.}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Execute("a.md", "x"); got != "<x>" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := s.Execute("c.md", nil); err == nil {
		t.Error("a template that is not there runs")
	}
	if _, err := template.Files(fstest.MapFS{"a.md": {Data: []byte(`{{`)}}); err == nil {
		t.Error("a broken file passes")
	}
}

// A method is no field: to look one up by name makes the linker keep them all.
func TestMethodsAreNotSeen(t *testing.T) {
	s := template.Must(template.New("t", "{{.Level.String}}"))
	if got, err := s.Execute("t", sample()); err == nil {
		t.Errorf("%q", got)
	}
}

// A template that uses itself without end is an error.
func TestTemplatesUseEachOtherSoDeep(t *testing.T) {
	s := template.Must(template.New("t", "{{template \"t\" .}}"))
	if _, err := s.Execute("t", nil); err == nil || !strings.Contains(err.Error(), "exceeded maximum template depth") {
		t.Errorf("%.200v", err)
	}
}

// FuzzTemplate: no template ends the program, and what two templates make of the
// same data is the same.
func FuzzTemplate(f *testing.F) {
	for _, text := range same {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "range") || strings.Contains(text, "%") || strings.Contains(text, "define") {
			t.Skip("a number of turns or a width may be any")
		}
		ours, wanted, err, wantErr := both(text, sample())
		if err == nil && wantErr == nil && ours != wanted {
			t.Errorf("%q, text/template %q", ours, wanted)
		}
	})
}
