package tool

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// Turns of writes, edits, moves, removals, patches and commands: after bx undo the
// tree is byte for byte what it was before each of them. -long plays 1,000.
//
// contract: X-17
func TestRandomTurnsAreUndone(t *testing.T) {
	batches, turns := 1, 8
	if *long {
		batches, turns = 50, 20
	}
	for seed := range uint64(batches) {
		s, root := shellSet(t)
		for i := range 6 {
			write(t, root, fmt.Sprintf("d%d/f%d.txt", i%2, i), fmt.Sprintf("file %d\nshared line\n", i))
		}
		r := rand.New(rand.NewPCG(seed, 7))
		trees := []map[string]string{treeOf(t, root)}
		for range turns {
			end := s.Turn(func() string { return "s" })
			for range 1 + r.IntN(3) {
				name, args := randomCall(r)
				b, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				s.Run(Approve(t.Context()), utp.Call{Name: name, Args: b})
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if now := treeOf(t, root); !maps.Equal(now, trees[len(trees)-1]) {
				trees = append(trees, now)
			}
		}
		for i := len(trees) - 2; i >= 0; i-- {
			report, err := s.store.Undo(false)
			if err != nil || len(report.Left) > 0 {
				t.Fatalf("seed %d, back to tree %d: %+v, %v", seed, i, report, err)
			}
			if now := treeOf(t, root); !maps.Equal(now, trees[i]) {
				t.Fatalf("seed %d, tree %d of %d:\n%v, want\n%v", seed, i, len(trees), now, trees[i])
			}
		}
	}
}

// randomCall is a call that changes something, or fails.
func randomCall(r *rand.Rand) (name string, args map[string]any) {
	file := func() string { return fmt.Sprintf("d%d/f%d.txt", r.IntN(3), r.IntN(8)) }
	text := fmt.Sprintf("text %d\nshared line\n", r.IntN(1000))
	switch r.IntN(7) {
	case 0:
		return "write_file", map[string]any{"path": file(), "content": text}
	case 1:
		return "write_file", map[string]any{"path": file(), "content": text, "mode": "append"}
	case 2:
		return "edit_block", map[string]any{"path": file(), "old_text": "shared line", "new_text": text}
	case 3:
		return "move_file", map[string]any{"from": file(), "to": file()}
	case 4:
		return "delete_file", map[string]any{"path": file()}
	case 5:
		return "apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: " + file() + "\n@@\n-shared line\n+" + "patched\n*** End Patch\n"}
	}
	commands := []string{"echo more >> %s", "rm -f %s", "sed -i s/shared/split/ %s", "mkdir -p d2 && cp d0/f0.txt %s", "chmod 755 %s", "mv %s d1/moved.txt", "printf '\\0\\1' > %s"}
	return "shell", map[string]any{"command": fmt.Sprintf(commands[r.IntN(len(commands))], file())}
}

// treeOf is what the files of a repository hold, with their modes.
func treeOf(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(root, name)
		out[rel] = fmt.Sprintf("%v %q", info.Mode(), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
