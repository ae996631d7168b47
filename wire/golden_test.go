package wire_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// What every pair of a client's API and a server's makes of every conversation is
// in its folder, in pairs.txtar: for each client the answer that it gets, and for
// each pair by how many lines, and which, the server is asked otherwise than
// X.request.json says, what cannot be said, and how the answer differs.
//
// contract: F-11
func TestEveryPairIsAsWritten(t *testing.T) {
	files, err := filepath.Glob("testdata/*/utp.json")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d conversations, want at least 40 (%v)", len(files), err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			golden.File(t, filepath.Join(dir, "pairs.txtar"), pairs(t, dir))
		})
	}
}

func pairs(t *testing.T, dir string) string {
	t.Helper()
	c := load(t, dir)
	var text strings.Builder
	var bodies [][]byte // of the clients' requests
	var answers []string
	for _, from := range apis {
		x, err := from.back.Open(&c.Request)
		if err != nil {
			t.Fatal(err)
		}
		r := post(t, from, c.Request.Model, c.Request.Stream, x.Body)
		bodies = append(bodies, x.Body)
		answers = append(answers, answered(t, from, r, renamed(c.Reply, &c.Request, r)))
		fmt.Fprintf(&text, "-- %s is answered --\n%s", from.name, answers[len(answers)-1])
	}
	for i, from := range apis {
		for _, to := range apis {
			r := post(t, from, c.Request.Model, c.Request.Stream, bodies[i])
			x, err := to.back.Open(r)
			if err != nil {
				t.Fatal(err)
			}
			said := otherwise(string(read(t, filepath.Join(dir, to.name+".request.json"))), string(indent(t, x.Body)))
			for _, l := range x.Losses {
				said += fmt.Sprintf("loss: %s: %s: %s\n", l.Path, l.What, l.Why)
			}
			reply, err := x.Read(read(t, filepath.Join(dir, to.name+".reply.json")), counter())
			if err != nil {
				t.Fatal(err)
			}
			if d := otherwise(answers[i], answered(t, from, r, reply)); d != "" {
				said += "answer:\n" + d
			}
			fmt.Fprintf(&text, "-- %s to %s --\n%s", from.name, to.name, said)
		}
	}
	return text.String()
}

// answered is a reply as a client gets it, and what it is not told.
func answered(t *testing.T, p api, r *utp.Request, reply utp.Reply) string {
	t.Helper()
	body, losses, err := p.front.Whole(r, reply, wire.Stamp{ID: "id_1", Model: "model"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(indent(t, body))
	for _, l := range losses {
		text += fmt.Sprintf("loss: %s: %s: %s\n", l.Path, l.What, l.Why)
	}
	return text
}

// otherwise is the lines that differ, or "".
func otherwise(want, got string) string {
	d := string(diff.Diff("", []byte(want), "", []byte(got)))
	if i := strings.Index(d, "\n@@"); i >= 0 {
		return d[i+1:]
	}
	return d
}
