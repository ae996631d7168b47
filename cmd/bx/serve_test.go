package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// running is a bx serve that a script has started.
type running struct {
	cmd *exec.Cmd
	url string
	mu  sync.Mutex
	log bytes.Buffer
}

type runningKey struct{}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

func (r *running) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// wait waits until the log has what matches.
func (r *running) wait(ts *testscript.TestScript, pattern *regexp.Regexp) []string {
	for range 1000 {
		if found := pattern.FindStringSubmatch(r.text()); found != nil {
			return found
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("bx serve did not say %q: %s", pattern, r.text())
	return nil
}

var (
	servingAt = regexp.MustCompile(`serving at (http://\S+)`)
	linkTo    = regexp.MustCompile(`(http://\S+)/ui/#(\w+)`)
	boardAt   = regexp.MustCompile(`dashboard at (http://\S+)/ui/`)
)

// cmdServe is the script command
//
//	serve ARG…     start bx serve at a free port, with what fake has set; serve mcp ARG…: bx mcp serve; serve dash: bx dash
//	serve-says RE  wait until it has said so on standard error
//	serve-stop     interrupt it, and print what it has said
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	bx, err := filepath.Abs(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "bx"))
	ts.Check(err)
	words := []string{"serve", "--listen", "127.0.0.1:0"}
	if len(args) > 0 && args[0] == "mcp" {
		words, args = append([]string{"mcp"}, words...), args[1:]
	}
	says := servingAt
	if len(args) > 0 && args[0] == "dash" {
		words[0], args, says = "dash", args[1:], linkTo
	}
	r := &running{cmd: exec.Command(bx, append(words, args...)...)}
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr = ts.MkAbs("."), r, r
	r.cmd.Env = environment(filepath.Join(ts.Getenv("WORK"), "home"))
	for _, name := range []string{"OLLAMA_HOST", "OPENAI_BASE_URL", "CLOUD_KEY", "GOGC", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "BX_MCP_KEY"} {
		if v := ts.Getenv(name); v != "" {
			r.cmd.Env = append(r.cmd.Env, name+"="+v)
		}
	}
	ts.Check(r.cmd.Start())
	ts.Defer(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	r.url = strings.TrimSuffix(r.wait(ts, says)[1], "/mcp")
	ts.Value(runningKey{}).(*holder).r = r
}

type holder struct{ r *running }

// url is where it serves; "" is nowhere.
func (h *holder) url() string {
	if h.r == nil {
		return ""
	}
	return h.r.url
}

func cmdServeSays(ts *testscript.TestScript, neg bool, args []string) {
	ts.Value(runningKey{}).(*holder).r.wait(ts, regexp.MustCompile(strings.Join(args, " ")))
}

func cmdServeStop(ts *testscript.TestScript, neg bool, args []string) {
	r := ts.Value(runningKey{}).(*holder).r
	ts.Check(r.cmd.Process.Signal(os.Interrupt))
	ts.Check(r.cmd.Wait())
	fmt.Fprint(ts.Stdout(), r.text())
}

// cmdHTTP is the script command
//
//	http METHOD PATH [FILE] [NAME:VALUE]…
//
// It asks bx serve, with $WORK/FILE as body, and prints the status, the cookies
// that are set, and the answer. /ui is asked for at the listener of the
// dashboard, where there is one, and LINK in a body is the token of the last link.
func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: http METHOD PATH [FILE] [NAME:VALUE]…")
	}
	var body io.Reader
	header := http.Header{}
	for _, a := range args[2:] {
		if name, value, found := strings.Cut(a, ":"); found {
			if file, found := strings.CutPrefix(value, "@"); found { // of the script's folder
				value = ts.ReadFile(file)
			}
			header.Set(name, strings.TrimSpace(value))
		} else {
			body = strings.NewReader(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), a)))
		}
	}
	r := ts.Value(runningKey{}).(*holder).r
	base := r.url
	if board := boardAt.FindStringSubmatch(r.text()); board != nil && strings.HasPrefix(args[1], "/ui") {
		base = board[1]
	}
	if links := linkTo.FindAllStringSubmatch(r.text(), -1); links != nil && body != nil {
		text, err := io.ReadAll(body)
		ts.Check(err)
		body = strings.NewReader(strings.ReplaceAll(string(text), "LINK", links[len(links)-1][2]))
	}
	req, err := http.NewRequest(args[0], base+args[1], body)
	ts.Check(err)
	req.Header = header
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n%s\n", resp.Status, strings.Join(resp.Header["Set-Cookie"], "\n"), text)
	if form := resp.Header.Get("X-Bx-Form"); form != "" {
		fmt.Fprintf(ts.Stderr(), "X-Bx-Form: %s\n", form)
	}
}
