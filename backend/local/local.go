// Package local finds model servers on this machine: Ollama, LM Studio,
// llama.cpp and vLLM at their usual ports. It talks to the loopback address
// only, asks all ports at once, and takes 300 ms at most.
package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// Kind is the program that serves.
type Kind string

const (
	Ollama   Kind = "ollama"
	LMStudio Kind = "lmstudio"
	LlamaCPP Kind = "llamacpp"
	VLLM     Kind = "vllm" // or any other server with OpenAI's API at its port
)

// String is the program's own spelling.
func (k Kind) String() string {
	return map[Kind]string{Ollama: "Ollama", LMStudio: "LM Studio", LlamaCPP: "llama.cpp", VLLM: "vLLM"}[k]
}

// Port is where a kind of server is looked for.
type Port struct {
	Kind   Kind
	Number int
}

// Ports lists the usual ports, in order of preference.
func Ports() []Port {
	return []Port{{Ollama, 11434}, {LMStudio, 1234}, {LlamaCPP, 8080}, {VLLM, 8000}}
}

// Server is a server that answered as its kind does.
type Server struct {
	Kind    Kind         `json:"kind"`
	URL     string       `json:"url"`    // "http://127.0.0.1:11434"
	Models  []wire.Model `json:"models"` // the best choice first
	Version string       `json:"version,omitempty"`
}

// Provider is the API to speak with the server: "ollama" or "openai".
func (s Server) Provider() string {
	if s.Kind == Ollama {
		return "ollama"
	}
	return "openai"
}

// Finder says where to look. The zero Finder looks at Ports for 300 ms.
type Finder struct {
	Ports []Port
	Limit time.Duration
}

const limit = 300 * time.Millisecond

// Find looks at the usual ports.
func Find(ctx context.Context) []Server { return Finder{}.Find(ctx) }

// Find lists the servers that answered in time, in the order of the ports. A
// port that something else listens at is passed over.
func (f Finder) Find(ctx context.Context) []Server {
	if f.Ports == nil {
		f.Ports = Ports()
	}
	if f.Limit == 0 {
		f.Limit = limit
	}
	ctx, cancel := context.WithTimeout(ctx, f.Limit)
	defer cancel()
	t := &http.Transport{} // no proxy
	defer t.CloseIdleConnections()
	client := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	found := make([]*Server, len(f.Ports))
	var wg sync.WaitGroup
	for i, p := range f.Ports {
		wg.Go(func() {
			q := &probe{ctx: ctx, client: client, url: fmt.Sprintf("http://127.0.0.1:%d", p.Number)}
			found[i] = q.ask(p.Kind)
		})
	}
	wg.Wait()
	var out []Server
	for _, s := range found {
		if s != nil {
			slices.SortStableFunc(s.Models, func(a, b wire.Model) int { return rank(b) - rank(a) })
			out = append(out, *s)
		}
	}
	return out
}

// rank is higher for a model that is in memory, then for one that takes tools.
func rank(m wire.Model) (r int) {
	if !m.Chat || m.Remote {
		return -1
	}
	if m.Loaded {
		r += 4
	}
	switch {
	case m.Tools == nil:
		r++
	case *m.Tools:
		r += 2
	}
	return r
}

// Choose takes the best model of all: one in memory before others, one that
// takes tools before others, then the first server's first. Models that their
// server would ask another machine for are never chosen. why is for people.
// With nothing to choose, model is "" and why says what to do.
func Choose(servers []Server) (s Server, model, why string) {
	best := -1
	for _, candidate := range servers {
		for _, m := range candidate.Models {
			if r := rank(m); r > best {
				best, s, model = r, candidate, m.ID
				why = reason(candidate, m)
			}
		}
	}
	switch {
	case model != "":
		return s, model, why
	case len(servers) == 0:
		return Server{}, "", "no model server answers on this machine; looked for Ollama, LM Studio, llama.cpp and vLLM"
	}
	s = servers[0]
	why = s.Kind.String() + " at " + s.URL + " has no chat model"
	if s.Kind == Ollama {
		why += ": install one, for example with `ollama pull qwen3`"
	}
	return s, "", why
}

func reason(s Server, m wire.Model) string {
	why := s.Kind.String() + " at " + s.URL + " has " + m.ID
	if m.Loaded {
		why += " in memory"
	}
	switch {
	case m.Tools == nil:
	case *m.Tools:
		why += ", which takes tools"
	default:
		why += ", which takes tools in its prompt only"
	}
	return why
}

// probe asks one address.
type probe struct {
	ctx    context.Context
	client *http.Client
	url    string
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 4 << 20

// get asks a question; a nil body makes it a GET. nil is no good answer.
func (p *probe) get(path string, body []byte) []byte {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(p.ctx, method, p.url+path, bytes.NewReader(body))
	if err != nil {
		return nil
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return answer
}

func (p *probe) ask(k Kind) *Server {
	s := &Server{Kind: k, URL: p.url}
	ok := false
	switch k {
	case Ollama:
		ok = p.ollama(s)
	case LMStudio:
		ok = p.models(s, openai.LMStudioPath)
	case LlamaCPP:
		ok = p.llamaCPP(s)
	case VLLM:
		ok = p.models(s, openai.ModelsPath)
	}
	if !ok {
		return nil
	}
	return s
}

func (p *probe) models(s *Server, path string) bool {
	models, err := openai.Models(p.get(path, nil))
	s.Models = models
	return err == nil && len(models) > 0
}

func (p *probe) llamaCPP(s *Server) bool {
	props, err := openai.ReadProps(p.get(openai.PropsPath, nil))
	if err != nil || !p.models(s, openai.ModelsPath) {
		return false
	}
	s.Version = props.Build
	for i := range s.Models {
		m := &s.Models[i]
		m.Loaded, m.Tools, m.Context = true, props.Tools, props.Context
	}
	return true
}

func (p *probe) ollama(s *Server) bool {
	version, err := ollama.Version(p.get(ollama.VersionPath, nil))
	if err != nil {
		return false
	}
	s.Version = version
	if s.Models, err = ollama.Tags(p.get(ollama.TagsPath, nil), false); err != nil {
		return false
	}
	running, _ := ollama.Tags(p.get(ollama.RunningPath, nil), true)
	for _, r := range running {
		if i := slices.IndexFunc(s.Models, func(m wire.Model) bool { return m.ID == r.ID }); i >= 0 {
			s.Models[i].Loaded, s.Models[i].Context = true, r.Context
		}
	}
	p.details(s.Models)
	return true
}

// maxDetails is how many models Ollama is asked about.
const maxDetails = 8

// details asks about the models of which it is not known whether they take
// tools, those in memory first.
func (p *probe) details(models []wire.Model) {
	var ask []*wire.Model
	for _, loaded := range []bool{true, false} {
		for i := range models {
			if m := &models[i]; m.Loaded == loaded && m.Tools == nil && rank(*m) >= 0 && len(ask) < maxDetails {
				ask = append(ask, m)
			}
		}
	}
	var wg sync.WaitGroup
	for _, m := range ask {
		wg.Go(func() {
			if d, err := ollama.Show(m.ID, p.get(ollama.ShowPath, ollama.ShowRequest(m.ID))); err == nil {
				m.Tools, m.Think = d.Tools, d.Think
				if !m.Loaded {
					m.Context = d.Context
				}
			}
		})
	}
	wg.Wait()
}
