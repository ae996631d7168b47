// Command real runs bx against real model servers, Ollama and llama-server with
// tiny models, and prints what held. docs/engines.md tells more.
//
//	go -C sdktest run ./real [-dir DIR] [-v] [NAME…]
//
// DIR is what make engines built. With a NAME only the checks whose names contain
// it run.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// check is one line of the table.
type check struct {
	server string // ollama, llama-server or both
	name   string
	run    func(*world) (figure string, err error)
}

// checks are in the order in which they run: those that kill something come last.
var checks = slices.Concat(findingChecks, callChecks, thinkChecks, windowChecks, nameChecks, memoryChecks, limitChecks, fakeChecks, endChecks)

func main() {
	home, _ := os.UserHomeDir()
	dir := flag.String("dir", filepath.Join(home, ".cache", "bx-engines"), "where make engines built")
	verbose := flag.Bool("v", false, "keep the logs and say where")
	flag.Parse()
	if err := run(*dir, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string, verbose bool, names []string) error {
	w, err := newWorld(dir)
	if err != nil {
		return err
	}
	defer w.close(verbose)
	began, failed, ran := time.Now(), 0, 0
	for _, c := range checks {
		if !chosen(c, names) {
			continue
		}
		ran++
		started := time.Now()
		figure, err := c.run(w)
		verdict := "ok"
		if err != nil {
			verdict, figure, failed = "FAIL", strings.TrimSpace(figure+"\n"+err.Error()), failed+1
		}
		fmt.Printf("%-4s  %-12s  %-34s  %6.1f s  %s\n", verdict, c.server, c.name, time.Since(started).Seconds(), indent(figure))
	}
	fmt.Printf("%d of %d hold, in %.0f s\n", ran-failed, ran, time.Since(began).Seconds())
	if failed > 0 {
		return fmt.Errorf("%d checks fail", failed)
	}
	if ran == 0 {
		return errors.New("no check has such a name")
	}
	return nil
}

func chosen(c check, names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(c.server+" "+c.name, n) })
}

// indent puts further lines under the first.
func indent(text string) string {
	return strings.ReplaceAll(cut(text, 1600), "\n", "\n      ")
}

// cut shortens a text in the middle.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most/2] + " … " + text[len(text)-most/2:]
}

// build makes the program under test.
func build(to string) error {
	out, err := exec.Command("go", "build", "-C", "..", "-o", to, "./cmd/bx").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// all runs one thing per name and joins what went wrong.
func all[T any](list []T, one func(T) error) error {
	var errs []error
	for _, v := range list {
		if err := one(v); err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", v, err))
		}
	}
	return errors.Join(errs...)
}

// median of some durations, in milliseconds.
func median(d []time.Duration) string {
	slices.SortFunc(d, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	return fmt.Sprintf("%.0f ms", float64(d[len(d)/2].Microseconds())/1000)
}
