package config

import (
	"maps"
	"slices"

	"github.com/unifiedtoolprotocol/utp/format"
)

// streamParsers are the values of Autobyteus' variable as tool formats.
var streamParsers = map[string]Format{"xml": "autobyteus", "json": "json", "sentinel": "sentinel", "api_tool_call": "native"}

// layFormats collects what is said of the form of tools, calls and results, for
// package format to decide.
func (r *resolver) layFormats() error {
	env, err := r.envFormat()
	if err != nil {
		return err
	}
	if f := r.flags.Format; f != "" {
		if err := f.check(r.Own); err != nil {
			return &Error{File: "--tool-format", Message: err.Error(), Err: err}
		}
		r.lay(format.Layer{Level: format.Call, From: "--tool-format", Format: string(f)})
	}
	if r.out.Profile != "" {
		r.lay(r.profile.Tools.layer(format.Profile, "profile "+r.out.Profile, r.profile.ForceXML))
	}
	r.lay(format.Layer{Level: format.Agent, From: "[agent]", XML: r.Agent.ForceXML})
	r.lay(r.Tools.layer(format.Agent, "[tools]", nil))
	r.lay(env)
	for _, name := range slices.Sorted(maps.Keys(r.Models)) {
		l := r.Models[name].layer(format.Model, "[models."+name+"]", nil)
		l.For = name
		r.lay(l)
	}
	return nil
}

// lay adds a layer that says something.
func (r *resolver) lay(l format.Layer) {
	if l.Format+l.Tools+l.Calls+l.Results != "" || l.XML != nil {
		r.out.Formats = append(r.out.Formats, l)
	}
}

func (t Tools) layer(level format.Level, from string, xml *bool) format.Layer {
	return format.Layer{Level: level, From: from, Format: string(t.ToolFormat), Tools: string(t.DefinitionFormat),
		Calls: string(t.CallParser), Results: string(t.ResultFormat), XML: xml}
}

// envFormat is what the environment says: our variable, else Autobyteus'.
func (r *resolver) envFormat() (format.Layer, error) {
	l := format.Layer{Level: format.Env, From: "BX_TOOL_FORMAT"}
	f := Format(r.env(l.From))
	if f == "" {
		l.From = "AUTOBYTEUS_STREAM_PARSER"
		value := r.env(l.From)
		if f = streamParsers[value]; f == "" {
			f = Format(value)
		}
	}
	l.Format = string(f)
	if f == "" {
		return l, nil
	}
	if err := f.check(r.Own); err != nil {
		return l, &Error{File: l.From, Message: err.Error(), Err: err}
	}
	return l, nil
}
