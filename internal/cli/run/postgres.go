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
	Clients string   `flag:"pg-clients"`
	Set     []string `flag:"pg-set"`
}

func (o *postgresOptions) addFlags(f *pflag.FlagSet) {
	form.Bind(f, "pg", "pg-bin", &o.server.Bin, "pg-user", &o.server.User, "pg-scale", &o.server.Scale,
		"pg-memory", &o.server.Memory, "quick", &o.server.Quick)
	form.BindAll(f, "pg", o)
}

// apply puts the flags into a request.
func (o *postgresOptions) apply(env *form.Env, r *bench.Request) error {
	o.server.Settings = map[string]string{}
	for _, set := range o.Set {
		name, value, ok := strings.Cut(set, "=")
		if !ok {
			return fmt.Errorf("--pg-set %s: want NAME=VALUE, such as wal_compression=on", set)
		}
		o.server.Settings[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	r.Clients = nil
	if o.Clients != "" {
		for part := range strings.SplitSeq(o.Clients, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 || n > suite.MostClients {
				return fmt.Errorf("--pg-clients %s: want numbers from 1 to %d, such as 1,4,16", o.Clients, suite.MostClients)
			}
			r.Clients = append(r.Clients, n)
		}
	}
	r.Server = &o.server
	r.Database = &bench.Database{Check: postgres.Check, Open: postgres.Open(env.Machine, "")}
	return nil
}
