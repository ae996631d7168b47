// Command mcp runs the conformance suite of MCP's authors against bx mcp serve, as
// it is shipped, against a server made of the package mcp with the tools that
// the suite wants, and against the package mcp/client. Then clients made of the TypeScript and the Python SDK use all
// that bx mcp serve offers.
//
//	go -C sdktest run ./mcp [-node PROGRAM] [-dir DIR] [SCENARIO…]
//
// It needs Node 22 and Python 3. What is known to fail, and why, stands in the table lacks; any
// other failure, and a success of one of these, ends in an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// What is installed for it.
const (
	suite      = "@modelcontextprotocol/conformance@0.1.16"
	typeScript = "@modelcontextprotocol/sdk@1.32.2"
	python     = "mcp==2.3.0"
)

// shipped are the scenarios that bx itself must pass.
var shipped = []string{"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"}

// others are those that need tools of certain names.
var others = []string{"logging-set-level", "completion-complete", "tools-call-simple-text", "tools-call-image", "tools-call-audio",
	"tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-with-logging", "tools-call-error", "tools-call-with-progress",
	"tools-call-sampling", "tools-call-elicitation", "json-schema-2020-12", "elicitation-sep1034-defaults", "server-sse-polling",
	"server-sse-multiple-streams", "elicitation-sep1330-enums", "resources-read-text", "resources-read-binary", "resources-templates-read",
	"resources-subscribe", "resources-unsubscribe", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource",
	"prompts-get-with-image"}

// lacks are the scenarios that our server or client does not pass, and why.
// docs/mcp.md has the same list.
var lacks = map[string]string{
	"tools-call-with-logging":      "no log for clients: what a call has to say is in its result",
	"tools-call-sampling":          "the server asks no model of the client's",
	"completion-complete":          "no completion of arguments",
	"tools-call-elicitation":       "one question is asked, whether a call may run, and the suite's client answers another one",
	"elicitation-sep1034-defaults": "one question is asked, whether a call may run; it has no default",
	"elicitation-sep1330-enums":    "one question is asked, whether a call may run",
	"server-sse-polling":           "no event is kept for a client that comes back for it",
	"resources-subscribe":          "the list of resources is watched, and no single one",
	"resources-unsubscribe":        "the list of resources is watched, and no single one",

	"auth/basic-cimd": "bx has no page on the web that is its client id: it registers",
	"auth/2025-03-26-oauth-metadata-backcompat": "the suite's metadata names another issuer than the server that they were asked of, which RFC 8414 (3.3) has a client refuse",
}

func main() {
	if name := os.Getenv(scenarioVariable); name != "" { // the suite has started its client
		if err := serveSuite(name, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	node := flag.String("node", "node", "the `PROGRAM` of Node 22")
	dir := flag.String("dir", filepath.Join(cache, "bx-mcp"), "where the suite is installed")
	flag.Parse()
	if err := run(*dir, *node, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, node string, only []string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if out, err := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", suite, typeScript).CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	s := &scenarios{node: node, program: filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"), only: only}
	bx := filepath.Join(dir, "bx")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", bx, "./cmd/bx").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	at, stop, err := serveBx(bx, "--root", "..")
	if err != nil {
		return err
	}
	defer stop()
	proxy := withKey(at)
	defer proxy.Close()
	fmt.Println("bx mcp serve:")
	s.all(shipped, s.server(proxy.URL))
	made := httptest.NewServer(testServer())
	defer made.Close()
	fmt.Println("a server made of the package mcp:")
	s.all(others, s.server(made.URL))
	fmt.Println("the package mcp/client:")
	s.all(asClient, s.client)
	if len(only) > 0 {
		return errors.Join(s.wrong...)
	}
	return errors.Join(append(s.wrong, clients(dir, node, bx))...)
}

// patience is how long a scenario may take, on a machine that has other work.
const patience = 3 * time.Minute

// scenarios is a run of the suite.
type scenarios struct {
	node, program string
	only          []string
	wrong         []error
}

func (s *scenarios) all(names []string, one func(name string) (told string, ok bool)) {
	for _, name := range names {
		if len(s.only) > 0 && !slices.Contains(s.only, name) {
			continue
		}
		told, ok := one(name)
		why, known := lacks[name]
		switch {
		case ok && known:
			s.wrong = append(s.wrong, fmt.Errorf("%s passes: take it off the list", name))
		case !ok && !known:
			s.wrong = append(s.wrong, fmt.Errorf("%s: %s", name, told))
			why = "not expected"
		}
		result := "ok"
		if !ok {
			result = "fails: " + why
		}
		fmt.Printf("  %-30s %s\n", name, result)
	}
}

var passed = regexp.MustCompile(`Passed: (\d+)/(\d+), 0 failed, 0 warnings`)

// server runs a scenario of the suite as the client of a server.
func (s *scenarios) server(at string) func(name string) (told string, ok bool) {
	return func(name string) (string, bool) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		out, err := exec.CommandContext(ctx, s.node, s.program, "server", "--url", strings.Replace(at, "127.0.0.1", "localhost", 1)+"/mcp", "--scenario", name).CombinedOutput()
		return string(out), err == nil && passes(out)
	}
}

// passes reports that the suite counted successes and nothing else.
func passes(out []byte) bool {
	found := passed.FindSubmatch(out)
	return found != nil && string(found[1]) == string(found[2]) && string(found[1]) != "0"
}

// key is what the suite cannot send.
const key = "the key of the conformance suite"

// withKey is a proxy that sends the key.
func withKey(at string) *httptest.Server {
	to, err := url.Parse(at)
	if err != nil {
		panic(err) // serveBx has made it
	}
	return httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-API-Key", key)
	}})
}

// serveBx starts bx mcp serve over HTTP.
func serveBx(bx string, flags ...string) (at string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	free := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	cmd := exec.Command(bx, append([]string{"mcp", "serve", "--quiet", "--listen", free}, flags...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "BX_MCP_KEY="+key), os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	for range 200 {
		if resp, err := http.Get("http://" + free + "/health"); err == nil {
			return "http://" + free, stop, resp.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return "", nil, errors.New("bx mcp serve does not answer")
}
