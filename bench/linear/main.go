// Command linear reads the text of every case of the grammars, repeated until it
// has 1 MB, and again until it has 10 MB, in pieces of 64 bytes and of 64 KB, and
// compares the processor times. Ten times the text may take at most 14 times as long. It
// exits with 1 if a text takes longer in three tries.
//
//	go run ./linear [NAME…]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

const (
	cases = "../grammar/testdata/*/*.txtar"
	small = 1 << 20
	most  = 14.0 // times the time of small, for ten times the text
	tries = 3
	least = 200 * time.Microsecond // below that a time says nothing
)

// pieces are of so many bytes: what a stream brings, and what is read of a file.
var pieces = []int{64, 64 << 10}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "linear:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	files, err := filepath.Glob(cases)
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("no cases at %s: run it in the folder bench", cases))
	}
	ran, slow, worst := 0, 0, 0.0
	for _, file := range files {
		if !chosen(file, names) {
			continue
		}
		cfg, text, err := read(file)
		if err != nil {
			return err
		}
		ran++
		for _, at := range pieces {
			ratio := compare(cfg, text, at)
			worst = max(worst, ratio)
			if ratio > most {
				slow++
				fmt.Printf("%s, pieces of %d: 10 MB take %.1f times as long as 1 MB\n", file, at, ratio)
			}
		}
	}
	fmt.Printf("%d texts: 10 MB take at most %.1f times as long as 1 MB; bound %.0f\n", ran, worst, most)
	if slow > 0 || ran == 0 {
		return fmt.Errorf("%d of %d are too slow", slow, len(pieces)*ran)
	}
	return nil
}

func chosen(file string, names []string) bool {
	for _, name := range names {
		if strings.Contains(file, name) {
			return true
		}
	}
	return len(names) == 0
}

// read returns a case as a configuration and a text.
func read(file string) (cfg parse.Config, text string, err error) {
	c, err := golden.Read(file)
	if err != nil {
		return cfg, "", err
	}
	var tools []utp.Tool
	if list := strings.TrimSpace(c.Get("tools")); strings.HasPrefix(list, "[") {
		err = json.Unmarshal([]byte(list), &tools)
	} else {
		for _, name := range strings.Fields(list) {
			tools = append(tools, utp.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
		}
	}
	cfg = parse.Config{Tools: schema.Compile(tools), Prefill: c.Get("prefill"), Forced: c.Get("forced"), Seen: []string{c.Get("seen")}}
	if g, ok := grammar.ByName(filepath.Base(filepath.Dir(file))); ok {
		cfg.Grammars = []*grammar.Grammar{g}
	}
	return cfg, c.Get("in"), err
}

// compare returns how many times as long ten times the text takes, the least of
// some tries if it is much.
func compare(cfg parse.Config, text string, at int) (ratio float64) {
	short := strings.Repeat(text, small/max(len(text), 1)+1)
	long := strings.Repeat(short, 10)
	for try := range tries {
		r := float64(took(cfg, long, at)) / float64(max(took(cfg, short, at), least))
		if try == 0 || r < ratio {
			ratio = r
		}
		if ratio <= most {
			break
		}
	}
	return ratio
}

func took(cfg parse.Config, text string, at int) time.Duration {
	began := processorTime()
	p := parse.New(cfg)
	for len(text) > 0 {
		n := min(at, len(text))
		p.Feed(text[:n])
		text = text[n:]
	}
	p.Close(false)
	return processorTime() - began
}

// processorTime is what this process has had so far: other work on the machine does
// not count.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
