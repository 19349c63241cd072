package cli

import (
	"errors"

	"github.com/spf13/pflag"

	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// layoutOptions are the flags that tell what the storage is made of, where the machine cannot.
type layoutOptions struct {
	file, volumes, level, chunk, instance string
}

func (o *layoutOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.file, "topology", "", "read what the storage is made of from `FILE` (plimsoll.yaml)")
	f.StringVar(&o.volumes, "volumes", "", "the volumes behind the path, as `SPEC`: 8xgp3 or 8x3000iops:125MiB/s")
	f.StringVar(&o.level, "level", "", "how they are combined: `LEVEL` raid0, raid1, raid10, raid5, raid6, single")
	f.StringVar(&o.chunk, "chunk", "", "chunk `SIZE` of the array")
	f.StringVar(&o.instance, "instance", "", "EC2 instance `TYPE`, for its limits")
}

// declaration is what the flags or the file declare; nil when they say nothing.
func (o *layoutOptions) declaration() (*topology.Declaration, error) {
	flags := o.volumes != "" || o.level != "" || o.chunk != "" || o.instance != ""
	switch {
	case o.file != "" && flags:
		return nil, usage(errors.New("--topology and --volumes, --level, --chunk or --instance exclude each other: put them into the file"))
	case o.file != "":
		data, err := sys.ReadFile(o.file, sys.ConfigLimit)
		if err != nil {
			return nil, usage(err)
		}
		d, err := topology.LoadDeclaration(o.file, data)
		if err != nil {
			return nil, usage(err)
		}
		return d, nil
	case flags:
		d, err := topology.FromFlags(o.volumes, o.level, o.chunk, o.instance)
		if err != nil {
			return nil, usage(err)
		}
		return d, nil
	}
	return nil, nil //nolint:nilnil // nothing declared is no error
}
