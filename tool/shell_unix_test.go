//go:build unix

package tool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store/handle"
)

// Without a sandbox too a command that is late or stopped ends with all that it
// started, and so does what it leaves behind.
func TestWithoutASandboxAGroupEnds(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		stop time.Duration
		want string
	}{
		"late":        {`{"command":"(while :; do echo x >> beat; sleep 0.02; done) & wait","timeout":1}`, time.Minute, "ended after 1 s"},
		"stopped":     {`{"command":"(while :; do echo x >> beat; sleep 0.02; done) & wait","timeout":50}`, time.Second, ""},
		"left behind": {`{"command":"(while :; do echo x >> beat; sleep 0.02; done) & sleep 0.5","timeout":50}`, time.Minute, "exit code 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			s := open(t, Config{Root: root, UndoDir: t.TempDir(), Results: handle.Open("", time.Now),
				Shell: &Shell{Self: filepath.Join(root, "nobody"), Env: os.Environ(), Home: root}})
			if s.Sandboxed(t.Context()) == nil {
				t.Fatal("there is a sandbox")
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.stop)
			defer cancel()
			start := time.Now()
			r := s.Run(Approve(ctx), utp.Call{Name: "shell", Args: []byte(c.args)})
			if took := time.Since(start); took > 30*time.Second || !strings.HasPrefix(r.Text(), c.want) {
				t.Errorf("after %v: %q, want %q", took, r.Text(), c.want)
			}
			beat := func() int64 {
				info, err := os.Stat(filepath.Join(root, "beat"))
				if err != nil {
					t.Fatal(err)
				}
				return info.Size()
			}
			last := beat()
			if time.Sleep(300 * time.Millisecond); beat() != last {
				t.Error("what it started runs on")
			}
		})
	}
}
