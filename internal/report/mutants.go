package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mutants breaks packages in small ways, one at a time: a condition negated, an
// operator swapped, a statement dropped, a number made one more. It runs the tests
// of the package, and then those of the packages named with it, and lists the
// mutants that none of them notices.
func mutants(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	number := flags.Int("n", 60, "how many are drawn in each package")
	seed := flags.Uint64("seed", uint64(time.Now().Unix()), "draws the same again")
	skip := flags.String("skip", "", "leave out the tests that this pattern matches")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return fmt.Errorf("mutants: want packages, as in ./lenient, or ./lenient+./parse for one with another whose tests count")
	}
	killed, all := 0, 0
	for _, arg := range flags.Args() {
		names := strings.Split(arg, "+")
		b := breaking{w: w, seed: *seed, skip: *skip}
		k, n, err := b.run(names[0], names[1:], *number)
		if err != nil {
			return fmt.Errorf("mutants: %s: %w", names[0], err)
		}
		killed, all = killed+k, all+n
	}
	fmt.Fprintf(w, "seed %d: %d of %d mutants noticed, %.0f %%\n", *seed, killed, all, 100*float64(killed)/float64(max(all, 1)))
	return nil
}

// breaking is the work on one package.
type breaking struct {
	w     io.Writer
	seed  uint64
	skip  string
	dir   string
	tests []suite
}

// suite is a test binary with all mutants in it, and which of its tests run.
type suite struct {
	name, binary, dir, tests string
	limit                    time.Duration // an endless loop ends here
}

func (b *breaking) run(pkg string, others []string, number int) (killed, all int, err error) {
	if b.dir, err = os.MkdirTemp("", "mutants"); err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(b.dir)
	abs, err := filepath.Abs(pkg)
	if err != nil {
		return 0, 0, err
	}
	name, texts, spots, err := sources(abs)
	if err != nil {
		return 0, 0, err
	}
	chosen := draw(spots, number, b.seed)
	overlay, err := b.overlay(abs, name, mutated(texts, chosen))
	if err != nil {
		return 0, 0, err
	}
	for _, p := range append([]string{pkg}, others...) {
		if err := b.build(p, overlay); err != nil {
			return 0, 0, err
		}
	}
	own, by := 0, 0
	for i, s := range chosen {
		switch b.noticed(i + 1) {
		case "":
			fmt.Fprintf(b.w, "%s:%d: %s: nobody notices\n", filepath.Join(pkg, filepath.Base(s.file)), s.line, s.what)
		case pkg:
			own++
		default:
			by++
		}
	}
	fmt.Fprintf(b.w, "%s: %d of %d spots drawn; %d noticed by its own tests, %d by others, %d by none\n", pkg, len(chosen), len(spots), own, by, len(chosen)-own-by)
	return own + by, len(chosen), nil
}

// draw chooses spots that do not overlap.
func draw(spots []spot, number int, seed uint64) (chosen []spot) {
	r := rand.New(rand.NewPCG(seed, 1))
	for _, i := range r.Perm(len(spots)) {
		if len(chosen) == number {
			break
		}
		free := true
		for _, c := range chosen {
			free = free && (c.file != spots[i].file || c.to <= spots[i].from || spots[i].to <= c.from)
		}
		if free {
			chosen = append(chosen, spots[i])
		}
	}
	return chosen
}

// overlay writes the files, and the one that tells go build of them.
func (b *breaking) overlay(dir, name string, files map[string]string) (string, error) {
	files[filepath.Join(dir, "mutants_on.go")] = fmt.Sprintf(switchboard, name)
	replace := map[string]string{}
	for path, text := range files {
		to := filepath.Join(b.dir, filepath.Base(path))
		if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
			return "", err
		}
		replace[path] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	to := filepath.Join(b.dir, "overlay.json")
	return to, os.WriteFile(to, list, 0o666)
}

// build makes the test binary of a package and runs it without a mutant. Its slow
// tests are a suite of their own, for mutants that its quick ones do not notice.
func (b *breaking) build(pkg, overlay string) error {
	s := suite{name: pkg, binary: filepath.Join(b.dir, fmt.Sprintf("test%d", len(b.tests))), dir: pkg, limit: 20 * time.Minute}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	out, err := b.test(s, 0)
	if err != nil {
		return fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", pkg, err, out)
	}
	for _, part := range bySpeed(string(out)) {
		s.tests, s.limit = part.tests, 3*part.took+10*time.Second
		b.tests = append(b.tests, s)
	}
	return nil
}

// part is tests that run together: a pattern of their names, and their time.
type part struct {
	tests string
	took  time.Duration
}

// testPassed is a line of a verbose run: a test by its name, and its seconds.
var testPassed = regexp.MustCompile(`(?m)^--- PASS: (\w+) \(([0-9.]+s)\)$`)

// bySpeed parts the tests of a verbose run: first all that took less than a tenth
// of the time, then the others.
func bySpeed(out string) (parts []part) {
	times, all := map[string]time.Duration{}, time.Duration(0)
	for _, m := range testPassed.FindAllStringSubmatch(out, -1) {
		times[m[1]], _ = time.ParseDuration(m[2])
		all += times[m[1]]
	}
	for _, slow := range []bool{false, true} {
		var names []string
		took := time.Duration(0)
		for name, t := range times {
			if slow == (t > 0 && 10*t >= all) {
				names, took = append(names, name), took+t
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			parts = append(parts, part{"^(" + strings.Join(names, "|") + ")$", took})
		}
	}
	return parts
}

func (b *breaking) test(s suite, id int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	// A loop that never ends may take memory, too.
	args := []string{"-c", `ulimit -v 8000000; exec "$0" "$@"`, s.binary, "-test.failfast", "-test.run=" + s.tests}
	if id == 0 {
		args = append(args, "-test.v")
	}
	if b.skip != "" {
		args = append(args, "-test.skip="+b.skip)
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "MUTANT="+strconv.Itoa(id))
	return cmd.CombinedOutput()
}

// noticed is the package whose tests fail with a mutant.
func (b *breaking) noticed(id int) string {
	for _, s := range b.tests {
		if _, err := b.test(s, id); err != nil {
			return s.name
		}
	}
	return ""
}
