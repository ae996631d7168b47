package history_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
)

// A call that was interrupted gets a result before the user speaks on.
func Example() {
	lose := func(path, what, why string) { fmt.Println(path, what+":", why) }
	messages := history.Order([]utp.Message{
		{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Call{ID: "1", Name: "ls"}}},
		utp.NewText(utp.RoleUser, "Never mind."),
	}, nil, lose)
	for _, m := range messages {
		fmt.Println(m.Role)
	}
	fmt.Println(history.ResultText(messages[1].Results()[0]))
	// Output:
	// messages[0].parts[0] given a result: the call of ls has none
	// assistant
	// tool
	// user
	// ERROR: no result: the call was interrupted
}
