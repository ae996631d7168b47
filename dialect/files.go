package dialect

import (
	"fmt"
	"os"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Files loads dialects from files with Load, for parse.Config.More. Its error names the
// file.
func Files(names ...string) (list []*grammar.Grammar, err error) {
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("dialect: %w", err)
		}
		g, err := Load(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, g)
	}
	return list, nil
}
