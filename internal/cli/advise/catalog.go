package advise

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/plans"
)

type catalogOptions struct {
	Format string `formats:"plain"`
}

// NewCatalog is the command plimsoll catalog.
func NewCatalog(env *form.Env) *cobra.Command {
	var o catalogOptions
	cmd := form.Command(env, "catalog", nil, &o, o.run)
	cmd.ValidArgsFunction = form.CompleteCatalog()
	return cmd
}

func (o *catalogOptions) run(_ context.Context, env *form.Env, names []string) error {
	if err := form.Clouds(env); err != nil {
		return err
	}
	names = strings.FieldsFunc(strings.Join(names, ","), func(r rune) bool { return r == ',' })
	if len(names) > 1 {
		d, unknown, ok := plans.InstanceTable(names, env.Now())
		if !ok {
			return form.Usagef("%.60q is not an instance type: name one entry, or several instance types", unknown)
		}
		return form.Render(env, o.Format, d)
	}
	name := strings.Join(names, "")
	d, ok := plans.CatalogEntry(name, env.Now())
	if !ok {
		return form.Hint(form.Usagef("the catalogue has no volume type, instance type or drive %.60q", name),
			"plimsoll catalog")
	}
	return form.Render(env, o.Format, d)
}
