package mcp_test

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

func Example() {
	tools := []utp.Tool{{Name: "greet", Schema: []byte(`{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}`)}}
	gate := &agent.Gate{
		Tools:   schema.Compile(tools),
		Confirm: mcp.Confirm,
		Runner: agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
			return utp.TextResult(c, utp.StatusOK, "hello: "+string(c.Args))
		}),
	}
	server, err := mcp.New(mcp.Config{Name: "greeter", Version: "1", Tools: tools, Tier: gate.Tier, Runner: gate})
	if err != nil {
		panic(err)
	}

	// A client in the same process; programs serve with server.Stdio(ctx).
	ctx := context.Background()
	here, there := sdk.NewInMemoryTransports()
	go server.Run(ctx, there)
	client, err := sdk.NewClient(&sdk.Implementation{Name: "me", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		panic(err)
	}
	defer client.Close()
	r, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "greet", Arguments: map[string]any{"who": "you"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Content[0].(*sdk.TextContent).Text, r.IsError)
	// Output: hello: {"who":"you"} false
}
