package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/script"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// beforeTime is how long control groups are looked at before a run, as plimsoll check does.
const beforeTime = 800 * time.Millisecond

// atWork says, before anything is measured, what will take a part of it: arrays that are copied or
// checked (PL202, which the run's own rules report), and control groups at a limit on the devices,
// which no disk statistic shows (PL904). Where no group has a limit it takes no time.
func (r *runner) atWork(ctx context.Context) ([]finding.Finding, error) {
	var all []finding.Finding
	for i := range r.plan.Topology.Arrays {
		if a := &r.plan.Topology.Arrays[i]; a.Syncing != "" && a.Syncing != diagnose.IdleSync {
			r.emit(Noted{fmt.Sprintf("%s is running a %s, which competes with what is measured (PL202)", a.Name, a.Syncing)})
		}
	}
	for _, t := range r.limited() {
		f, err := Watch(ctx, r.m, Watching{Path: t.Path, For: beforeTime, Quick: true})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r.emit(Noted{fmt.Sprintf("whether a control group on %s is at its limit is not known: %v", t.Path, err)})
			continue
		}
		for _, found := range finding.Judge(live.BeforeRun(), f, nil) {
			r.emit(Noted{found.Message + " (" + string(found.Code) + ")"})
			all = append(all, found)
		}
	}
	return all, nil
}

// limited are the targets of the run on whose devices a control group has a limit, each path once.
func (r *runner) limited() (all []*topology.Target) {
	for i := range r.plan.Topology.Targets {
		t := &r.plan.Topology.Targets[i]
		same := slices.ContainsFunc(all, func(o *topology.Target) bool { return o.Path == t.Path })
		if t.Device == "" || same || r.plan.Topology.Tree == nil || r.place(t.Role) == nil {
			continue
		}
		if topology.ReadGroups(r.m.Reader(), r.plan.Topology.Numbers(t)).Any() {
			all = append(all, t)
		}
	}
	return all
}

// lintJobs are the warnings of lint about the job files among a request's words. They are kept with
// the run, since a mistake in the job explains a figure. What lint calls an error is a warning
// here: fio took the job.
func lintJobs(m *sys.Machine, words []string) []finding.Finding {
	var c lint.Case
	for _, name := range words {
		if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
			continue
		}
		if file, err := suite.IsFile(name); !file || err != nil {
			continue
		}
		if text, err := sys.Text(name); err == nil {
			include := func(include string) ([]byte, error) { return sys.Included(name, include) }
			c.Scripts = append(c.Scripts, script.Parse(name, text, script.Options{Env: m.LookupEnv, Include: include}))
		}
	}
	var kept []finding.Finding
	for _, f := range lint.Judge(lint.NewCase(c)).Found {
		if f.Severity.Rank() < finding.Warn.Rank() {
			continue
		}
		f.Severity = finding.Warn
		kept = append(kept, f)
	}
	return kept
}
