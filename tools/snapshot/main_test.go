package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
)

// program has a memory with "hi" at 16 and a global that is 0. _initialize makes the
// global 300, ready writes it to 1000 and makes it -5; sum is global + memory[1000] +
// memory[16].
var program = slices.Concat(header,
	part(1, 2, 0x60, 0, 0, 0x60, 0, 1, 0x7f), // types: () and () i32
	part(3, 3, 0, 0, 1),                      // functions
	part(5, 1, 0, 1),                         // memory: a page
	part(6, 1, 0x7f, 1, 0x41, 0, 0x0b),       // global: an i32 that may change
	part(7, slices.Concat([]byte{4},
		[]byte("\x0b_initialize\x00\x00\x05ready\x00\x01\x03sum\x00\x02\x06memory\x02\x00"))...),
	part(10, slices.Concat([]byte{3},
		body(0x41, 0xac, 2, 0x24, 0),                                  // i32.const 300, global.set 0
		body(0x41, 0xe8, 7, 0x23, 0, 0x36, 2, 0, 0x41, 0x7b, 0x24, 0), // i32.store at 1000, global.set 0
		body(0x23, 0, 0x41, 0xe8, 7, 0x28, 2, 0, 0x6a, 0x41, 16, 0x2d, 0, 0, 0x6a))...),
	part(11, 1, 0, 0x41, 16, 0x0b, 2, 'h', 'i'), // data
	part(0, 4, 'n', 'o', 't', 'e', 1))

func part(id byte, b ...byte) []byte { return appendBytes([]byte{id}, b) }

// body is a function without locals.
func body(code ...byte) []byte {
	return appendBytes(nil, append(append([]byte{0}, code...), opEnd))
}

// What is written goes on where the start ended, with the bytes that were there before,
// and cannot be started again.
func TestSnapshotGoesOn(t *testing.T) {
	ctx := t.Context()
	code, err := snapshot(ctx, program, []string{"_initialize", "ready"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := snapshot(ctx, program, []string{"_initialize", "ready"}); err != nil || !bytes.Equal(code, again) {
		t.Error("a second time gives other bytes", err)
	}
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	m, err := r.Instantiate(ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.ExportedFunction("sum").Call(ctx)
	if err != nil || got[0] != 300-5+'h' {
		t.Errorf("%d, %v: want %d", got, err, 300-5+'h')
	}
	for _, name := range []string{"_initialize", "ready"} {
		if m.ExportedFunction(name) != nil {
			t.Errorf("%s is still there", name)
		}
	}
	if m.ExportedGlobal(globalName(0)) != nil || bytes.Contains(code, []byte("note")) {
		t.Error("it has a name for its global, or its custom section")
	}
}

func TestSnapshotRefuses(t *testing.T) {
	for name, of := range map[string]struct {
		code  []byte
		calls []string
	}{
		"no WebAssembly":        {[]byte("hello"), nil},
		"cut off":               {program[:len(program)-3], nil},
		"a call that is not in": {program, []string{"nothing"}},
		"a list of segments":    {slices.Concat(program, []byte{12, 1, 1}), nil},
	} {
		if _, err := snapshot(t.Context(), of.code, of.calls); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Segments leave out zeros, and put together they are the memory.
func TestDataIsTheMemory(t *testing.T) {
	memory := make([]byte, 3*page)
	for _, at := range []int{0, 1, 2 + gap, 5000, 5000 + gap - 1, 5000 + 3*gap, len(memory) - 1} {
		memory[at] = byte(at%250) + 1
	}
	r := reader(data(memory))
	n, err := r.number()
	if err != nil || n != 5 {
		t.Errorf("%d segments, %v: want 5", n, err)
	}
	got := make([]byte, len(memory))
	for range n {
		if r[0] != 0 || r[1] != opI32Const {
			t.Fatalf("a segment begins with %d %d", r[0], r[1])
		}
		r = r[2:]
		at, err := r.number() // below 1<<20 it has no sign bit that matters: three bytes
		if err != nil || r[0] != opEnd {
			t.Fatal(err)
		}
		r = r[1:]
		b, err := r.bytes()
		if err != nil {
			t.Fatal(err)
		}
		copy(got[at:], b)
	}
	if !bytes.Equal(got, memory) || len(r) != 0 {
		t.Error("the segments are not the memory")
	}
}

func TestSignedNumbers(t *testing.T) {
	for v, want := range map[int64][]byte{0: {0}, 63: {63}, 64: {0xc0, 0}, -1: {0x7f}, -64: {0x40}, -65: {0xbf, 0x7f}, 300: {0xac, 2}, -5: {0x7b}} {
		if got := appendSigned(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%d: % x, want % x", v, got, want)
		}
	}
}
