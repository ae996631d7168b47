package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Error is a fault in a file or in a variable of the environment.
type Error struct {
	File    string // or the name of the variable
	Line    int    // from 1; 0: nowhere in particular
	Column  int    // from 1, in bytes
	Message string // what is wrong and what is wanted
	Excerpt string // the line with a caret below, for people
	Err     error  // the cause, where another error is one
}

// Error says where and what, in one line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// document is one file's text.
type document struct {
	name string // for people
	path string
	text []byte
	try  Try
}

// at makes an error that points at n bytes of the document.
func (d document) at(offset, n int, format string, a ...any) *Error {
	line := 1 + bytes.Count(d.text[:offset], []byte("\n"))
	column := offset - bytes.LastIndexByte(d.text[:offset], '\n')
	return d.on(line, column, n, format, a...)
}

// on is at, for a line and a column.
func (d document) on(line, column, n int, format string, a ...any) *Error {
	return &Error{File: d.name, Line: line, Column: column, Message: fmt.Sprintf(format, a...),
		Excerpt: caret(d.text, line, column, n)}
}

// caret shows a line and the one before it, with marks below n bytes of it.
func caret(text []byte, line, column, n int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	var b strings.Builder
	for i := max(1, line-1); i <= line; i++ {
		fmt.Fprintf(&b, "%4d | %s\n", i, strings.TrimRight(lines[i-1], "\r"))
	}
	here := lines[line-1]
	column = min(max(column, 1), len(here)+1)
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, here[:column-1])
	n = min(max(n, 1), max(1, len(here)-column+1))
	return b.String() + "     | " + pad + strings.Repeat("^", n)
}
