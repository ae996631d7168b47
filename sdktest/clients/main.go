// Command clients runs coding agents of other vendors, as they are published,
// through bx serve. Each is asked for a word in a file, and only who runs its call
// finds it.
//
//	go -C sdktest run ./clients [-grammar NAME] [-dir DIR] [CLIENT…]
//	go -C sdktest run ./clients -against ollama|llama|both [-engines DIR] [-dir DIR] [CLIENT…]
//	go -C sdktest run ./clients -mcp [-dir DIR] [CLIENT…]
//	go -C sdktest run ./clients -probe PROGRAM [-dir DIR] [GRAMMAR…]
//
// The model is a script that prints its calls as text (bx mock), or with -against a
// tiny one behind a real server: make engines makes both. PROGRAM is canitoolcall,
// which asks nine questions, each without a stream and with one. With -mcp the
// agents are asked for nothing but their MCP servers, which bx mcp install has
// written into their configuration.
//
// The agents are about 1.6 GB, kept in DIR for the next run. It needs node and git.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	cache, _ := os.UserCacheDir()
	cache = cmp.Or(cache, os.TempDir())
	name := flag.String("grammar", "hermes", "the dialect in which the script calls: bx grammar list names them")
	against := flag.String("against", "", "ask real models behind this server: ollama, llama or both")
	program := flag.String("probe", "", "run the live probe of this canitoolcall `PROGRAM` instead, in the dialects that are named or all it is for")
	built := flag.String("engines", filepath.Join(cache, "bx-engines"), "where make engines has put the servers")
	servers := flag.Bool("mcp", false, "try bx mcp install and uninstall instead")
	dir := flag.String("dir", filepath.Join(cache, "bx-clients"), "where the agents are installed")
	flag.Parse()
	if err := run(*dir, *name, *against, *built, *program, *servers, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, dialect, against, built, program string, servers bool, names []string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	bx := filepath.Join(dir, "bx")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", bx, "./cmd/bx").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	if servers {
		return listAll(dir, bx, names)
	}
	if program != "" {
		return probeAll(dir, bx, program, names)
	}
	if against == "" {
		return scripted(dir, bx, dialect, names)
	}
	if _, err := os.Stat(filepath.Join(built, "plain.mf")); err != nil {
		return fmt.Errorf("no model servers in %s: make engines builds them", built)
	}
	return meetAll(dir, bx, built, against, names)
}
