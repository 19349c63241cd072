package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// pathOptions are the paths of the roles: arguments, or --data and --wal.
type pathOptions struct {
	args      []string
	data, wal string
}

// pathsUse documents path arguments in a command's Use line.
const pathsUse = "[PATH [WAL-PATH]]"

func (o *pathOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.data, "data", "", "`PATH` of the data role: a directory or a device")
	f.StringVar(
		&o.wal,
		"wal",
		"",
		"`PATH` of the WAL role; one path serves both roles, the default is the current directory",
	)
}

// roles gives each role its path.
func (o pathOptions) roles() (map[topology.Role]string, error) {
	switch {
	case len(o.args) > 0 && (o.data != "" || o.wal != ""):
		return nil, usage(errors.New("name paths as arguments or with --data and --wal, not both"))
	case len(o.args) > len(topology.Roles):
		return nil, usage(errors.New("too many paths: name one for both roles, or one for data and one for WAL"))
	case len(o.args) > 0:
		o.data, o.wal = o.args[0], o.args[len(o.args)-1]
	}
	for _, path := range []string{o.data, o.wal} {
		if strings.ContainsFunc(path, unicode.IsControl) {
			return nil, usage(fmt.Errorf("path %s: a job file cannot hold a control character; use another directory",
				text.Quote(path)))
		}
	}
	return bench.Request{Data: o.data, WAL: o.wal}.Paths()
}

// existing is roles, each of which must be there.
func (o pathOptions) existing() (map[topology.Role]string, error) {
	for _, path := range append([]string{o.data, o.wal}, o.args...) {
		if path == "" {
			continue
		}
		if err := mustExist(path); err != nil {
			return nil, err
		}
	}
	return o.roles()
}
