package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
)

// A provider that takes images only gets texts as texts, with their titles, and in
// a result a word about what it does not get.
func TestFilesBecomeTexts(t *testing.T) {
	image := utp.Blob{MIME: "image/png", Data: []byte("\x89PNG")}
	notes := utp.Blob{MIME: "text/plain; charset=utf-8", Name: `no"tes.txt`, Data: []byte("one\ntwo\n")}
	report := utp.Blob{MIME: "application/pdf", Name: "r.pdf", Data: []byte("%PDF-")}
	data := utp.Blob{MIME: "application/json", Data: []byte(`{"a":1}`)}
	in := []utp.Message{
		{Role: utp.RoleUser, Parts: []utp.Part{notes, report, image, utp.Text{Text: "Hi"}, utp.Blob{MIME: "text/plain", Data: []byte("\xff")}}},
		{Role: utp.RoleAssistant, Parts: []utp.Part{notes, utp.Call{ID: "a", Name: "f"}}},
		{Role: utp.RoleTool, Parts: []utp.Part{utp.Result{CallID: "a", Parts: []utp.Part{utp.Text{Text: "see"}, image, report, data}}}},
	}
	var losses []string
	why := func(b utp.Blob) string {
		if b.MIME == "image/png" {
			return ""
		}
		return "only images"
	}
	got := Files(Order(in, nil, nil), why, func(path, what, why string) { losses = append(losses, path+": "+what+": "+why) })
	wrote := utp.Text{Text: "<document title=\"no\\\"tes.txt\">\none\ntwo\n</document>"}
	want := [][]utp.Part{
		{wrote, utp.Text{Text: "(a file that cannot be shown: r.pdf application/pdf)"}, image, utp.Text{Text: "Hi"}, utp.Text{Text: "(a file that cannot be shown: text/plain)"}},
		in[1].Parts,
		{utp.Result{CallID: "a", Name: "f", Parts: []utp.Part{utp.Text{Text: "see"}, image,
			utp.Text{Text: "(a file that cannot be shown: r.pdf application/pdf)"}, utp.Text{Text: "<document>\n{\"a\":1}\n</document>"}}}},
	}
	for i, m := range got {
		if diff := cmp.Diff(want[i], m.Parts); diff != "" {
			t.Errorf("message %d (-want +got):\n%s", i, diff)
		}
	}
	if diff := cmp.Diff([]string{
		"messages[0].parts[0]: rewritten as a text: only images",
		"messages[0].parts[1]: a note sent in its place: only images",
		"messages[0].parts[4]: a note sent in its place: only images",
		"messages[2].parts[0].parts[2]: a note sent in its place: only images",
		"messages[2].parts[0].parts[3]: rewritten as a text: only images",
	}, losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if p := in[2].Results()[0].Parts[2]; !cmp.Equal(p, utp.Part(report)) {
		t.Errorf("the input was changed: %v", p)
	}
}
