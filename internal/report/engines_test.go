package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A step runs once, and again when what it depends on changes or what it made is gone.
func TestEnginesAreMadeOnce(t *testing.T) {
	source, cache := t.TempDir(), filepath.Join(t.TempDir(), "new")
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	steps := []step{
		{name: "first", inputs: []string{"in"}, makes: []string{"one"}, script: `cp "$SRC/in" one; echo >>first.log`},
		{name: "second", after: []string{"first"}, makes: []string{"two"}, script: `cat one one >two; echo >>second.log`},
		{name: "apart", script: `echo >>apart.log`},
	}
	write(source, "in", "a")
	for _, c := range []struct {
		change               func()
		first, second, apart int // how often each has run
	}{
		{func() {}, 1, 1, 1},
		{func() {}, 1, 1, 1},
		{func() { write(source, "in", "b") }, 2, 2, 1},
		{func() { os.Remove(filepath.Join(cache, "two")) }, 2, 3, 1},
		{func() { steps[0].script += "; true" }, 3, 4, 1},
	} {
		c.change()
		if err := makeAll(io.Discard, steps, source, cache); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]int{"first": c.first, "second": c.second, "apart": c.apart} {
			log, err := os.ReadFile(filepath.Join(cache, name+".log"))
			if err != nil || len(log) != want {
				t.Errorf("%s ran %d times, want %d (%v)", name, len(log), want, err)
			}
		}
	}
	if two, err := os.ReadFile(filepath.Join(cache, "two")); string(two) != "bb" {
		t.Errorf("two = %q, %v", two, err)
	}
}

// Two at a time do not do the same work twice, nor write over each other's files.
func TestEnginesWaitForEachOther(t *testing.T) {
	cache, begun, errs := t.TempDir(), make(chan struct{}, 1), make(chan error, 2)
	only := []step{{name: "it", script: `echo >>log; while [ ! -e go ]; do sleep .01; done`}}
	first := writerFunc(func() {
		select {
		case begun <- struct{}{}:
		default:
		}
	})
	go func() { errs <- makeAll(first, only, cache, cache) }()
	<-begun
	second := writerFunc(func() { _ = os.WriteFile(filepath.Join(cache, "go"), nil, 0o666) })
	go func() { errs <- makeAll(second, only, cache, cache) }()
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if log, err := os.ReadFile(filepath.Join(cache, "log")); err != nil || len(log) != 1 {
		t.Errorf("it ran %d times (%v)", len(log), err)
	}
}

// writerFunc is called for each write.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) { f(); return len(p), nil }

func TestEnginesFail(t *testing.T) {
	for name, c := range map[string]struct {
		step step
		want string
	}{
		"program": {step{needs: []string{"bash", "no-such-compiler"}}, "needs no-such-compiler, which is not installed: on Debian, apt-get install no-such-compiler"},
		"script":  {step{script: "exit 3"}, "exit status 3"},
		"pipe":    {step{script: "false; true"}, "exit status 1"},
		"result":  {step{makes: []string{"model"}, script: "true"}, "did not make model"},
		"input":   {step{inputs: []string{"none.py"}}, "none.py"},
	} {
		c.step.name = "it"
		cache := t.TempDir()
		for range 2 {
			if err := makeAll(io.Discard, []step{c.step}, cache, cache); err == nil || !strings.Contains(err.Error(), "engines: it: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
	}
}

// What the steps name is there: their inputs, and each step before those that need it.
func TestEngineStepsAreWhole(t *testing.T) {
	known := map[string]string{}
	for _, s := range steps {
		key, err := s.key(filepath.Join("..", "..", "engines"), known)
		if err != nil {
			t.Error(err)
		}
		for _, name := range s.after {
			if known[name] == "" {
				t.Errorf("%s comes after %s, which does not come before it", s.name, name)
			}
		}
		known[s.name] = key
	}
}
