package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

// asClient are the scenarios in which the suite is the server, and the package
// mcp/client its client.
var asClient = []string{"initialize", "tools_call", "sse-retry", "auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3",
	"auth/basic-cimd", "auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined", "auth/scope-step-up",
	"auth/scope-retry-limit", "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none", "auth/pre-registration",
	"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback", "auth/resource-mismatch", "auth/offline-access-scope",
	"auth/offline-access-not-supported"}

// scenarioVariable is how the suite tells its client the scenario.
const scenarioVariable = "MCP_CONFORMANCE_SCENARIO"

// client runs a scenario of the suite with this very program as the client.
func (s *scenarios) client(name string) (told string, ok bool) {
	self, err := os.Executable()
	if err != nil {
		return err.Error(), false
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.node, s.program, "client", "--command", self, "--scenario", name).CombinedOutput()
	return string(out), err == nil && passes(out)
}

// serveSuite is a client of the suite's server: it lists the tools and calls the one
// that the scenario is about.
func serveSuite(scenario, url string) error {
	calls := map[string]utp.Call{
		"tools_call": {Name: "add_numbers", Args: json.RawMessage(`{"a":5,"b":3}`)},
		"sse-retry":  {Name: "test_reconnection", Args: json.RawMessage(`{}`)},
	}
	s := client.Server{Name: "suite", URL: url}
	call, known := calls[scenario]
	if !known && scenario != "initialize" {
		call, s.OAuth = utp.Call{Name: "test-tool", Args: json.RawMessage(`{}`)}, registered()
	}
	p, err := client.New(client.Config{Servers: []client.Server{s}, Version: "conformance", Env: os.Getenv, Login: visit,
		Warn: func(text string) { fmt.Fprintln(os.Stderr, text) }})
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	if _, err := p.Test(ctx, "suite"); err != nil {
		return err
	}
	if call.Name == "" {
		return nil
	}
	p.Tools() // what a model is offered
	call.Name = client.ToolName("suite", call.Name)
	if r := p.Run(ctx, call); r.Status != utp.StatusOK {
		return errors.New(r.Text())
	}
	return nil
}

// registered is as whom the suite wants a login.
func registered() *client.OAuth {
	var c struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &c) // most scenarios have none
	return &client.OAuth{ClientID: c.ID, ClientSecret: c.Secret}
}

// visit is a browser whose user says yes.
func visit(_ context.Context, p client.Page) error {
	resp, err := http.Get(p.URL)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
