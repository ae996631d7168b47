package rule_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/rule"
)

func Example() {
	rules := rule.Set{
		{Tool: "shell", Command: "go test", Decision: rule.Allow, From: "bx.toml:3"},
		{Tool: "shell", Command: "git push", Decision: rule.Deny, Reason: "people push"},
	}
	for _, command := range []string{"go test ./...", "go test ./... > out.txt", "git push"} {
		v := rules.Decide(rule.Query{Tool: "shell", Command: command, Root: "/src/repo"})
		fmt.Printf("%s: %s %s\n", command, v.Decision, v.Why)
	}
	// Output:
	// go test ./...: allow bx.toml:3
	// go test ./... > out.txt: ask there are rules about commands, and what this one runs cannot be told
	// git push: deny people push
}
