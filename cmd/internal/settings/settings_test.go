package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/settings"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
	}
	defer os.RemoveAll(dir)
	file, notes := filepath.Join(dir, "bx.toml"), filepath.Join(dir, "notes")
	_ = os.WriteFile(file, []byte("model = \"a\"\n"), 0o600)
	before, _ := settings.Remember(file)
	_ = settings.Replace(file, []byte("model = \"b\"\n"))
	_ = before.Keep(notes)
	_, changed, err := settings.TakeBack(notes)
	text, _ := os.ReadFile(file)
	fmt.Printf("%s%d %v\n", text, len(changed), err)
	// Output:
	// model = "a"
	// 0 <nil>
}

// Changes are taken back one by one, the last first; a file that was not there is
// gone again, and one that has changed since stays.
func TestTakeBack(t *testing.T) {
	dir := t.TempDir()
	notes, one, two := filepath.Join(dir, "notes"), filepath.Join(dir, "one"), filepath.Join(dir, "two")
	write := func(name, text string) {
		t.Helper()
		before, err := settings.Remember(one, two)
		if err == nil {
			err = errors.Join(settings.Replace(name, []byte(text)), before.Keep(notes))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(one, []byte("first\r\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	mode, err := os.Stat(one)
	if err != nil {
		t.Fatal(err)
	}
	write(one, "second")
	write(one, "second") // no change
	write(two, "new")
	if files, _, err := settings.TakeBack(notes); err != nil || len(files) != 1 || files[0] != two {
		t.Fatalf("%v, %v", files, err)
	}
	if _, err := os.Stat(two); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was not there before is there: %v", err)
	}
	if err := os.WriteFile(one, []byte("by hand"), 0o640); err != nil {
		t.Fatal(err)
	}
	if files, changed, err := settings.TakeBack(notes); err != nil || len(files) != 0 || len(changed) != 1 || changed[0] != one {
		t.Fatalf("%v, %v, %v", files, changed, err)
	}
	if err := settings.Replace(one, []byte("second")); err != nil {
		t.Fatal(err)
	}
	if _, changed, err := settings.TakeBack(notes); err != nil || len(changed) > 0 {
		t.Fatal(changed, err)
	}
	text, err := os.ReadFile(one)
	info, statErr := os.Stat(one)
	if err != nil || statErr != nil || string(text) != "first\r\n" || info.Mode() != mode.Mode() {
		t.Errorf("%q, %v, %v", text, info.Mode(), err)
	}
	if _, _, err := settings.TakeBack(notes); !errors.Is(err, settings.ErrNothing) {
		t.Errorf("%v, want ErrNothing", err)
	}
}
