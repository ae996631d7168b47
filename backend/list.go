package backend

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

// Model is a model as a server lists it.
type Model = wire.Model

// Models lists what the server has, the loaded ones marked, with what each can do
// as far as the server says so in time.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	models, err := c.list(ctx)
	var e *Error
	if err != nil && !errors.As(err, &e) {
		return nil, c.fail(BadReply, c.cfg.Model, err)
	}
	c.describe(ctx, models)
	for i := range models {
		models[i].Offer = c.offer(models[i])
	}
	return models, err
}

func (c *Client) list(ctx context.Context) ([]Model, error) {
	if c.cfg.Provider != Ollama {
		body, err := c.ask(ctx, c.at(c.api.models), nil)
		if err != nil {
			return nil, err
		}
		return c.api.list(body)
	}
	var running []Model
	var wg sync.WaitGroup
	wg.Go(func() { running, _ = c.ollamaModels(ctx, ollama.RunningPath) }) // without it none is marked
	models, err := c.ollamaModels(ctx, ollama.TagsPath)
	wg.Wait()
	for i := range models {
		if m := find(running, models[i].ID); m != nil {
			models[i].Loaded, models[i].Context, models[i].Running = true, m.Context, m.Running
		}
	}
	return models, err
}

const (
	describeTime = time.Second // how long a list waits for what the server says of its models
	describeMany = 8           // questions at once
	describeMost = 16          // models of another server than Ollama that are asked about
)

// Digest is that of a model's files, as Ollama lists it; "" where nothing tells.
func (c *Client) Digest(ctx context.Context, name string) string {
	if c.cfg.Provider != Ollama {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	models, err := c.ollamaModels(ctx, ollama.TagsPath)
	if m := find(models, name); err == nil && m != nil {
		return m.Digest
	}
	return ""
}

// describe asks about the models of which the list does not say what they can do.
// Of what does not come in time the next list knows more.
func (c *Client) describe(ctx context.Context, models []Model) {
	ask := c.describeOllama
	if c.cfg.Provider != Ollama {
		if c.cfg.Provider != OpenAI || c.base.Scheme == "https" || len(models) > describeMost {
			return
		}
		ask = c.describeOpenAI
	}
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	turn := make(chan struct{}, describeMany)
	var wg sync.WaitGroup
	for i := range models {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			ask(ctx, &models[i])
		})
	}
	wg.Wait()
}

// described is what Ollama said of a model, for as long as its files are the same.
type described struct {
	digest string
	ollama.Details
}

func (c *Client) describeOllama(ctx context.Context, m *Model) {
	c.mu.Lock()
	known, ok := c.described[m.ID]
	if ok && known.digest != m.Digest { // it was pulled or made anew
		delete(c.models, m.ID)
		ok = false
	}
	c.mu.Unlock()
	if !ok {
		body, err := c.ask(ctx, c.root(ollama.ShowPath), ollama.ShowRequest(m.ID))
		if err != nil {
			return
		}
		if known.Details, err = ollama.Show(m.ID, body); err != nil {
			return
		}
		known.digest = m.Digest
		c.mu.Lock()
		c.described[m.ID] = known
		c.mu.Unlock()
	}
	m.Tools, m.Think, m.Vision = cmp.Or(known.Tools, m.Tools), cmp.Or(known.Think, m.Think), cmp.Or(known.Vision, m.Vision)
	if len(known.Capabilities) > 0 {
		m.Chat = known.Chat
	}
	m.Context = cmp.Or(m.Context, known.Context)
}

// describeOpenAI asks servers of one's own, which say more than their list does.
func (c *Client) describeOpenAI(ctx context.Context, m *Model) {
	a := c.ability(ctx, m.ID)
	m.Tools, m.Context = cmp.Or(m.Tools, a.tools), cmp.Or(m.Context, a.window)
}

// offer is how tools reach a model, as far as is known.
func (c *Client) offer(m Model) string {
	c.mu.Lock()
	known := c.models[m.ID]
	c.mu.Unlock()
	if known == nil {
		known = &ability{tools: m.Tools}
	}
	switch c.decide(m.ID, known, c.heeded(m.ID).asText()).Tools.Way {
	case format.Native:
		return "native"
	case format.Text:
		return "prompted"
	}
	return "none"
}
