// Package local finds model servers on this machine: Ollama, LM Studio,
// llama.cpp and vLLM at their usual ports. It talks to the loopback address
// only and asks all ports at once. Where nothing listens is known at once; who
// listens is waited for, 3 s at most.
package local

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	Unsure  bool         `json:"-"` // it did not say in time which models are in memory
}

// Provider is the API to speak with the server: "ollama" or "openai".
func (s Server) Provider() string {
	if s.Kind == Ollama {
		return "ollama"
	}
	return "openai"
}

// Silent is a server, or another program at its port, that took the connection
// and did not answer in time.
type Silent struct {
	Kind   Kind
	URL    string
	Within time.Duration
}

// String says so.
func (s Silent) String() string {
	return fmt.Sprintf("%s at %s did not answer within %s", s.Kind, s.URL, s.Within)
}

// Found is what there is at the ports, in their order. A port that something
// else listens at is passed over.
type Found struct {
	Servers []Server
	Silent  []Silent
}

// Finder says where to look. The zero Finder looks at Ports.
type Finder struct {
	Ports   []Port
	Limit   time.Duration       // to wait for a server that took the connection; 0 is 3 s
	Moment  time.Duration       // after which Waiting is called; 0 is 500 ms
	Waiting func(server string) // tells, one at a time, who is waited for: "Ollama at http://127.0.0.1:11434"; nil: nobody asks
}

const (
	limit  = 3 * time.Second
	moment = 500 * time.Millisecond
)

// Find looks at the usual ports.
func Find(ctx context.Context) Found { return Finder{}.Find(ctx) }

// Find asks all ports at once.
func (f Finder) Find(ctx context.Context) (out Found) {
	if f.Ports == nil {
		f.Ports = Ports()
	}
	f.Limit, f.Moment = cmp.Or(f.Limit, limit), cmp.Or(f.Moment, moment)
	ctx, cancel := context.WithTimeout(ctx, f.Limit)
	defer cancel()
	t := &http.Transport{} // no proxy
	defer t.CloseIdleConnections()
	client := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	probes := make([]*probe, len(f.Ports))
	for i, p := range f.Ports {
		probes[i] = &probe{ctx: ctx, client: client, kind: p.Kind, url: fmt.Sprintf("http://127.0.0.1:%d", p.Number)}
	}
	defer f.tell(probes)()
	var wg sync.WaitGroup
	for _, p := range probes {
		wg.Go(p.ask)
	}
	wg.Wait()
	for _, p := range probes {
		switch {
		case p.found != nil:
			slices.SortStableFunc(p.found.Models, func(a, b wire.Model) int { return b.Rank() - a.Rank() })
			out.Servers = append(out.Servers, *p.found)
		case p.silent:
			out.Silent = append(out.Silent, Silent{p.kind, p.url, f.Limit})
		}
	}
	return out
}

// tell says after a moment who is waited for. Nothing is said after stop.
func (f Finder) tell(probes []*probe) (stop func()) {
	if f.Waiting == nil {
		return func() {}
	}
	var mu sync.Mutex
	over := false
	timer := time.AfterFunc(f.Moment, func() {
		mu.Lock()
		defer mu.Unlock()
		for _, p := range probes {
			if !over && p.connected.Load() && !p.done.Load() {
				f.Waiting(p.kind.String() + " at " + p.url)
			}
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// Choose takes the best model of all: one in memory before others, one that
// takes tools before others, then the first server's first. Models that their
// server would ask another machine for are never chosen. why is for people.
// With nothing to choose, model is "" and why says what to do. Who did not answer
// in time is named in either case.
func Choose(found Found) (s Server, model, why string) {
	best := -1
	for _, candidate := range found.Servers {
		for _, m := range candidate.Models {
			if r := m.Rank(); r > best {
				best, s, model = r, candidate, m.ID
				why = reason(candidate, m)
			}
		}
	}
	switch {
	case model != "":
	case len(found.Servers) > 0:
		s = found.Servers[0]
		why = s.Kind.String() + " at " + s.URL + " has no chat model"
		if s.Kind == Ollama {
			why += ": install one, for example with `ollama pull qwen3`"
		}
	case len(found.Silent) == 0:
		why = "no model server answers on this machine; looked for " + places()
	}
	for _, silent := range found.Silent {
		if why != "" {
			why += "; "
		}
		why += silent.String()
	}
	return s, model, why
}

// places names the usual ports, and whose they are.
func places() string {
	var all []string
	for _, p := range Ports() {
		all = append(all, fmt.Sprintf("%s (%d)", p.Kind, p.Number))
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
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
	if s.Unsure {
		why += "; which models are in memory it did not say in time"
	}
	return why
}

// probe asks one address.
type probe struct {
	ctx    context.Context
	client *http.Client
	kind   Kind
	url    string

	connected, done atomic.Bool
	found           *Server // nil: none of its kind
	silent          bool    // it took the connection and did not answer
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 4 << 20

// answer is what a question got; a nil body is no good answer.
type answer struct {
	body []byte
	late bool // the time was over before it came
	busy bool // the server loads its model
}

// get asks a question; a nil body makes it a GET.
func (p *probe) get(path string, body []byte) answer {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	ctx := httptrace.WithClientTrace(p.ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { p.connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, bytes.NewReader(body))
	if err != nil {
		return answer{}
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return answer{late: p.ctx.Err() != nil}
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil || resp.StatusCode != http.StatusOK {
		return answer{late: p.ctx.Err() != nil, busy: resp.StatusCode == http.StatusServiceUnavailable}
	}
	return answer{body: said}
}

// all asks several questions at once.
func (p *probe) all(paths ...string) []answer {
	out := make([]answer, len(paths))
	var wg sync.WaitGroup
	for i, path := range paths {
		wg.Go(func() { out[i] = p.get(path, nil) })
	}
	wg.Wait()
	return out
}

func (p *probe) ask() {
	defer p.done.Store(true)
	s := &Server{Kind: p.kind, URL: p.url}
	ok := false
	switch p.kind {
	case Ollama:
		ok = p.ollama(s)
	case LMStudio:
		ok = p.models(s, p.get(openai.LMStudioPath, nil))
	case LlamaCPP:
		ok = p.llamaCPP(s)
	case VLLM:
		ok = p.models(s, p.get(openai.ModelsPath, nil))
	}
	if ok {
		p.found = s
	}
}

func (p *probe) models(s *Server, said answer) bool {
	p.silent = said.late
	models, err := openai.Models(said.body)
	s.Models = models
	return err == nil && len(models) > 0
}

// again is the pause between two questions to a server that loads its model.
const again = 200 * time.Millisecond

func (p *probe) llamaCPP(s *Server) bool {
	said := p.all(openai.PropsPath, openai.ModelsPath)
	for said[0].busy || said[1].busy {
		select {
		case <-p.ctx.Done():
			p.silent = true
			return false
		case <-time.After(again):
		}
		said = p.all(openai.PropsPath, openai.ModelsPath)
	}
	props, err := openai.ReadProps(said[0].body)
	if p.silent = said[0].late; err != nil || !p.models(s, said[1]) {
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
	said := p.all(ollama.VersionPath, ollama.TagsPath, ollama.RunningPath)
	version, err := ollama.Version(said[0].body)
	if err != nil && !said[0].late {
		return false
	}
	s.Version = version
	if s.Models, err = ollama.Tags(said[1].body, false); err != nil {
		p.silent = said[1].late
		return false
	}
	running, err := ollama.Tags(said[2].body, true)
	s.Unsure = err != nil && len(s.Models) > 1
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
			if m := &models[i]; m.Loaded == loaded && m.Tools == nil && m.Rank() >= 0 && len(ask) < maxDetails {
				ask = append(ask, m)
			}
		}
	}
	var wg sync.WaitGroup
	for _, m := range ask {
		wg.Go(func() {
			if d, err := ollama.Show(m.ID, p.get(ollama.ShowPath, ollama.ShowRequest(m.ID)).body); err == nil {
				m.Tools, m.Think, m.Vision = d.Tools, d.Think, d.Vision
				if !m.Loaded {
					m.Context = d.Context
				}
			}
		})
	}
	wg.Wait()
}
