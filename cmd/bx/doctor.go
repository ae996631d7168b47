package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/doctor"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/format"
)

func (a *app) doctorCommand() *cobra.Command {
	var yes bool
	var full exam
	cmd := &cobra.Command{
		Use: "doctor [MODEL]", Short: "Find out by asking which form of tools a model can work with",
		Long: `Ask a model six things, with native tools and, if those fail, with tools as text in
one dialect after the other: to call a tool, streamed and whole; to call one without
arguments; two at once; one behind its thinking; and to answer a result. If no call
comes in any form, it is asked again and reminded of its tools. The tools are made up
and nothing runs.

With --full it measures instead: nine scenarios, streamed and whole, three times each
(at most 54 requests a form), in up to four forms that work, with the interval in which
each form's true share lies. It ends with the first form without a fault. An examination
that was interrupted goes on where it was. Several models stand side by side.

The best form becomes a profile in your bx.toml, for bx --profile: you are asked
before it is written, and --yes is a yes.`,
		Example: "  bx doctor\n  bx doctor qwen3:8b --yes && bx --profile qwen3-8b \"Where is main?\"\n  bx doctor --full qwen3:8b llama3.2:3b\n  bx doctor --full --forms native,hermes qwen3:8b",
		RunE: func(cmd *cobra.Command, args []string) error {
			if full.on {
				return a.examineFully(cmd.Context(), full, args, yes)
			}
			if len(args) > 1 {
				return fail(exitUsage, "bx doctor wants one MODEL at most, not %d; several stand side by side with --full", len(args))
			}
			if len(full.forms) > 0 || full.anew {
				return fail(exitUsage, "--forms and --anew go with --full")
			}
			if len(args) == 1 {
				a.model = args[0]
			}
			return a.doctor(cmd.Context(), yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "write the profile without asking")
	cmd.Flags().BoolVar(&full.on, "full", false, "measure each form in nine scenarios, with intervals")
	cmd.Flags().StringSliceVar(&full.forms, "forms", nil, "with --full: compare these `FORMS`, such as native,hermes")
	cmd.Flags().BoolVar(&full.anew, "anew", false, "with --full: forget what an interrupted examination has found")
	return cmd
}

func (a *app) doctor(ctx context.Context, yes bool) error {
	j, c, err := a.patient(ctx)
	if err != nil {
		return err
	}
	if !a.json {
		doctor.Head(a.out)
	}
	r, err := doctor.Examine(ctx, c.name, patient{j, c}, func(f doctor.Finding) {
		if !a.json {
			f.Line(a.out)
		}
	})
	if err != nil {
		return &coded{exitBackend, err}
	}
	return j.prescribe(ctx, c, r, yes)
}

// patient connects to the model that is to be examined.
func (a *app) patient(ctx context.Context) (*job, *connection, error) {
	j, err := a.beginAnywhere()
	if err != nil {
		return nil, nil, err
	}
	c, err := j.choose(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case c.client != nil:
		j.view.Line(view.Normal, "%s", c.why)
		return j, c, nil
	case j.set.Provider == config.SearchProvider:
		return nil, nil, fail(exitBackend, "there is no model to examine: search alone was asked for (%s)", c.absent)
	}
	return nil, nil, fail(exitBackend, "there is no model to examine: %s; %s", c.absent, toConnect)
}

// prescribe prints the outcome and writes the profile.
func (j *job) prescribe(ctx context.Context, c *connection, r doctor.Report, yes bool) error {
	a := j.app
	name, p := j.profile(c, r)
	if a.json {
		if err := view.JSON(a.out, r); err != nil {
			return err
		}
	} else {
		if len(r.Forms) > 0 {
			if err := doctor.Table(a.out, []doctor.Report{r}); err != nil {
				return err
			}
		}
		fmt.Fprintf(a.out, "\nbest: %s (%s)\n\n%s", r.Format, r.Why, p.TOML(name))
	}
	file := filepath.Join(dirs.User(), "bx.toml")
	if !yes {
		yes, _ = a.yesNo(ctx, fmt.Sprintf("Write this profile into %s?", file))
	}
	if !yes {
		j.view.Line(view.Normal, "not written; bx doctor --yes would write it into %s", file)
		return nil
	}
	if err := config.PutProfile(file, name, p, j.set.Dialects); err != nil {
		return err
	}
	j.view.Line(view.Normal, "written into %s; use it with bx --profile %s", file, name)
	return nil
}

// profile is what the outcome means for the configuration. Of a profile that
// is in use only the form is set, and that its model must be reminded.
func (j *job) profile(c *connection, r doctor.Report) (name string, p config.Profile) {
	f := toldIn(j.cfg.Profiles[j.set.Profile].Tools, r.Format)
	if r.Insist {
		f.Insist = &r.Insist
	}
	if j.set.Profile != "" {
		return j.set.Profile, config.Profile{Tools: f}
	}
	return profileName(c.name), config.Profile{Provider: config.Provider(c.provider), URL: config.URL(c.url), Model: c.name, APIKeyEnv: j.set.APIKeyEnv, Tools: f}
}

// toldIn is t with tools, calls and results in a form.
func toldIn(t config.Tools, form string) config.Tools {
	t.ToolFormat, t.DefinitionFormat = "", config.Format(form)
	t.CallParser, t.ResultFormat = config.Parser("prefer:"+form), config.ResultFormat(form)
	switch form {
	case doctor.Native:
		t.CallParser = "auto"
	case "none":
		t.CallParser, t.ResultFormat = "", ""
	}
	return t
}

// profileName is a model's name as a key without quotes.
func profileName(model string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, model)
}

// patient is the model under examination.
type patient struct {
	*job
	c *connection
}

// Open makes a client that tells and reads as a setup says.
func (p patient) Open(s doctor.Setup) (doctor.Model, func() string, error) {
	conf := p.backendConfig(p.c.provider, p.c.url)
	conf.Model, conf.Whole, conf.Parse.Tools = p.c.name, s.Whole, nil
	conf.Formats = []format.Layer{{Level: format.Call, From: "bx doctor", Format: s.Form}}
	conf.Adapter = p.set.Habits(p.c.name).Adapter
	conf.Warn = nil
	client, err := backend.New(conf)
	return client, func() string {
		told := client.Choice(context.Background(), p.c.name).Tools
		if (told.Way == format.Native) == (s.Form == doctor.Native) {
			return ""
		}
		why, _, _ := strings.Cut(told.Why, ": ")
		return why
	}, err
}

// Explain words an error without its server, which all of them have in common.
func (p patient) Explain(err error) (string, bool) {
	var e *backend.Error
	if !errors.As(err, &e) {
		return err.Error(), false
	}
	if e.Kind == backend.Refused {
		keyless := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}
		return "refused: " + e.Err.Error(), slices.Contains(keyless, e.Status())
	}
	return strings.ReplaceAll(string(e.Kind), "_", " "), e.Kind == backend.Unreachable || e.Kind == backend.Offline
}
