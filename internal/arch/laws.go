package arch

import "slices"

// Law is a rule that the house keeps.
type Law struct {
	Name  string
	Rule  string // what must hold and what to do where it does not
	Check func(*House) []Finding
}

// Finding is a place that breaks a law.
type Finding struct {
	At   string // file:line, file or package
	What string
}

func (f Finding) String() string { return f.At + ": " + f.What }

var laws = []Law{
	{"place", "Every package has a line in internal/arch/rooms.go; choose the lowest ring that has all it needs.", place},
	{"rings", "A package imports lower rings only, and of its own ring what internal/arch/rooms.go names. Move the code down, or hand the value in as an argument or a small interface.", rings},
	{"depth", "No chain of imports within the module is longer than 5. Let the upper package import the lowest one itself.", depth},
	{"pure-imports", "Rings 0 to 2 import no net, os, log, math/rand or context, and no module that internal/arch/rooms.go does not grant. Take bytes, ids and times as arguments.", pureImports},
	{"pure-calls", "Rings 0 to 2 read no clock, start no goroutine and keep no state between calls. Clocks are arguments, constant tables are sync.OnceValue, what is worth keeping the caller keeps.", pureCalls},
	{"parse-and-wire", "parse and wire never import each other and meet in backend alone. Pass utp events between them.", parseAndWire},
	{"ground-floor", "parse/internal/scan imports grammar alone, parse/internal/body only scan and lenient: they read text and know no calls. Hand them what they need as an argument.", groundFloor},
	{"small-parser", "parse.Parser has at most 20 fields, with those of the structs that it holds by value; what is being read of a call is apart. Group fields into a type with methods of its own.", smallParser},
	{"agent-sees-no-format", "agent reaches no wire, grammar, parse or net/http. It gets a Model and a Runner and speaks utp.", agentFormats},
	{"grammar-is-data", "A file in grammar holds one composite literal and nothing else (grammar.go, check.go, load.go and all.go aside), and no record has a func field. Widen the record, or add a body to parse.", grammarData},
	{"programs", "Only cmd exits, prints, logs, reads the environment, or imports flag, TOML and terminal packages. Return an error or take a value or an io.Writer.", programs},
	{"names", "No package is named for being useful. Name it for what it holds.", names},
	{"no-init", "No init outside cmd. Use a table that is read, or sync.OnceValue.", noInit},
	{"no-optional-interfaces", "No assertion to an interface of the module or to an anonymous one: a misspelt method fails silently. Put the method into the interface, or close the sum with struct types.", noOptional},
	{"file-length", "A file has at most 600 lines, in parse 400. Split it by meaning; a file of data alone is marked by a line //arch:table and declares no function.", fileLength},
	{"package-doc", "Every package says in its package comment what it is for.", packageDoc},
	{"example", "Every library package has an Example with an // Output: line in a test file.", example},
	{"example-for-readers", "An example of the library imports no internal package: who reads it cannot either. Write the server or the model into it.", exampleForReaders},
	{"map", "ARCHITECTURE.md names every package in backquotes.", onMap},
}

// Laws lists the laws of the house.
func Laws() []Law { return slices.Clone(laws) }
