package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

// Prompt is a question that a user can pick in a client.
type Prompt struct {
	Name, Title, Description string
	Arguments                []Argument
	// Parts is what the client's model is asked, a message each.
	Parts func(ctx context.Context, args map[string]string) ([]utp.Part, error)
}

// Argument is what a user fills in.
type Argument struct {
	Name, Description string
	Required          bool
}

// promptsOf is nil where there are none, so that no client asks for them.
func promptsOf(c Config) *sdk.PromptCapabilities {
	if len(c.Prompts) == 0 {
		return nil
	}
	return &sdk.PromptCapabilities{}
}

func (s *Server) addPrompts(all []Prompt) {
	for _, p := range all {
		listed := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			listed.Arguments = append(listed.Arguments, &sdk.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		s.sdk.AddPrompt(listed, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return p.get(s.rooted(ctx, req.Session), req.Params.Arguments)
		})
	}
}

func (p Prompt) get(ctx context.Context, args map[string]string) (*sdk.GetPromptResult, error) {
	for _, a := range p.Arguments {
		if a.Required && args[a.Name] == "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("prompt %s needs the argument %s: %s", p.Name, a.Name, a.Description)}
		}
	}
	parts, err := p.Parts(ctx, args)
	if err != nil {
		return nil, err
	}
	out := &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{}}
	for _, part := range parts {
		if c := content(part); c != nil {
			out.Messages = append(out.Messages, &sdk.PromptMessage{Role: "user", Content: c})
		}
	}
	return out, nil
}
