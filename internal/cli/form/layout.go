package form

import (
	"errors"
	"io/fs"

	"github.com/spf13/pflag"

	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// LayoutOptions are the flags that declare what the storage is made of, where the machine cannot
// show it.
type LayoutOptions struct {
	File     string `flag:"topology"`
	Volumes  string `flag:"volumes"`
	Level    string `flag:"level"`
	Chunk    string `flag:"chunk"`
	Instance string `flag:"instance"`
	// Declared is what the flags would declare, where it is known already.
	Declared *topology.Declaration
}

// DeclarationFile is read from the current directory where no flag declares the storage.
const DeclarationFile = "plimsoll.yaml"

// AddFlags adds them to a command.
func (o *LayoutOptions) AddFlags(f *pflag.FlagSet) {
	BindAll(f, "volumes", o)
	o.AddOthers(f)
}

// AddOthers adds all flags but --volumes.
func (o *LayoutOptions) AddOthers(f *pflag.FlagSet) {
	BindAll(f, "layout", o)
}

// Clouds reads the clouds of the user's own, and says which there are.
func Clouds(env *Env) error {
	own, err := cloud.Own()
	switch {
	case errors.Is(err, sys.ErrOthers):
		env.Notef("note: %s/ in this directory is not read, because %v", cloud.Dir, err)
		return nil
	case err != nil:
		return Usage(err)
	}
	for _, d := range own {
		env.Notef("note: %s is read from %s/ in this directory", d.Terms().Short, cloud.Dir)
	}
	return nil
}

// Declaration is what the flags declare, else plimsoll.yaml in the current directory; nil when
// there is neither.
func (o *LayoutOptions) Declaration(env *Env) (*topology.Declaration, error) {
	if o.Declared != nil {
		return o.Declared, nil
	}
	if err := Clouds(env); err != nil {
		return nil, err
	}
	if o.Volumes != "" || o.Level != "" || o.Chunk != "" || o.Instance != "" {
		d, err := topology.FromFlags(o.Volumes, o.Level, o.Chunk, o.Instance)
		if err != nil {
			return nil, Usage(err)
		}
		return d, nil
	}
	file, read := o.File, sys.ReadFile
	if file == "" {
		file, read = DeclarationFile, sys.ReadFound
	}
	data, err := read(file, sys.ConfigLimit)
	if o.File == "" {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil //nolint:nilnil // nothing is declared, which is no error
		case errors.Is(err, sys.ErrOthers):
			env.Notef("note: plimsoll.yaml in this directory is not read, because %v; "+
				"--topology plimsoll.yaml reads it", err)
			return nil, nil //nolint:nilnil // as if it were not there
		case err == nil:
			env.Notef("note: the storage layout is read from plimsoll.yaml in this directory")
		}
	}
	if err != nil {
		return nil, Usage(err)
	}
	d, err := topology.LoadDeclaration(file, data)
	if err != nil {
		return nil, Usage(err)
	}
	return d, nil
}
