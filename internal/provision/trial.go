package provision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/topology"
)

// Trial builds arrays on volumes that were agreed to once, and takes them down; nothing in /etc names them.
type Trial struct {
	*Site
	For     string           // the measurement, which the journals of the arrays name
	Members []records.Member // agreed to, by serial number
}

// NewTrial is a trial for the measurement of that name, on no volumes yet.
func (s *Site) NewTrial(of string) *Trial {
	site := *s
	site.passing = true
	return &Trial{Site: &site, For: of}
}

// Pin finds the volumes of a layout that is not built, looks at each once, and returns the layout on these alone.
func (t *Trial) Pin(ctx context.Context, l topology.Layout) (topology.Layout, error) {
	t.looked = false // it may have other volumes than one before
	plan, err := t.planned(ctx, l)
	if err != nil {
		return l, err
	}
	var serials [][]string
	for _, w := range plan.Arrays {
		var own []string
		for _, m := range w.Members {
			own = append(own, m.Serial)
			if !slices.ContainsFunc(t.Members, func(o records.Member) bool { return o.Serial == m.Serial }) {
				t.Members = append(t.Members, m)
			}
		}
		serials = append(serials, own)
	}
	t.looked = true
	return l.Pinned(serials)
}

// Check says why a layout cannot be built on volumes that were found by Pin.
func (t *Trial) Check(ctx context.Context, l topology.Layout) error {
	_, err := t.planned(ctx, l)
	return err
}

// planned is a plan of arrays that are not there, of volumes that are what they were.
func (t *Trial) planned(ctx context.Context, l topology.Layout) (*Plan, error) {
	decl, err := l.Declaration()
	if err != nil {
		return nil, err
	}
	mounted := func(a topology.DeclaredArray) bool { return a.Filesystem != nil && a.Filesystem.Mount != "" }
	if !slices.ContainsFunc(decl.Arrays, mounted) {
		return nil, fmt.Errorf("%s: no array has a filesystem with a mount point: there is nowhere to measure", l.Name)
	}
	journals, _, err := t.Journals()
	if err != nil {
		return nil, err
	}
	for _, w := range journals {
		if !w.Untouched() &&
			slices.ContainsFunc(decl.Arrays, func(a topology.DeclaredArray) bool { return a.Name == w.Array }) {
			return nil, fmt.Errorf("array %s already exists, built by plimsoll array apply on %s: layouts are built of "+
				"unused volumes; rename the array, or take that one down first: plimsoll array teardown %[1]s",
				w.Array, w.Started.Format("2006-01-02"))
		}
	}
	plan, err := t.Plan(ctx, decl, nil)
	if err != nil {
		return nil, err
	}
	for _, w := range plan.Arrays {
		if w.Found {
			return nil, fmt.Errorf("array %s already exists, as declared: layouts are built of unused volumes", w.Array)
		}
		for _, m := range w.Members {
			i := slices.IndexFunc(t.Members, func(o records.Member) bool { return o.Serial == m.Serial })
			if t.looked && (i < 0 || t.Members[i].Size != m.Size || t.Members[i].Model != m.Model) {
				return nil, fmt.Errorf("%s (serial %s) is not what was agreed to; nothing is built on it", m.Path, m.Serial)
			}
		}
		w.For = t.For
	}
	return plan, nil
}

// Build builds a layout. What fails is taken down again.
func (t *Trial) Build(ctx context.Context, l topology.Layout) error {
	plan, err := t.planned(ctx, l)
	if err == nil {
		err = t.Apply(ctx, plan)
	}
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("building %s: %w", l.Name, err), t.TakeDown(context.WithoutCancel(ctx)))
}

// Left are the arrays that trials have built and not taken down, with the measurements that they are for.
func (s *Site) Left() ([]*records.Work, error) {
	all, _, err := s.Journals()
	return slices.DeleteFunc(all, func(w *records.Work) bool { return w.For == "" }), err
}

// TakeDown takes down what was built for this trial, but no array on which somebody has put something.
func (t *Trial) TakeDown(ctx context.Context) error {
	left, err := t.Left()
	if err != nil {
		return err
	}
	var names []string
	for _, w := range left {
		if w.For != t.For {
			continue
		}
		if err := t.strangers(w); err != nil {
			return err
		}
		names = append(names, w.Array)
	}
	if len(names) > 0 {
		err = t.Teardown(ctx, names, records.GiveUp{})
	}
	return err
}

// strangers refuses to take down an array on which lies what no measurement puts there.
func (t *Trial) strangers(w *records.Work) error {
	entries, err := fs.ReadDir(t.Machine.Root, strings.TrimPrefix(w.Want.Mount, "/"))
	if !w.Did("mounted") || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != ".plimsoll" && e.Name() != "lost+found" {
			return fmt.Errorf("array %s: %s holds %q, which the measurement did not put there, so the array stays; "+
				"move that away, or: plimsoll array teardown %[1]s", w.Array, w.Want.Mount, e.Name())
		}
	}
	return err
}
