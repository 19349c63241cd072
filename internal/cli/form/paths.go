package form

import (
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// PathOptions are the paths of the roles: arguments, or --data and --wal.
type PathOptions struct {
	Args []string
	Data string `flag:"data"`
	WAL  string `flag:"wal"`
}

// AddFlags adds them to a command.
func (o *PathOptions) AddFlags(f *pflag.FlagSet) {
	BindAll(f, "paths", o)
}

// Roles gives each role its path.
func (o PathOptions) Roles() (map[topology.Role]string, error) {
	switch {
	case len(o.Args) > 0 && (o.Data != "" || o.WAL != ""):
		return nil, Usagef("name paths as arguments or with --data and --wal, not both")
	case len(o.Args) > len(topology.Roles):
		return nil, Usagef("too many paths: name one for both roles, or one for data and one for WAL")
	case len(o.Args) > 0:
		o.Data, o.WAL = o.Args[0], o.Args[len(o.Args)-1]
	}
	for _, path := range []string{o.Data, o.WAL} {
		if strings.ContainsFunc(path, unicode.IsControl) {
			return nil, Usagef("path %s: a job file cannot hold a control character; use another directory",
				text.Quote(path))
		}
	}
	return bench.Request{Data: o.Data, WAL: o.WAL}.Paths()
}

// Existing is roles, each of which must be there.
func (o PathOptions) Existing() (map[topology.Role]string, error) {
	for _, path := range append([]string{o.Data, o.WAL}, o.Args...) {
		if path == "" {
			continue
		}
		if err := MustExist(path); err != nil {
			return nil, err
		}
	}
	return o.Roles()
}
