package template_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/internal/template"
)

func Example() {
	s := template.Must(template.New("greeting", "{{range .}}Hello, {{.}}.\n{{end}}"))
	text, _ := s.Execute("greeting", []string{"Ann", "Bo"})
	fmt.Print(text)
	// Output:
	// Hello, Ann.
	// Hello, Bo.
}
