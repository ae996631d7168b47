package main

import (
	"context"
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/doctor"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// exam are the flags of a full examination.
type exam struct {
	on, anew bool
	forms    []string
}

// examineFully is bx doctor --full: the models side by side.
func (a *app) examineFully(ctx context.Context, x exam, models []string, yes bool) error {
	if len(models) > 0 {
		a.model = models[0]
	}
	j, c, err := a.patient(ctx)
	if err != nil {
		return err
	}
	if len(models) == 0 {
		models = []string{c.name}
	}
	var reports []doctor.Report
	for _, model := range models {
		one := *c
		one.name = model
		r, err := j.measured(ctx, x, &one)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if len(models) == 1 {
		return j.prescribe(ctx, c, reports[0], yes)
	}
	if yes {
		return fail(exitUsage, "--yes writes the profile of one model, not of %d", len(models))
	}
	if a.json {
		return view.JSON(a.out, reports)
	}
	if err := doctor.Table(a.out, reports); err != nil {
		return err
	}
	for _, r := range reports {
		fmt.Fprintf(a.out, "\n%s: best: %s (%s)", r.Model, r.Format, r.Why)
	}
	fmt.Fprintln(a.out)
	return nil
}

// measured examines one model and keeps every answer as it comes.
func (j *job) measured(ctx context.Context, x exam, c *connection) (doctor.Report, error) {
	dir, err := j.app.dataDir(j.set.Session.Storage)
	if err != nil {
		return doctor.Report{}, err
	}
	file := doctor.StateFile(dir, c.url, c.name)
	state, err := doctor.LoadState(file, c.url, c.name)
	if err != nil && !x.anew {
		return doctor.Report{}, err
	}
	done := state.Asked
	if x.anew || state.Over {
		done = nil
	}
	if len(done) > 0 {
		j.view.Line(view.Normal, "%s: going on behind %d answers (--anew begins anew)", c.name, len(done))
	}
	state.Over, state.Asked = false, done
	r, err := doctor.Full(ctx, c.name, patient{j, c}, x.forms, done, func(a doctor.Asked) {
		state.Asked = append(state.Asked, a)
		if saved := state.Save(file); saved != nil {
			j.view.Warn("%v: this examination cannot be interrupted", saved)
		}
		j.view.Line(view.Verbose, "%s %s: %s %s", a.Form, a.Probe, a.Verdict, a.Detail)
	})
	if err != nil {
		return r, &coded{exitBackend, err}
	}
	state.Over, state.Format, state.Asked = true, r.Format, r.Asked
	return r, state.Save(file)
}
