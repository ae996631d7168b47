package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// assemble makes the team of --team: what runs the coordinator's tools, and
// these tools, the other members among them. The settings of j become the
// coordinator's.
func (j *job) assemble(ctx context.Context, tools *tool.Set) (*agent.Team, []utp.Tool, error) {
	lead, others, err := j.cfg.ResolveTeam(j.app.team, j.app.choices(), j.app.env)
	if err != nil {
		return nil, nil, err
	}
	team, printers := &agent.Team{Next: builtins{j}}, map[string]*view.Printer{}
	for _, m := range others {
		printers[m.Name] = j.view.Named(m.Name)
		member, err := j.member(ctx, m, printers[m.Name], tools)
		if err != nil {
			return nil, nil, err
		}
		team.Members = append(team.Members, member)
	}
	team.See = func(name string, e agent.Event) { printers[name].Event(e) }
	j.set, j.only = lead.Settings, lead.Offer
	own, err := pick(tools.Tools(), lead, j.mayServe)
	return team, append(own, team.Tools()...), err
}

// member makes an agent that can be called as a tool.
func (j *job) member(ctx context.Context, m config.MemberSettings, p *view.Printer, tools *tool.Set) (*agent.Member, error) {
	of := *j
	of.set, of.view, of.only = m.Settings, p, m.Offer
	own, err := pick(tools.Tools(), m, j.mayServe)
	if err != nil {
		return nil, err
	}
	conf, c, err := of.agent(ctx, own, builtins{&of}, m.Tier)
	if err != nil {
		return nil, err
	}
	r, err := of.request(ctx, c, conf.Gate != nil)
	if err != nil {
		return nil, err
	}
	j.members[m.Name] = &of
	return &agent.Member{Name: m.Name, Description: m.Description, Config: conf, Request: *r}, nil
}

// pick lists the tools that a member is offered.
func pick(tools []utp.Tool, m config.MemberSettings, may func(string) bool) ([]utp.Tool, error) {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	where := "member " + m.Name
	if slices.Contains(names, m.Name) {
		return nil, &config.Error{File: where, Message: "there is a tool of this name: call the member otherwise"}
	}
	for _, name := range m.Offer {
		if !slices.Contains(names, name) && !may(name) {
			return nil, &config.Error{File: where + ": offer", Message: name + " is no tool: want " + strings.Join(names, ", ")}
		}
	}
	if len(m.Offer) == 0 {
		return tools, nil
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t utp.Tool) bool { return !slices.Contains(m.Offer, t.Name) }), nil
}

// explainTeam says of each member who it is, the coordinator first.
func (j *job) explainTeam(ctx context.Context) error {
	lead, others, err := j.cfg.ResolveTeam(j.app.team, j.app.choices(), j.app.env)
	if err != nil {
		return err
	}
	for i, m := range append([]config.MemberSettings{lead}, others...) {
		what := m.Description
		if i == 0 {
			what = "the coordinator"
		}
		of := *j
		of.set = m.Settings
		fmt.Fprintln(j.app.out)
		j.app.say("member", "%s: %s", m.Name, what)
		of.explainModel(ctx)
		offered := "all"
		if len(m.Offer) > 0 {
			offered = strings.Join(m.Offer, ", ")
		}
		if i == 0 {
			offered += ", the members"
		}
		j.app.say("offered", "%s; up to tier %s", offered, m.MaxTier)
	}
	return nil
}
