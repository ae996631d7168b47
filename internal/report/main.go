// Report is the workshop of the module: it lists the requirements with their
// tests, prints the acceptance sign-off and the size budgets, runs the fuzz
// targets, builds the release and the model servers to test with, and breaks packages
// to see whether tests notice. The Makefile is its front:
//
//	go run ./internal/report contract [ID …]
//	go run ./internal/report uat
//	go run ./internal/report size
//	go run ./internal/report fuzz DURATION|NUMBERx
//	go run ./internal/report release VERSION DIR [OS/ARCH…]
//	go run ./internal/report notices
//	go run ./internal/report engines DIR
//	go run ./internal/report te GO PYTHON NODE
//	go run ./internal/report search NAME=DIR…
//	go run ./internal/report coach-sim
//	go run ./internal/report chunks DIR…
//	go run ./internal/report wasm DIR
//	go run ./internal/report mutants [-n N] [-seed N] PACKAGE[+PACKAGE]…
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

var commands = map[string]func(w io.Writer, args []string) error{
	"chunks":    chunks,
	"coach-sim": coachSim,
	"contract":  contractReport,
	"uat":       uatReport,
	"size":      sizeReport,
	"fuzz":      fuzzAll,
	"engines":   engines,
	"mutants":   mutants,
	"notices":   notices,
	"release":   makeRelease,
	"search":    searching,
	"te":        measureTe,
	"wasm":      wasm,
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	if len(args) > 0 {
		if command := commands[args[0]]; command != nil {
			return command(w, args[1:])
		}
	}
	return errors.New("want one of: contract [ID …], uat, size, fuzz DURATION|NUMBERx, release VERSION DIR, notices, engines DIR, mutants PACKAGE…, te GO PYTHON NODE, coach-sim, search NAME=DIR…, wasm DIR")
}
