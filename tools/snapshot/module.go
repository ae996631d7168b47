package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tetratelabs/wazero/api"
)

// The sections of a module that are read or written: https://webassembly.github.io/spec/core/binary/modules.html
const (
	sectionCustom = 0
	sectionMemory = 5
	sectionGlobal = 6
	sectionExport = 7
	sectionStart  = 8
	sectionCount  = 12
	sectionData   = 11
)

const (
	exportFunction = 0
	exportGlobal   = 3

	opI32Const = 0x41
	opI64Const = 0x42
	opEnd      = 0x0b
	page       = 64 << 10
)

// module is a module's sections in order.
type module struct{ sections []section }

type section struct {
	id   byte
	body []byte
}

var header = []byte("\x00asm\x01\x00\x00\x00")

var errShort = errors.New("it is cut off")

func read(code []byte) (*module, error) {
	if !bytes.HasPrefix(code, header) {
		return nil, errors.New("it is no WebAssembly of version 1")
	}
	m := new(module)
	for r := reader(code[len(header):]); len(r) > 0; {
		id := r[0]
		r = r[1:]
		body, err := r.bytes()
		if err != nil {
			return nil, err
		}
		m.sections = append(m.sections, section{id, body})
	}
	return m, nil
}

// write returns the module with other bodies for sections; a nil one is left out.
func (m *module) write(other map[byte][]byte) []byte {
	out := slices.Clone(header)
	for _, s := range m.sections {
		body, changed := other[s.id]
		if !changed {
			body = s.body
		}
		if body != nil {
			out = appendBytes(append(out, s.id), body)
		}
	}
	return out
}

func (m *module) has(id byte) bool {
	return slices.ContainsFunc(m.sections, func(s section) bool { return s.id == id })
}

// section returns the body of a section, an empty list if it is missing.
func (m *module) section(id byte) reader {
	for _, s := range m.sections {
		if s.id == id {
			return s.body
		}
	}
	return reader{0}
}

// globals returns how many globals there are.
func (m *module) globals() (int, error) {
	r := m.section(sectionGlobal)
	n, err := r.number()
	return int(n), err
}

func globalName(i int) string { return "snapshot.global." + strconv.Itoa(i) }

// exportGlobals returns the module with its n globals exported.
func (m *module) exportGlobals(n int) ([]byte, error) {
	list, err := m.exports()
	if err != nil {
		return nil, err
	}
	for i := range n {
		list = append(list, export{globalName(i), exportGlobal, uint64(i)})
	}
	return m.write(map[byte][]byte{sectionExport: exportList(list)}), nil
}

type export struct {
	name  string
	kind  byte
	index uint64
}

func (m *module) exports() (list []export, err error) {
	r := m.section(sectionExport)
	n, err := r.number()
	for ; n > 0 && err == nil; n-- {
		var e export
		var name []byte
		if name, err = r.bytes(); err != nil {
			break
		}
		if len(r) == 0 {
			return nil, errShort
		}
		e.name, e.kind, r = string(name), r[0], r[1:]
		e.index, err = r.number()
		list = append(list, e)
	}
	return list, err
}

func exportList(list []export) []byte {
	b := binary.AppendUvarint(nil, uint64(len(list)))
	for _, e := range list {
		b = binary.AppendUvarint(append(appendBytes(b, []byte(e.name)), e.kind), e.index)
	}
	return b
}

// value is the value of a global.
type value struct {
	kind api.ValueType
	bits uint64
}

// at returns the module with this memory and these globals, without the functions that
// were called.
func (m *module) at(memory []byte, globals []value, called []string) ([]byte, error) {
	for _, id := range []byte{sectionStart, sectionCount} {
		if m.has(id) {
			return nil, fmt.Errorf("it has a section %d: want a program as Go builds it", id)
		}
	}
	list, err := m.exports()
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e export) bool { return e.kind == exportFunction && slices.Contains(called, e.name) })
	values := binary.AppendUvarint(nil, uint64(len(globals)))
	for _, g := range globals {
		values = append(values, g.kind, 1) // 1: it may be changed
		if g.kind == api.ValueTypeI32 {
			values = appendSigned(append(values, opI32Const), int64(int32(g.bits)))
		} else {
			values = appendSigned(append(values, opI64Const), int64(g.bits))
		}
		values = append(values, opEnd)
	}
	return m.write(map[byte][]byte{
		sectionMemory: binary.AppendUvarint([]byte{1, 0}, uint64(len(memory)/page)),
		sectionGlobal: values,
		sectionExport: exportList(list),
		sectionData:   data(memory),
		sectionCustom: nil,
	}), nil
}

// gap is how many zeros in a row begin a new segment.
const gap = 64

// data returns the memory as segments that leave out long runs of zeros.
func data(memory []byte) []byte {
	var list []byte
	n := 0
	for at := 0; at < len(memory); {
		if memory[at] == 0 {
			at++
			continue
		}
		end := at + 1 // of the bytes that are not zero
		for i := end; i < len(memory) && i-end < gap; i++ {
			if memory[i] != 0 {
				end = i + 1
			}
		}
		list = append(appendSigned(append(list, 0, opI32Const), int64(int32(at))), opEnd)
		list = appendBytes(list, memory[at:end])
		n, at = n+1, end
	}
	return append(binary.AppendUvarint(nil, uint64(n)), list...)
}

// reader is the rest of the bytes to read.
type reader []byte

func (r *reader) number() (uint64, error) {
	v, n := binary.Uvarint(*r)
	if n <= 0 {
		return 0, errShort
	}
	*r = (*r)[n:]
	return v, nil
}

func (r *reader) bytes() ([]byte, error) {
	n, err := r.number()
	if err != nil || n > uint64(len(*r)) {
		return nil, errShort
	}
	b := (*r)[:n]
	*r = (*r)[n:]
	return b, nil
}

func appendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

// appendSigned appends a signed number as LEB128.
func appendSigned(to []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		if v >>= 7; v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(to, b)
		}
		to = append(to, b|0x80)
	}
}
