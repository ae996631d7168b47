package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// servers are the MCP servers whose tools the model gets. A nil one has none.
type servers struct {
	pool *client.Pool
	all  []client.Server
	max  int // bytes of a result

	mu   sync.Mutex
	told []string // for the user, at the next step
	view *view.Printer
}

// openServers takes the servers that may be started, after asking about those that
// the repository names. None is started; nil is no server.
func (j *job) openServers(ctx context.Context) (*servers, error) {
	var all []client.Server
	for _, s := range j.set.Servers {
		if !s.Off && !j.app.noTools && (!s.Theirs || j.agreed(ctx, s, false)) {
			all = append(all, s.Server)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return j.pool(all, nil)
}

// pool makes servers ready. login is who logs in; nil: nobody.
func (j *job) pool(all []client.Server, login func(context.Context, client.Page) error) (*servers, error) {
	s := &servers{all: all, max: int(j.set.Envelope.MaxOutputChars), view: j.view}
	dir, err := j.knownDir()
	if err != nil {
		s.later(fmt.Sprintf("nothing is remembered of MCP servers: %v", err))
	}
	s.pool, err = client.New(client.Config{Servers: all, Start: j.root, Dir: dir, Version: build.Version(), Env: j.app.env,
		HTTP: backend.HTTP(j.app.offline, 0), Login: login, Warn: s.later})
	return s, err
}

// knownDir is where it is remembered what MCP servers have, and what was agreed to.
func (j *job) knownDir() (string, error) {
	dir, err := j.app.dataDir(j.set.Session.Storage)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "mcp"), nil
}

// later keeps a text for the user. It may come from any goroutine, the printer
// belongs to one.
func (s *servers) later(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, text)
}

// tell says what was kept for the user.
func (s *servers) tell() {
	s.mu.Lock()
	texts := s.told
	s.told = nil
	s.mu.Unlock()
	for _, text := range texts {
		s.view.Warn("%s", text)
	}
}

func (s *servers) close() {
	if s != nil {
		for _, name := range s.pool.Starting() {
			s.later(fmt.Sprintf("the MCP server %s was still starting, so its tools were not there: bx mcp test %s waits for it", name, name))
		}
		s.pool.Close()
		s.tell()
	}
}

// learn has servers asked for their tools, where a question may need them.
func (s *servers) learn(tier utp.Tier) {
	if s != nil {
		s.pool.Learn(tier)
	}
}

// has reports whether a call is for the servers.
func (s *servers) has(name string) bool { return s != nil && s.pool.Has(name) }

// names lists their tools.
func (s *servers) names() []string {
	if s == nil {
		return nil
	}
	return s.pool.Names()
}

// offered lists the tools that a model is offered; only names those that a member
// of a team gets, none: all.
func (s *servers) offered(only []string) []utp.Tool {
	if s == nil {
		return nil
	}
	tools := s.pool.Tools()
	if len(only) == 0 {
		return tools
	}
	return slices.DeleteFunc(tools, func(t utp.Tool) bool { return !slices.Contains(only, t.Name) })
}

// run calls a tool. What is too long of its result is kept as other results are.
func (s *servers) run(ctx context.Context, own *tool.Set, c utp.Call) utp.Result {
	r := s.pool.Run(ctx, c)
	size := 0
	for _, p := range r.Parts {
		if t, ok := p.(utp.Text); ok {
			size += len(t.Text)
		}
	}
	if size <= s.max {
		return r
	}
	parts := []utp.Part{utp.Text{Text: own.Capped(c.Name, r.Text())}}
	for _, p := range r.Parts {
		if _, ok := p.(utp.Text); !ok {
			parts = append(parts, p)
		}
	}
	r.Parts = parts
	return r
}

// joining is what an agent does before each request: tools that servers have listed
// meanwhile are offered.
func (j *job) joining(g *agent.Gate, own []utp.Tool) func(context.Context, int) error {
	if j.servers == nil {
		return nil
	}
	version := j.servers.pool.Version()
	return func(context.Context, int) error {
		if j.view == j.servers.view { // and not that of a team's member, beside others
			j.servers.tell()
		}
		if now := j.servers.pool.Version(); now != version {
			version = now
			j.compile(own)
			g.Tools, g.Named = j.known, j.named()
		}
		return nil
	}
}

// knownTools lists the tools that servers had when they were asked last. Nobody is
// asked anything.
func (j *job) knownTools() []utp.Tool {
	var all []client.Server
	for _, s := range j.set.Servers {
		if !s.Off && (!s.Theirs || j.said(s) == client.Yes) {
			all = append(all, s.Server)
		}
	}
	known, err := j.pool(all, nil)
	if err != nil || len(all) == 0 {
		return nil // bx mcp list says what is wrong
	}
	defer known.close()
	return slices.DeleteFunc(known.offered(nil), func(t utp.Tool) bool { return t.Name == client.FindTools })
}

// said is what the user said of a server of the repository.
func (j *job) said(s config.Server) client.Answer {
	dir, err := j.knownDir()
	if err != nil {
		return client.Silence
	}
	said, _ := client.Consents{Dir: dir}.Said(j.root, s.Server) // unreadable is silence
	return said
}

// mayServe reports whether a name may be that of a tool of a server.
func (j *job) mayServe(name string) bool {
	return slices.ContainsFunc(j.set.Servers, func(s config.Server) bool { return client.OfServer(name, s.Name) }) ||
		name == client.FindTools && len(j.set.Servers) > 0
}

// raise offers the tools of a server that the question names.
func (s *servers) raise(question string, o agent.Offer, ceiling utp.Tier) agent.Offer {
	if s == nil {
		return o
	}
	words := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, one := range s.all {
		if tier := min(one.Highest(), ceiling); tier > o.Tier && slices.Contains(words, strings.ToLower(one.Name)) {
			o = agent.Offer{Tier: tier, Word: one.Name, Why: fmt.Sprintf("%s: the question names the MCP server %s", tier, one.Name)}
		}
	}
	return o
}

// agreed reports whether the user said yes to a server that the repository names,
// as it is now. Who has said nothing yet is asked, and with again who said no.
func (j *job) agreed(ctx context.Context, s config.Server, again bool) bool {
	dir, err := j.knownDir()
	if err != nil {
		j.view.Warn("the MCP server %s of the repository is not started: %v", s.Name, err)
		return false
	}
	book := client.Consents{Dir: dir}
	said, err := book.Said(j.root, s.Server)
	if err != nil {
		j.view.Warn("what was said of the MCP servers of repositories cannot be read: %v", err)
	}
	switch {
	case said == client.Yes:
		return true
	case said == client.No && !again:
		return false
	}
	key, ok := j.app.choose(ctx, view.Clean(fmt.Sprintf("\nThe repository names an MCP server, %s. It would be started, or asked, with your rights:\n  %s\n", s.Name,
		strings.ReplaceAll(s.Whole(), "\n", "\n  ")))+"Use it, here and as it is now?", "y/n")
	if !ok {
		j.view.Warn("the MCP server %s, which the repository names, is not used, for nobody can be asked: bx mcp test %s asks", s.Name, s.Name)
		return false
	}
	if err := book.Say(j.root, s.Server, key == 'y'); err != nil {
		j.view.Warn("your answer is not kept: %v", err)
	}
	return key == 'y'
}

// compile takes the tools that there are, with those of MCP servers.
func (j *job) compile(own []utp.Tool) {
	tools := append(slices.Clone(own), j.servers.offered(j.only)...)
	j.known = schema.CompileWith(tools, schema.Options{Aliases: append(agent.RequestAliases(), j.set.Aliases...)})
}
