// Snapshot starts a WebAssembly program and writes it in its state after the start, so
// that it need not start again:
//
//	snapshot FROM TO CALL…
//
// FROM is a reactor for WASI. Snapshot initializes it and calls its functions CALL. TO has
// the memory and the globals as they are after that, without _initialize and CALL. The
// clock and the random numbers of the start are fixed, so that the bytes of TO are always
// the same; the program must reseed when it goes on.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "snapshot:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("want the file of a program, the file to write, and the functions to call")
	}
	code, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	code, err = snapshot(context.Background(), code, append([]string{"_initialize"}, args[2:]...))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return os.WriteFile(args[1], code, 0o644)
}

// snapshot returns a program in its state after these calls.
func snapshot(ctx context.Context, code []byte, calls []string) ([]byte, error) {
	m, err := read(code)
	if err != nil {
		return nil, err
	}
	n, err := m.globals()
	if err != nil {
		return nil, err
	}
	open, err := m.exportGlobals(n)
	if err != nil {
		return nil, err
	}
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	live, err := r.InstantiateWithConfig(ctx, open, wazero.NewModuleConfig().WithStartFunctions().WithStderr(os.Stderr))
	if err != nil {
		return nil, err
	}
	for _, name := range calls {
		f := live.ExportedFunction(name)
		if f == nil {
			return nil, fmt.Errorf("there is no function %s", name)
		}
		if _, err := f.Call(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	memory := live.Memory()
	bytes, ok := memory.Read(0, memory.Size())
	if !ok {
		return nil, errors.New("its memory cannot be read")
	}
	values := make([]value, n)
	for i := range values {
		g := live.ExportedGlobal(globalName(i))
		values[i] = value{kind: g.Type(), bits: g.Get()}
		if values[i].kind != api.ValueTypeI32 && values[i].kind != api.ValueTypeI64 {
			return nil, fmt.Errorf("global %d is a %s: want an i32 or an i64", i, api.ValueTypeName(values[i].kind))
		}
	}
	return m.at(slices.Clone(bytes), values, calls)
}
