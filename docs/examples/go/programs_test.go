// Package programs holds the programs of docs/go.md to what the page says of them.
package programs

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// model is a server with OpenAI's API whose model writes its calls into the text.
func model(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		text := "Hello."
		switch {
		case bytes.Contains(body, []byte("Oslo: rain")):
			text = "Yes, take a coat."
		case bytes.Contains(body, []byte(`"sky"`)):
			text = `<tool_call>{"name": "sky", "arguments": {"City": "Oslo"}}</tool_call>`
		case bytes.Contains(body, []byte(`"weather"`)):
			text = `I look. <tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>`
		}
		if !bytes.Contains(body, []byte(`"stream":true`)) {
			fmt.Fprintf(w, `{"id":"c1","model":"m","choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, text)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range strings.SplitAfter(text, " ") {
			fmt.Fprintf(w, "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

var dir string // of the built programs

func TestMain(m *testing.M) {
	dir, _ = os.MkdirTemp("", "programs")
	out, err := exec.Command("go", "build", "-o", dir+"/", "./...").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func TestProgramsDoWhatTheySay(t *testing.T) {
	for name, want := range map[string][]string{
		"stream":    {"I look. ", `weather {"city":"Oslo"}`},
		"dialect":   {`mine now {"zone":"UTC"}`, "trailing comma"},
		"translate": {"event: message_start", `"text":"Hello."`, "event: message_stop"},
		"agent":     {"Yes, take a coat."},
	} {
		out, err := exec.Command(filepath.Join(dir, name), model(t)).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s does not say %q:\n%s", name, w, out)
			}
		}
	}
}

func TestGatewayServes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	p := exec.Command(filepath.Join(dir, "gateway"), model(t), address)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Process.Kill(); _ = p.Wait() }()
	ask := `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`
	for range 100 {
		resp, err := http.Post("http://"+address+"/models/v1/messages", "application/json", strings.NewReader(ask))
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !bytes.Contains(body, []byte(`"content":[{"type":"text","text":"Hello."}]`)) {
			t.Errorf("%s: %s", resp.Status, body)
		}
		return
	}
	t.Fatal("the gateway does not answer")
}

// trials are how many lines the programs took before there was a package for what
// they do: all of them, and those that are no imports.
var trials = map[string][2]int{
	"stream": {67, 45}, "dialect": {33, 20}, "translate": {50, 40}, "agent": {45, 28}, "gateway": {38, 18},
}

// A program is at most half as long as its trial, and stands in docs/go.md.
func TestProgramsAreShortAndInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../go.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, trial := range trials {
		b, err := os.ReadFile(name + "/main.go")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```go\n"+string(b)+"```\n") {
			t.Errorf("docs/go.md does not have %s/main.go as it is: copy it there", name)
		}
		all, own := lines(string(b))
		t.Logf("%s: %d lines, %d of its own; the trial had %d and %d", name, all, own, trial[0], trial[1])
		if 2*all > trial[0] || 2*own > trial[1] {
			t.Errorf("%s has %d lines, %d of its own: want at most half of %v", name, all, own, trial)
		}
	}
}

// lines counts the lines that say something, and those that are no package clause
// and no import.
func lines(source string) (all, own int) {
	importing := false
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		all++
		switch {
		case line == "import (":
			importing = true
		case importing:
			importing = line != ")"
		case !strings.HasPrefix(line, "package "):
			own++
		}
	}
	return all, own
}
