package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

// moreTools is the tool through which tools are found and called that are not
// listed.
const moreTools = "more_tools"

// describeMore is what the client sees of it.
func (s *Server) describeMore() *sdk.Tool {
	schema := fmt.Sprintf(`{"type":"object","properties":{`+
		`"tool":{"type":"string","description":"The tool to call","enum":%s},`+
		`"arguments":{"type":"object","description":"Its arguments"}}}`, names(s.others()))
	t, _ := describe(utp.Tool{Name: moreTools, Tier: s.tier, Schema: json.RawMessage(schema), // the schema is an object
		Description: "Further tools: " + strings.Join(toolNames(s.others()), ", ") +
			". Without arguments it tells what each is for and what it takes; with tool and arguments it calls one."})
	return t
}

// others are the tools that are there and not listed.
func (s *Server) others() (out []utp.Tool) {
	for _, t := range s.tools {
		if t.Tier <= s.tier && !s.isListed(t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// more reads a call of more_tools: the call in it, or what tells of all.
func (s *Server) more(c utp.Call) (inner *utp.Call, all utp.Result, err error) {
	var args struct {
		Tool      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, utp.TextResult(c, utp.StatusFailed, "want an object with tool and arguments: "+err.Error()), nil
	}
	if args.Tool == "" {
		return nil, utp.TextResult(c, utp.StatusOK, s.about()), nil
	}
	if args.Tool == moreTools {
		return nil, all, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: moreTools + " does not call itself"}
	}
	call := readCall(&sdk.CallToolParamsRaw{Name: args.Tool, Arguments: args.Arguments})
	return &call, all, nil
}

// about tells of the tools that are not listed.
func (s *Server) about() string {
	var b strings.Builder
	for _, t := range s.others() {
		schema := strings.TrimSpace(string(t.Schema))
		if schema == "" {
			schema = "{}"
		}
		fmt.Fprintf(&b, "%s: %s\narguments: %s\n\n", t.Name, strings.TrimSpace(t.Description), schema)
	}
	return strings.TrimSuffix(b.String(), "\n\n")
}

func toolNames(tools []utp.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// names is a list of names as JSON.
func names(tools []utp.Tool) string {
	b, err := json.Marshal(append([]string{}, toolNames(tools)...))
	if err != nil {
		panic(err) // a list of texts
	}
	return string(b)
}
