package contract_test

import (
	"os"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

// Every tag of this module names a row of the page and stands at a test, and every
// row has a test or says what it waits for.
func TestTagsOfThisModule(t *testing.T) {
	page, err := os.ReadFile("../../docs/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := contract.Rows(string(page))
	if err != nil {
		t.Fatal(err)
	}
	carriers, err := contract.Collect(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	none, err := contract.ReadOutcomes("", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	report := contract.Join(rows, carriers, none)
	report.Hold(contract.Waiting())
	for _, s := range report.Strange {
		t.Error(s)
	}
}
