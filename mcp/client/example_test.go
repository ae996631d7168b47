package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

func Example() {
	// A server of somebody else's.
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	type who struct {
		Who string `json:"who"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "Greet somebody"}, func(_ context.Context, _ *sdk.CallToolRequest, a who) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello, " + a.Who}}}, nil, nil
	})
	at := httptest.NewServer(sdk.NewStreamableHTTPHandler(handler(server), nil))
	defer at.Close()

	pool, err := client.New(client.Config{Servers: []client.Server{{Name: "hi", URL: at.URL}}})
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	if _, err := pool.Test(context.Background(), "hi"); err != nil { // or Learn, which does not wait
		panic(err)
	}
	tools := pool.Tools()
	fmt.Println(tools[0].Name, tools[0].Tier)
	fmt.Println(pool.Run(context.Background(), utp.Call{Name: tools[0].Name, Args: []byte(`{"who":"you"}`)}).Text())
	// Output:
	// mcp__hi__greet RUN
	// hello, you
}
