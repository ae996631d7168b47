package sdktest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
)

// The npm SDKs. What they cannot do is what the Go SDK of the same API cannot,
// and what stands here.
var (
	npmChat      = npm("openai", chatSDK, nil)
	npmResponses = npm("responses", responsesSDK, nil)
	npmAnthropic = npm("anthropic", anthropicSDK, nil)
	npmGemini    = npm("gemini", geminiSDK, nil)
	npmOllama    = npm("ollama", ollamaSDK, nil)

	aiChat      = vercel("ai-openai", chatSDK, map[string]string{"error_result": wraps})
	aiResponses = vercel("ai-responses", responsesSDK, map[string]string{"error_result": wraps})
	aiAnthropic = vercel("ai-anthropic", anthropicSDK, nil)
	aiGemini    = vercel("ai-gemini", geminiSDK, map[string]string{"error_result": "the SDK writes a failure as a success"})
)

const wraps = "the SDK puts a failure into an object of its own"

// npm is an npm SDK of the API that a Go SDK speaks.
func npm(name string, like *sdk, lacks map[string]string) *sdk {
	s := *like
	s.name, s.api, s.tokens = "npm "+name, like.api, nil
	s.begin = func(url string, r *utp.Request) session { return beginNPM(name, url, r) }
	s.models = func(url string) (ids []string, err error) {
		err = node.order(npmOrder{SDK: name, Order: "models", URL: url}, &ids)
		return ids, err
	}
	s.mute, s.loose = nil, false
	s.fault = func(err error) (fault, bool) {
		var e *npmError
		if !errors.As(err, &e) || e.Fault == nil {
			return fault{}, false
		}
		return *e.Fault, true
	}
	s.lacks = maps.Clone(like.lacks)
	if s.lacks == nil {
		s.lacks = map[string]string{}
	}
	maps.Copy(s.lacks, lacks)
	return &s
}

// vercel is the AI SDK with a provider of its own. It has its own words for
// stop reasons, none for kinds of errors, and lists no models.
func vercel(name string, like *sdk, lacks map[string]string) *sdk {
	s := npm(name, like, lacks)
	s.stops = map[utp.Stop]string{utp.StopEnd: "stop", utp.StopTool: "tool-calls", utp.StopLength: "length", utp.StopSequence: "stop", utp.StopFilter: "content-filter"}
	s.counts, s.kinds, s.models = all, nil, nil
	s.params = func(p *utp.Params) { like.params(p); p.Schema = nil } // the driver does not say it
	s.lacks["image_result"], s.lacks["custom_tool"] = "the driver does not say it", noCustom
	return s
}

// npmOrder is a line to npm/serve.mjs.
type npmOrder struct {
	SDK     string       `json:"sdk"`
	Order   string       `json:"order"`
	Session int          `json:"session,omitempty"`
	URL     string       `json:"url,omitempty"`
	Request *utp.Request `json:"request,omitempty"`
	Stream  bool         `json:"stream,omitempty"`
	Texts   []string     `json:"texts,omitempty"`
	Model   string       `json:"model,omitempty"`
}

// npmError is what an SDK threw.
type npmError struct {
	Text  string `json:"text"`
	Fault *fault `json:"fault"` // nil: not the SDK's own
}

func (e *npmError) Error() string { return e.Text }

// nodeProcess is npm/serve.mjs, which takes an order at a time.
type nodeProcess struct {
	mu       sync.Mutex
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	sessions int
}

// node is where all npm SDKs run; TestMain stops it.
var node nodeProcess

// start does nothing for one that runs.
func (p *nodeProcess) start() error {
	if p.cmd != nil {
		return nil
	}
	p.cmd = exec.Command("node", "npm/serve.mjs")
	p.cmd.Stderr = os.Stderr
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	p.in, p.out = in, bufio.NewReader(out)
	return errors.Join(err1, err2, p.cmd.Start())
}

func (p *nodeProcess) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.in.Close()
		_ = p.cmd.Wait()
	}
}

// order sends a line and reads the one that answers it into result.
func (p *nodeProcess) order(o npmOrder, result any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.start(); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	if line, err = p.out.ReadBytes('\n'); err != nil {
		return fmt.Errorf("node ended: %w: run make sdktest, which installs the packages", err)
	}
	var out struct {
		Result json.RawMessage
		Error  *npmError
	}
	if err := json.Unmarshal(line, &out); err != nil {
		return err
	}
	if out.Error != nil {
		return out.Error
	}
	return json.Unmarshal(out.Result, result)
}

type npmSession struct {
	sdk string
	id  int
	err error
}

func beginNPM(name, url string, r *utp.Request) session {
	node.mu.Lock()
	node.sessions++
	s := &npmSession{sdk: name, id: node.sessions}
	node.mu.Unlock()
	var none any
	s.err = node.order(npmOrder{SDK: name, Order: "begin", Session: s.id, URL: url, Request: r}, &none)
	return s
}

func (s *npmSession) ask(stream bool) (a answer, err error) {
	if s.err != nil {
		return a, s.err
	}
	err = node.order(npmOrder{SDK: s.sdk, Order: "ask", Session: s.id, Stream: stream}, &a)
	return a, err
}

func (s *npmSession) give(texts []string) {
	var none any
	s.err = errors.Join(s.err, node.order(npmOrder{SDK: s.sdk, Order: "give", Session: s.id, Texts: texts}, &none))
}
