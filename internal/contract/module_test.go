package contract_test

import (
	"os"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

// Every tag of this module names a row of the page and stands at a test.
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
	for _, s := range contract.Join(rows, carriers, none).Strange {
		t.Error(s)
	}
}
