package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// TestMain serves on standard input and output when a test asks for that.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_TEST_SERVE") == "" {
		os.Exit(m.Run())
	}
	srv, err := mcp.New(config(&script{}, agent.Gate{Tier: utp.TierWalk}))
	if err == nil {
		err = srv.Stdio(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compiled() *schema.Set { return schema.Compile(tools) }

func config(run agent.Runner, g agent.Gate) mcp.Config {
	g.Tools, g.Runner, g.Confirm = compiled(), run, mcp.Confirm
	return mcp.Config{Name: "bx", Version: "1", Tools: tools, Tier: g.Tier, Runner: &g}
}

// contract: C-09 C-13 A-25
func TestStdioSaysNothingOnStderr(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MCP_TEST_SERVE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if r := call(t, client, "search_code", map[string]any{"query": "x"}); r.IsError {
		t.Error(text(r))
	}
	call(t, client, "write_file", write)
	client.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"})
	if err := client.Close(); err != nil {
		t.Error("closing:", err)
	}
	if !cmd.ProcessState.Success() {
		t.Error("the server ended with", cmd.ProcessState)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
}

// wire is a client that writes JSON lines by hand.
type wire struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	end chan error
}

func dial(t *testing.T, g agent.Gate) (*wire, *script) {
	t.Helper()
	run := &script{}
	srv, err := mcp.New(config(run, g))
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &wire{t, inW, bufio.NewReader(outR), make(chan error, 1)}
	go func() { w.end <- srv.Serve(context.Background(), inR, outW) }()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	if line := w.recv(); !strings.Contains(line, `"protocolVersion":"2025-06-18"`) || !strings.Contains(line, "Paths are relative") {
		t.Errorf("handshake: %s", line)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w, run
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) recv() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return line
}

func (w *wire) close() {
	w.t.Helper()
	w.in.Close()
	if err := <-w.end; err != nil {
		w.t.Error("the client left, and the server says:", err)
	}
}

// contract: C-09 C-12
func TestSchemasPassByteForByte(t *testing.T) {
	w, _ := dial(t, agent.Gate{Tier: utp.TierRun})
	defer w.close()
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	line := w.recv()
	if !strings.Contains(line, `"inputSchema":`+writeSchema) {
		t.Errorf("the schema was changed on its way:\nwant %s\nin   %s", writeSchema, line)
	}
	var list struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(line), &list); err != nil || len(list.Result.Tools) != 4 {
		t.Errorf("%d tools, %v", len(list.Result.Tools), err)
	}
}

// The handshake protocols ask in the middle of the call.
//
// contract: C-09 X-08
func TestElicitationInOlderProtocols(t *testing.T) {
	for _, c := range []struct {
		answer string
		writes int
		want   string
	}{
		{`{"action":"accept","content":{"run":true}}`, 1, "written"},
		{`{"action":"decline"}`, 0, `"isError":true`},
	} {
		w, run := dial(t, agent.Gate{Tier: utp.TierRun})
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a.txt","content":"hi"}}}`)
		var ask struct {
			ID     json.RawMessage
			Method string
			Params struct{ Message string }
		}
		line := w.recv()
		if err := json.Unmarshal([]byte(line), &ask); err != nil || ask.Method != "elicitation/create" || !strings.Contains(ask.Params.Message, "write_file") {
			t.Fatalf("no question: %s", line)
		}
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, ask.ID, c.answer))
		if line := w.recv(); !strings.Contains(line, c.want) || run.writes != c.writes {
			t.Errorf("%s: %d writes, %s", c.answer, run.writes, line)
		}
		w.close()
	}
}

// contract: C-09
func TestRunEndsWithItsContext(t *testing.T) {
	srv, err := mcp.New(config(&script{}, agent.Gate{}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := io.Pipe()
	_, w := io.Pipe()
	end := make(chan error, 1)
	go func() { end <- srv.Serve(ctx, r, w) }()
	cancel()
	if err := <-end; err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("cancelled: %v", err)
	}
}

// What a client asked before its input ended is answered, with the time that
// this took; what takes too long, and what waits for the client, is ended.
//
// contract: C-09
func TestTheInputEndsBeforeTheAnswers(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	const stats = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stats","arguments":{}}}` + "\n"
	const open = "open" // the input does not end
	for _, c := range []struct {
		name, sent string
		runs, told time.Duration // the tool; until somebody ends the server
		want       string        // in the last answer
		took       time.Duration
		err        string
	}{
		{"nothing is open", hello, 0, time.Hour, `"serverInfo"`, 0, ""},
		{"calls", hello + stats + strings.Replace(stats, `"id":2`, `"id":3`, 1), 13 * time.Second, time.Hour, `"done"`, 13 * time.Second, ""},
		{"too long", hello + stats, time.Minute, time.Hour, `"serverInfo"`, 30 * time.Second, "the input ended 30 s ago, and 1 of its requests have no answer yet"},
		{"the server ends", hello + stats, time.Minute, 2 * time.Second, `"serverInfo"`, 2 * time.Second, "context deadline exceeded"},
		{"the server ends first", hello + stats + open, time.Minute, 2 * time.Second, `"serverInfo"`, 2 * time.Second, "context deadline exceeded"},
		{"a question", hello + strings.Replace(stats, `"stats","arguments":{}`, `"write_file","arguments":{"path":"a.txt","content":"hi"}`, 1), 0, time.Hour, "its input has ended", 0, ""},
		{"a subscription", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},` + stateless + `}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stats","arguments":{},` + stateless + "}}\n", 13 * time.Second, time.Hour, `"done"`, 13 * time.Second, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := config(silent{c.runs}, agent.Gate{Tier: utp.TierRun})
				set.Resources = &mcp.Resources{Base: "file:///src/", List: func() []mcp.Resource { return nil }, Reader: silent{}}
				srv, err := mcp.New(set)
				if err != nil {
					t.Fatal(err)
				}
				var out lockedBuffer
				ctx, cancel := context.WithTimeout(t.Context(), c.told)
				defer cancel()
				start := time.Now()
				sent, still := strings.CutSuffix(c.sent, open)
				in := io.Reader(strings.NewReader(sent))
				if still {
					more, w := io.Pipe()
					defer w.Close()
					in = io.MultiReader(in, more)
				}
				err = srv.Serve(ctx, io.NopCloser(in), &out)
				if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("the end is %v, want %q", err, c.err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				lines := strings.Split(strings.TrimSpace(out.String()), "\n")
				if last := lines[len(lines)-1]; !strings.Contains(last, c.want) {
					t.Errorf("the last answer is %s, want %s in it", last, c.want)
				}
			})
		})
	}
}

const stateless = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *lockedBuffer) Close() error { return nil }
