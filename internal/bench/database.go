package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Database is how a server for the scenarios that are a database's is had: bench does not know
// which.
type Database struct {
	// Check refuses what would fail later. It writes nothing.
	Check func(context.Context, *sys.Machine, permit.Site) error
	// Open starts the server.
	Open func(context.Context, permit.Site) (measure Measure, stop func() error, err error)
}

// Measure runs one scenario on the server and fills in the result; tick gets each second. Its error
// is plimsoll's own.
type Measure = func(ctx context.Context, s suite.Scenario, out *sys.Dir, res *result.Result,
	tick func(result.PgSecond)) error

// site is where the database goes, with all scenarios that need it.
func (r *runner) site() permit.Site {
	site := permit.Site{
		Topology: &r.plan.Topology, Data: r.place(topology.Data).Place, WAL: r.place(topology.WAL).Place,
		Note: func(text string) { r.emit(Noted{text}) },
	}
	if r.plan.Suite.Server != nil {
		site.Server = *r.plan.Suite.Server
	}
	site.Scenarios = r.plan.Suite.Of(suite.OfServer)
	return site
}

// needs says whether a role's path is needed: a database needs both.
func (r *runner) needs(role topology.Role) bool {
	return r.plan.Suite.NeedsServer() ||
		slices.ContainsFunc(r.plan.Suite.Scenarios, func(s suite.Scenario) bool { return s.Role == role })
}

// checkDatabase refuses a database that could not run.
func (r *runner) checkDatabase(ctx context.Context) error {
	if !r.plan.Suite.NeedsServer() {
		return nil
	}
	if r.plan.Database == nil {
		return fmt.Errorf("scenarios of PostgreSQL cannot run here")
	}
	for _, role := range topology.Roles {
		if r.place(role) == nil {
			return fmt.Errorf("PostgreSQL needs a %s path: add --%s PATH", role, role)
		}
	}
	return r.plan.Database.Check(ctx, r.m, r.site())
}

// database measures a scenario on the server, which is started for the first one.
func (r *runner) database(ctx context.Context, s suite.Scenario, out *sys.Dir) (*result.Result, error) {
	res, ok := r.begin(s, s.Takes(), r.places...)
	if !ok {
		return res, nil
	}
	if r.onServer == nil {
		measure, stop, err := r.plan.Database.Open(ctx, r.site())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			res.Invalidate(firstLine(err))
			return res, nil
		}
		r.onServer, r.stopServer = measure, stop
		res.Start = r.m.Now()
	}
	r.emit(Began{Scenario: s, Expected: s.Takes()})
	begun := r.m.Now()
	err := r.onServer(ctx, s, out, res, func(second result.PgSecond) {
		r.emit(Ticked{ID: s.ID, Elapsed: r.m.Now().Sub(begun), Transactions: &second})
	})
	return res, err
}

// endDatabase stops the server, if one runs.
func (r *runner) endDatabase() error {
	if r.stopServer == nil {
		return nil
	}
	stop := r.stopServer
	r.onServer, r.stopServer = nil, nil
	return stop()
}

// took is a scenario's planned time.
func took(s suite.Scenario, p *place) time.Duration {
	if s.Kind() == suite.OfServer {
		return s.Takes()
	}
	loads, _ := s.WorkloadsOn(p.FileFor(s)) // none where they cannot be read
	return suite.Duration(loads)
}

// quickRun is the time of each load with --quick, where the suite gives more.
const quickRun = 5 * time.Second

// clients are numbers of them as titles say them: "100 clients", "1, 4 and 16 clients".
func clients(n []int) string {
	if len(n) == 1 {
		return text.Plural(n[0], "client")
	}
	return text.List(strings.Fields(strings.Trim(fmt.Sprint(n), "[]"))) + " clients"
}

// adjustDatabase applies the request to a scenario of a database.
func (r Request) adjustDatabase(c *suite.Scenario) {
	p := *c.Postgres // the suite's own stays as it is
	if len(r.Clients) > 0 && len(p.Clients) > 0 {
		c.Title = strings.ReplaceAll(c.Title, clients(p.Clients), clients(r.Clients))
		p.Clients = r.Clients
	}
	if r.Server != nil && r.Server.Quick && !r.Given("runtime") {
		c.Runtime = min(c.Runtime, quickRun)
		if c.Runtime < 2*quickRun && len(p.Clients) > 3 && len(r.Clients) == 0 {
			p.Clients = []int{p.Clients[0], p.Clients[len(p.Clients)/2], p.Clients[len(p.Clients)-1]}
		}
	}
	c.Postgres = &p
}

// merged is the suite's server with what the flags say of it.
func merged(of, flags *suite.Server) *suite.Server {
	s := *cmp.Or(of, &suite.Server{})
	s.Bin, s.User, s.Quick = flags.Bin, flags.User, flags.Quick
	s.Scale, s.Memory = cmp.Or(flags.Scale, s.Scale), cmp.Or(flags.Memory, s.Memory)
	set := map[string]string{}
	maps.Copy(set, s.Settings)
	maps.Copy(set, flags.Settings)
	s.Settings = set
	return &s
}
