package advise

import (
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
)

// NewCatalog is the command plimsoll catalog.
func NewCatalog(env *form.Env) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "catalog [VOLUME-TYPE | INSTANCE-TYPE... | DRIVE]",
		Short: "Show the known limits of volumes, instances and drives, with source, date and trust",
		Example: `  plimsoll catalog
  plimsoll catalog gp3
  plimsoll catalog c6a.xlarge
  plimsoll catalog Standard_D8s_v5
  plimsoll catalog c6a.xlarge m6a.xlarge r6a.xlarge
  plimsoll catalog P4510`,
		ValidArgsFunction: form.CompleteCatalog,
		RunE: func(_ *cobra.Command, args []string) error {
			return runCatalog(env, args, format)
		},
	}
	form.AddFormat(cmd, &format, page.PlainFormats())
	return cmd
}

func runCatalog(env *form.Env, names []string, format string) error {
	if err := form.Clouds(env); err != nil {
		return err
	}
	names = strings.FieldsFunc(strings.Join(names, ","), func(r rune) bool { return r == ',' })
	if len(names) > 1 {
		d, unknown, ok := plans.InstanceTable(names, env.Now())
		if !ok {
			return form.Usagef("%.60q is no instance type: name one entry, or several instance types", unknown)
		}
		return form.Render(env, format, d)
	}
	name := strings.Join(names, "")
	d, ok := plans.CatalogEntry(name, env.Now())
	if !ok {
		return form.Hint(form.Usagef("the catalogue has no volume type, instance type or drive %.60q", name),
			"plimsoll catalog")
	}
	return form.Render(env, format, d)
}
