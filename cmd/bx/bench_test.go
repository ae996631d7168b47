package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStart compares the start of bx with that of a program that does
// nothing but print.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, program := range []struct{ name, source, arg string }{{"bx", ".", "--version"}, {"hello", hello, ""}} {
		b.Run(program.name, func(b *testing.B) {
			bin := filepath.Join(dir, program.name+".exe")
			if out, err := exec.Command("go", "build", "-o", bin, program.source).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			for b.Loop() {
				if err := exec.Command(bin, program.arg).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAnswer asks a question about this repository by search alone, with
// a new index each time.
func BenchmarkAnswer(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "bx.exe")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		cmd := exec.Command(bin, "--no-model", "--no-session", "--root", filepath.Join("..", ".."), "Where are tool calls parsed?")
		cmd.Env = environment(b.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}
