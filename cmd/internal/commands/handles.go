package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

// fetch is te --handle ID [--chunk N].
func (a *app) fetch() (int, error) {
	text, _, err := a.kept.Get(a.root.real, a.handle)
	if err != nil {
		return 0, fail("no_such_handle", exitNone, "%v", handle.ErrNone)
	}
	m := te.Meta{Cmd: "handle", Lines: lineCount(text), Size: int64(len(text)), Handle: a.handle}
	if a.chunk == 0 {
		if a.json {
			a.parts(strings.Split(m.String(), "\n")[1], text, nil)
			return exitOK, nil
		}
		a.out.WriteString(text)
		return exitOK, nil
	}
	piece, of := te.Chunk(text, max(a.limit(0)-300, 100), a.chunk)
	if a.chunk > of {
		return 0, fail("not_found", exitNone, "chunk %d: the result has %d", a.chunk, of)
	}
	if a.raw {
		a.out.WriteString(piece)
		return exitOK, nil
	}
	m.Truncated = of > 1
	a.print(m.String() + piece + "\n# TE: chunk " + fmt.Sprintf("%d of %d\n", a.chunk, of))
	return exitOK, nil
}

// listHandles is te --list-handles.
func (a *app) listHandles() (int, error) {
	kept, err := a.kept.List(a.root.real)
	if err != nil {
		return 0, fail("internal", exitNone, "%v", err)
	}
	if a.json {
		type line struct {
			Handle string    `json:"handle"`
			Cmd    string    `json:"cmd"`
			Size   int       `json:"size"`
			Made   time.Time `json:"made"`
		}
		out := []line{}
		for _, k := range kept {
			out = append(out, line{k.ID, k.Cmd, k.Size, k.Made.UTC().Truncate(time.Second)})
		}
		a.value(out)
		return exitOK, nil
	}
	for _, k := range kept {
		fmt.Fprintf(a.out, "%s  %8d  %s ago  %s\n", k.ID, k.Size, a.now().Sub(k.Made).Truncate(time.Second), k.Cmd)
	}
	return exitOK, nil
}

// bx starts bx, which stands beside te or on PATH, for what needs an index.
func (a *app) bx(ctx context.Context, out writer, args ...string) (int, error) {
	name := "bx"
	if runtime.GOOS == "windows" {
		name = "bx.exe"
	}
	program := name
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), name); executable(beside) {
			program = beside
		}
	}
	if program == name {
		found, err := exec.LookPath(name)
		if err != nil || errors.Is(err, exec.ErrDot) {
			return 0, fail("not_found", exitNoProgram, "this needs bx: put it beside te or on PATH")
		}
		program = found
	}
	return a.execute(ctx, 5*time.Minute, append([]string{program}, args...), out, os.Stderr)
}

func executable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}
