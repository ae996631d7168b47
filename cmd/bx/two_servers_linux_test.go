package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// With two servers at their usual ports a model that only the second has is asked
// there, and one that neither has is refused in the words of the first. The ports
// are those of a network of its own.
//
// contract: T-11
func TestTheSecondServerIsAsked(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-r", "-n", "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Skipf("no network of its own here: %v %s", err, out)
	}
	u := newUser(t)
	u.write(t, "first", "-- server --\nkind: ollama\nmodel: first:1b\n-- turn --\n-- text --\nThe first.\n")
	u.write(t, "second", "-- server --\nkind: llamacpp\nmodel: second\n-- turn --\nrepeat\n-- text --\nIt is in agent/parse.go:4, says the second.\n")
	cmd := exec.Command("unshare", "-r", "-n", "sh", "-c", `ip link set lo up
bx mock --listen 127.0.0.1:11434 first >/dev/null 2>&1 & a=$!
bx mock --listen 127.0.0.1:8080 second >/dev/null 2>&1 & b=$!
for i in $(seq 200); do bx --model first:1b status | grep -q 11434 && bx --model second status | grep -q 8080 && break; sleep .05; done
bx --model second 'Where are tool calls parsed?'; echo "code $?"
bx --model third 'Where are tool calls parsed?'; echo "code $?"
kill $a $b`)
	cmd.Dir, cmd.Env = u.repo, append(environment(u.home), "PATH="+filepath.Dir(u.bx)+":/usr/sbin:/usr/bin:/sbin:/bin")
	b, err := cmd.CombinedOutput()
	out := string(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"http://127.0.0.1:8080 (found on this machine)", "says the second.\n", "code 0\n", "Ollama at http://127.0.0.1:11434", "model 'third' not found", "code 3\n"} {
		at := strings.Index(out, want)
		if at < 0 {
			t.Fatalf("%q is missing in its place:\n%s", want, b)
		}
		out = out[at+len(want):]
	}
}
