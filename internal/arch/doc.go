// Package arch holds the laws of the house as tests: which package may import
// which, what the pure packages must not do, where programs begin, how long a
// file may be. Laws bind non-test files; the tests of this package run them
// over the module, and over small sources that break each of them.
//
// A new package gets its line in rooms.go.
package arch
