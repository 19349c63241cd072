package run

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/postgres"
	"plimsoll/internal/suite"
)

// postgresOptions are the flags of scenarios that are PostgreSQL's.
type postgresOptions struct {
	server  suite.Server
	clients string
	set     []string
}

func (o *postgresOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(
		&o.server.Bin,
		"pg-bin",
		"",
		"`DIR` of PostgreSQL's programs (default: where pg_config says, or else the usual places)",
	)
	f.StringVar(
		&o.server.User,
		"pg-user",
		"",
		"run PostgreSQL as user `NAME`; else the owner of the data path, or postgres; never root",
	)
	f.StringVar(
		&o.server.Scale,
		"pg-scale",
		"",
		"pgbench's `SCALE`: a number, or a size such as 20GiB; 15.1 MiB a unit",
	)
	form.AddSize(f, &o.server.Memory, "pg-memory", "hold PostgreSQL and its page cache in a control group of `SIZE`")
	f.StringVar(&o.clients, "pg-clients", "", "numbers of pgbench's `CLIENTS`, such as 1,4,16,64")
	f.StringArrayVar(&o.set, "pg-set", nil, "set `NAME=VALUE` in PostgreSQL; may be repeated")
	f.BoolVar(&o.server.Quick, "quick", false, "short loads and a small data set for PostgreSQL's scenarios")
	form.TypedOnly(f, "pg-bin", "pg-user", "pg-set")
}

// apply puts the flags into a request.
func (o *postgresOptions) apply(env *form.Env, r *bench.Request) error {
	o.server.Settings = map[string]string{}
	for _, set := range o.set {
		name, value, ok := strings.Cut(set, "=")
		if !ok {
			return fmt.Errorf("--pg-set %s: want NAME=VALUE, such as wal_compression=on", set)
		}
		o.server.Settings[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	r.Clients = nil
	if o.clients != "" {
		for part := range strings.SplitSeq(o.clients, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 || n > suite.MostClients {
				return fmt.Errorf("--pg-clients %s: want numbers from 1 to %d, such as 1,4,16", o.clients, suite.MostClients)
			}
			r.Clients = append(r.Clients, n)
		}
	}
	r.Server = &o.server
	r.Database = &bench.Database{Check: postgres.Check, Open: postgres.Open(env.Machine, "")}
	return nil
}
