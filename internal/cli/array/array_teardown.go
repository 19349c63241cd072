package array

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/provision"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/text"
)

func newTeardownCmd(env *form.Env) *cobra.Command {
	var o provisionOptions
	return form.Command(env, "array teardown", nil, &o, o.teardown)
}

func (o *provisionOptions) teardown(ctx context.Context, env *form.Env, names []string) error {
	if o.JSON && !o.Yes {
		return form.Usagef("--json needs --yes: there is no terminal on which to ask")
	}
	site := provision.Here(env.Machine, provisionView(env, o.JSON))
	if o.Adopt != "" {
		return o.takeDownAdopted(ctx, env, site, names)
	}
	destroy := records.GiveUp{Names: o.Destroy, Serials: o.Serial}
	journals, broken, err := site.Made(names...)
	if err != nil {
		return err
	}
	if len(journals)+len(broken) == 0 {
		if len(names) == 0 { // what one that was killed at its very end has left; only who may remove it needs to
			_ = site.Teardown(ctx, nil, destroy)
		}
		if !o.JSON {
			env.Printf("plimsoll has built nothing here: there is nothing to undo")
		}
		return nil
	}
	if len(journals) == 0 { // nobody is asked about nothing
		return unreadable(broken)
	}
	if !o.Yes {
		if _, err := site.Clear(ctx, journals, destroy); err != nil {
			return obstacles(env, err)
		}
		for _, b := range broken {
			form.PrintNote(env, b.Error())
		}
		if err := form.RenderWhole(env, plans.Undo(journals)); err != nil {
			return err
		}
		if err := form.Confirm(ctx, env, "\nUndo this? Everything on these volumes will be lost."); err != nil {
			return err
		}
	}
	err = site.Teardown(ctx, names, destroy)
	if _, refused := errors.AsType[*records.Obstructed](err); refused {
		return obstacles(env, err)
	}
	if err != nil {
		return form.Hint(err, "plimsoll array teardown continues from there")
	}
	return nil
}

// unreadable is the error of journals that make no sense.
func unreadable(broken []*records.BrokenJournal) error {
	var all []error
	for _, b := range broken {
		all = append(all, b)
	}
	return errors.Join(all...)
}

// takeDownAdopted takes down an array that plimsoll did not make.
func (o *provisionOptions) takeDownAdopted(
	ctx context.Context, env *form.Env, site *provision.Site, names []string,
) error {
	if len(names) > 0 {
		return form.Usagef("--adopt names the array: do not name another")
	}
	w, err := site.Adopt(ctx, o.Adopt, o.Serial)
	if err != nil {
		return err
	}
	if _, err := site.Clear(ctx, []*records.Work{w}, records.GiveUp{}); err != nil {
		return obstacles(env, err)
	}
	if !o.JSON {
		if err := form.RenderWhole(env, plans.Undo([]*records.Work{w})); err != nil {
			return err
		}
	}
	if w.Want.Partition {
		form.PrintNote(env, "the partition tables of "+strings.Join(w.Paths(), ", ")+" are kept")
	}
	if !o.Yes {
		if err := form.Confirm(ctx, env, "\nUndo this? Everything on these volumes will be lost."); err != nil {
			return err
		}
	}
	if err := site.Save(w); err != nil {
		return err
	}
	if err := site.Teardown(ctx, []string{w.Array}, records.GiveUp{}); err != nil {
		return form.Hint(err, "plimsoll array teardown "+w.Array+" continues from there")
	}
	return nil
}

// obstacles prints what stands in the way of a teardown, a line each.
func obstacles(env *form.Env, err error) error {
	o, ok := errors.AsType[*records.Obstructed](err)
	if !ok {
		return err
	}
	for _, line := range o.Lines() {
		fmt.Fprintln(env.Err, text.Clean(line, 600))
	}
	return fmt.Errorf("nothing was touched: %s in the way of teardown",
		text.Plural(len(o.Obstacles), "thing is", "things are"))
}
