package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

const requirements = "docs/requirements.md"

// rowsAndCarriers reads the page and the tags below the current folder, which
// is the module's root.
func rowsAndCarriers() ([]contract.Row, []contract.Carrier, error) {
	page, err := os.ReadFile(requirements)
	if err != nil {
		return nil, nil, fmt.Errorf("%w (run this in the module's root)", err)
	}
	rows, err := contract.Rows(string(page))
	if err != nil {
		return nil, nil, err
	}
	carriers, err := contract.Collect(os.DirFS("."))
	return rows, carriers, err
}

// test runs the packages' tests once. That some of them fail is no error.
func test(packages ...string) (*contract.Outcomes, error) {
	module, err := output("go", "list", "-m")
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "go test", strings.Join(packages, " "))
	cmd := exec.Command("go", append([]string{"test", "-json", "-timeout=20m"}, packages...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	return contract.ReadOutcomes(strings.TrimSpace(module), &out)
}

func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
