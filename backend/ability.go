package backend

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// ability is what a server says of a model.
type ability struct {
	tools   *bool           // nil: not said
	asText  string          // why native tools are not used, whatever is set; "": they may be
	window  int             // in tokens; 0: not said
	floor   int             // Ollama: the window set in the model file
	details *ollama.Details // nil: not said
	unsaid  string          // why the server did not say any of it
}

// askTime bounds a question about a model: it must not hold up the request.
const askTime = 3 * time.Second

// maxAnswer bounds what is read of a server's answer about itself.
const maxAnswer = 8 << 20

// ask gets an answer of the server about itself. body is nil for a GET.
func (c *Client) ask(ctx context.Context, address string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, &tooLate{"no answer", askTime})
	defer cancel()
	method, reader := http.MethodGet, io.Reader(nil)
	if body != nil {
		method, reader = http.MethodPost, strings.NewReader(string(body))
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return nil, err
	}
	c.authorize(req)
	resp, err := c.do(req)
	if err != nil {
		return nil, c.connectError(ctx, c.cfg.Model, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, c.fail(Refused, c.cfg.Model, c.readError(resp))
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}

// ability asks once for each model. A server that cannot be asked now is asked
// again with the next request.
func (c *Client) ability(ctx context.Context, model string) *ability {
	c.mu.Lock()
	known := c.models[model]
	c.mu.Unlock()
	if known != nil {
		return known
	}
	known, sure := c.learn(ctx, model)
	c.mu.Lock()
	defer c.mu.Unlock()
	if sure && c.models[model] == nil {
		c.models[model] = known
	}
	return known
}

// Sees reports whether the server says that the model takes images.
func (c *Client) Sees(ctx context.Context, model string) bool {
	d := c.ability(ctx, model).details
	return d != nil && d.Vision != nil && *d.Vision
}

func (c *Client) learn(ctx context.Context, model string) (a *ability, sure bool) {
	if c.cfg.Provider == Ollama {
		return c.learnOllama(ctx, model)
	}
	if c.cfg.Provider != OpenAI || c.base.Scheme == "https" {
		return &ability{}, true // a public service: nothing to ask that it would answer
	}
	return c.learnOpenAI(ctx, model)
}

func (c *Client) learnOllama(ctx context.Context, model string) (*ability, bool) {
	body, err := c.ask(ctx, c.root(ollama.ShowPath), ollama.ShowRequest(model))
	if err != nil {
		return &ability{unsaid: err.Error()}, false
	}
	d, err := ollama.Show(model, body)
	if err != nil {
		return &ability{}, false
	}
	return &ability{tools: d.Tools, window: d.Context, floor: d.NumCtx, details: &d}, true
}

func (c *Client) ollamaModels(ctx context.Context, path string) ([]wire.Model, error) {
	body, err := c.ask(ctx, c.root(path), nil)
	if err != nil {
		return nil, err
	}
	return ollama.Tags(body, path == ollama.RunningPath)
}

// find looks a model up by its name, with or without the tag ":latest".
func find(models []wire.Model, name string) *wire.Model {
	for i := range models {
		if models[i].ID == name || models[i].ID == name+":latest" {
			return &models[i]
		}
	}
	return nil
}

// learnOpenAI asks llama.cpp, LM Studio and vLLM each in its own way. What a
// server says that is not there yet, or loads, is not to be kept.
func (c *Client) learnOpenAI(ctx context.Context, model string) (a *ability, sure bool) {
	body, err := c.ask(ctx, c.root(openai.PropsPath), nil)
	if err == nil {
		if p, err := openai.ReadProps(body); err == nil {
			return &ability{tools: p.Tools, window: p.Context}, true
		}
	}
	for _, address := range []string{c.root(openai.LMStudioPath), c.at(openai.ModelsPath)} {
		if unreachable(err) {
			break
		}
		if body, err = c.ask(ctx, address, nil); err != nil {
			continue
		}
		models, bad := openai.Models(body)
		if m := find(models, model); bad == nil && m != nil {
			return &ability{tools: m.Tools, window: m.Context}, true
		}
	}
	return &ability{}, !notYet(err)
}

// notYet reports an answer that may be another one a moment later.
func notYet(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Kind == Unreachable || e.Status() == http.StatusServiceUnavailable)
}

// unreachable reports a server that answers no other question either.
func unreachable(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Kind != Refused || e.Loading())
}

// Status is what there is to know of a server and its model.
type Status struct {
	Server       string   `json:"server"`
	Version      string   `json:"version,omitempty"`
	Models       []Model  `json:"models"`
	Model        string   `json:"model,omitempty"` // the configured one
	Found        bool     `json:"found"`           // the server has it
	Native       bool     `json:"native_tools"`    // tools will be sent in the provider's field
	Why          string   `json:"why"`             // who says so
	Capabilities []string `json:"capabilities,omitempty"`
	Window       int      `json:"window,omitempty"` // in tokens; 0: not known
}

// Status asks the server about itself and the configured model.
func (c *Client) Status(ctx context.Context) (Status, error) {
	s := Status{Server: c.Server(), Model: c.cfg.Model}
	models, err := c.Models(ctx)
	if err != nil {
		return s, err
	}
	s.Models = models
	s.Version = c.version(ctx)
	s.Found = find(models, c.cfg.Model) != nil
	if c.cfg.Model != "" {
		a := c.ability(ctx, c.cfg.Model)
		tools := c.choose(c.cfg.Model, a, c.heeded(c.cfg.Model).asText()).Tools
		s.Native, s.Why = tools.Way == format.Native, tools.Why
		if s.Window = a.window; a.details != nil {
			s.Capabilities = a.details.Capabilities
		}
	}
	return s, nil
}

type buildJSON struct {
	Build   string `json:"build_info"` // llama.cpp
	Version string `json:"version"`    // Ollama, vLLM
}

func (c *Client) version(ctx context.Context) string {
	paths := []string{openai.PropsPath, "/version"}
	if c.cfg.Provider == Ollama {
		paths = []string{ollama.VersionPath}
	} else if c.cfg.Provider != OpenAI || c.base.Scheme == "https" {
		return ""
	}
	for _, path := range paths {
		var j buildJSON
		if body, err := c.ask(ctx, c.root(path), nil); err == nil && json.Unmarshal(body, &j) == nil && j.Build+j.Version != "" {
			return j.Build + j.Version
		}
	}
	return ""
}
