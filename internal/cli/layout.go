package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/report/page"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// layoutOptions are the flags that declare what the storage is made of, where the machine cannot
// show it.
type layoutOptions struct {
	file, volumes, level, chunk, instance string
}

// declarationFile is read from the current directory where no flag declares the storage.
const declarationFile = "plimsoll.yaml"

func (o *layoutOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.volumes, "volumes", "", "volumes behind the path, as `SPEC`: 8xgp3 or 8x3000iops:125MiB/s")
	o.addOthers(f)
}

// addOthers adds all flags but --volumes.
func (o *layoutOptions) addOthers(f *pflag.FlagSet) {
	f.StringVar(
		&o.file,
		"topology",
		"",
		"read the storage layout from `FILE` (default plimsoll.yaml, if it exists here)",
	)
	f.StringVar(&o.level, "level", "", "RAID `LEVEL` of the volumes: "+page.Names(levels))
	f.StringVar(&o.chunk, "chunk", "", "array chunk `SIZE`")
	f.StringVar(&o.instance, "instance", "", "machine `TYPE`, for its limits: c8g.2xlarge, Standard_D8s_v5, n2-standard-8")
}

// excludeLayouts lets a command take either a file that declares the storage, or flags.
func excludeLayouts(cmd *cobra.Command) {
	for _, flag := range []string{"volumes", "level", "chunk", "instance"} {
		if cmd.Flags().Lookup("topology") != nil && cmd.Flags().Lookup(flag) != nil {
			cmd.MarkFlagsMutuallyExclusive("topology", flag)
		}
	}
}

// declaration is what the flags declare, else plimsoll.yaml in the current directory; nil when
// there is neither.
func (o *layoutOptions) declaration(env *Env) (*topology.Declaration, error) {
	if o.volumes != "" || o.level != "" || o.chunk != "" || o.instance != "" {
		d, err := topology.FromFlags(o.volumes, o.level, o.chunk, o.instance)
		if err != nil {
			return nil, usage(err)
		}
		return d, nil
	}
	file, read := o.file, sys.ReadFile
	if file == "" {
		file, read = declarationFile, sys.ReadFound
	}
	data, err := read(file, sys.ConfigLimit)
	if o.file == "" {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil //nolint:nilnil // nothing is declared, which is no error
		case errors.Is(err, sys.ErrOthers):
			fmt.Fprintf(env.notes(), "note: plimsoll.yaml in this directory is not read, because it is %v; "+
				"--topology plimsoll.yaml reads it\n", err)
			return nil, nil //nolint:nilnil // as if it were not there
		case err == nil:
			fmt.Fprintln(env.notes(), "note: the storage layout is read from plimsoll.yaml in this directory")
		}
	}
	if err != nil {
		return nil, usage(err)
	}
	d, err := topology.LoadDeclaration(file, data)
	if err != nil {
		return nil, usage(err)
	}
	return d, nil
}
