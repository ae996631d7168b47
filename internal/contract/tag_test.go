package contract_test

import (
	"slices"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

func TestTags(t *testing.T) {
	for comment, want := range map[string][]string{
		"contract: P-08":         {"P-08"},
		"// contract: P-08 P-09": {"P-08", "P-09"},
		"# contract: 4.1, C1\r\n# contract: UAT-4.1 4.10": {"UAT-4.1", "UAT-C1", "UAT-4.10"},
		"about\n\tcontract:\tT-01":                        {"T-01"},
		"contract: P-8 CON-12":                            {"P-08", "CON-12"},
		"the contract: P-08":                              nil,
		"// contract:":                                    nil,
		"":                                                nil,
	} {
		if got := contract.Tags(comment); !slices.Equal(got, want) {
			t.Errorf("Tags(%q) = %q, want %q", comment, got, want)
		}
	}
}
