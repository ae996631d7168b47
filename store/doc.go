// Package store keeps sessions in a SQLite file: which conversations there
// are, and their logs as JSON.
//
// Several processes may use one file at a time.
package store
