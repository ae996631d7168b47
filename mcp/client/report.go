package client

import (
	"context"
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Report is what a server is and has.
type Report struct {
	Name    string
	Where   string
	Tier    utp.Tier
	Listed  time.Time // when it listed its tools; zero: never
	About   About     // where it was asked
	Tools   []ToolReport
	Changed int // tools that say something else of themselves than when they ran
}

// ToolReport is what becomes of a tool.
type ToolReport struct {
	Name    string   `json:"name"` // of the server's
	As      string   `json:"as"`   // what models call it
	Tier    utp.Tier `json:"tier"`
	Text    string   `json:"description,omitempty"`
	Changed bool     `json:"changed,omitempty"`
	Refused string   `json:"refused,omitempty"` // why it is not offered
}

// Reports tells what is known of all servers, without asking them.
func (p *Pool) Reports() (out []Report) {
	for _, s := range p.servers {
		out = append(out, s.report())
	}
	return out
}

func (s *server) report() Report {
	s.mu.Lock()
	r := Report{Name: s.Name, Where: s.Where(), Tier: s.tier(""), Listed: s.known.At}
	tools := s.known.Tools
	if s.session != nil {
		r.About = s.session.about
	}
	s.mu.Unlock()
	for _, t := range tools {
		one := ToolReport{Name: line(t.Name), As: ToolName(s.Name, t.Name), Tier: s.tier(t.Name), Text: shortened(t.Description, maxDescription)}
		if _, err := s.choice(t); err != nil {
			one.Refused = err.Error()
		}
		if one.Changed = s.changed(offer{s, t}); one.Changed {
			r.Changed++
		}
		r.Tools = append(r.Tools, one)
	}
	return r
}

// Starting lists the servers that are being started.
func (p *Pool) Starting() (names []string) {
	for _, s := range p.servers {
		s.mu.Lock()
		if s.trying != nil {
			names = append(names, s.Name)
		}
		s.mu.Unlock()
	}
	return names
}

// Test starts a server and asks for its tools.
func (p *Pool) Test(ctx context.Context, name string) (Report, error) {
	s, err := p.server(name)
	if err != nil {
		return Report{}, err
	}
	if _, err := s.get(ctx); err != nil {
		return s.report(), err
	}
	return s.report(), nil
}

// Accept allows the tools of a server again that describe themselves in another
// way than when they ran.
func (p *Pool) Accept(name string) error {
	s, err := p.server(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.known.Tools {
		if s.known.Allowed[t.Name] != "" {
			s.known.Allowed[t.Name] = t.digest()
		}
	}
	return p.book.write(s.Server, s.known)
}

func (p *Pool) server(name string) (*server, error) {
	for _, s := range p.servers {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no MCP server %s", name)
}
