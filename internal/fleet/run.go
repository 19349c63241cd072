package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Run is a run on several hosts.
type Run struct {
	Hosts  []string
	Engine *Engine
	Remote string   // plimsoll on the hosts
	Args   []string // of plimsoll run
	What   string   // names the run
	Order  string   // together, alone, both
	Finish bool     // members finish when the coordinator is gone
	Lose   int      // hosts that may be lost
	AtOnce int      // hosts that are connected to at a time; 0 for all
	// Patience is how long a host may make no progress until it is ready; 0 for the usual time.
	Patience time.Duration
	// OnShared says that the paths are storage which all hosts see.
	OnShared bool
	Copy     string // auto, always, never: of this program
	// Self opens this program, to be copied; Out is where the fleet run goes.
	Self          string
	Out           string
	Labels        map[string]string // of the fleet run
	Tool, Version string
	Shared        Shared
	Disabled      finding.Disabled
	Now           func() time.Time
	// Note is given a line about a host, or about all of them, as things happen.
	Note func(host, line string)
	// Show is given what all hosts do, each second; nil where lines of Note are enough.
	Show func([]Status)

	files  []sentFile
	limits limits // the usual ones where they are zero
}

// How --copy and --schedule may be set; the first is the default.
var (
	Orders = []string{together, alone, both}
	Copies = []string{"auto", "always", "never"}
)

const (
	pingEvery = 5 * time.Second
	noteEvery = 5 * time.Second
)

// Run measures on all hosts and returns the fleet run in its directory, which is held: close it.
// When ctx ends, members stop, and what they have is fetched.
func (r Run) Run(ctx context.Context) (*sys.Dir, *bundle.Fleet, error) {
	if err := distinct(r.Hosts); err != nil {
		return nil, nil, err
	}
	files, err := filesOf(r.Args)
	if err != nil {
		return nil, nil, err
	}
	r.files = files
	dir, err := bundle.CreateFleet(r.Out, r.What, r.Now(), r.Args)
	if err != nil {
		return nil, nil, err
	}
	var lone map[string]map[int]units.IOPS
	if r.Order == both {
		r.Note("", "each host alone")
		sub, err := dir.MakeOwnSub(alone, 0o755)
		if err != nil {
			return dir, nil, err
		}
		first, err := r.pass(ctx, sub, alone, nil)
		if err = errors.Join(err, sub.Close()); err != nil || ctx.Err() != nil {
			return dir, first, err
		}
		lone = aloneOf(first)
		r.Note("", "all hosts together")
	}
	f, err := r.pass(ctx, dir, r.Order, lone)
	return dir, f, err
}

// aloneOf are the figures of hosts that measured one after the other.
func aloneOf(f *bundle.Fleet) map[string]map[int]units.IOPS {
	figures := map[string]map[int]units.IOPS{}
	for _, s := range f.Scenarios {
		for _, h := range s.Hosts {
			if figures[h.Host] == nil {
				figures[h.Host] = map[int]units.IOPS{}
			}
			figures[h.Host][s.ID] = h.IOPS
		}
	}
	return figures
}

// Fetch gets what the hosts of an earlier fleet run have kept and merges it again. It returns the
// run's directory as Run does.
func (r Run) Fetch(ctx context.Context, name string) (*sys.Dir, *bundle.Fleet, error) {
	dir, f, err := bundle.ReopenFleet(name)
	if err != nil {
		return nil, nil, err
	}
	f.Lose, r.Shared = max(f.Lose, r.Lose), r.Shared.or(f)
	c := &coordinator{Run: r, dir: dir, fleet: f, fetch: true}
	names := make([]string, len(f.Hosts))
	for i, h := range f.Hosts {
		names[i] = h.Name
	}
	if err := distinct(names); err != nil {
		return dir, nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, h := range f.Hosts {
		if h.State == bundle.HostDone || h.Remote == "" {
			continue
		}
		if !hostName.MatchString(h.Name) {
			return dir, nil, fmt.Errorf("%s: %s is not a host name", name, text.Quote(h.Name))
		}
		if h.Dir != hostDir(h.Name) { // a run that came from elsewhere may name any place
			return dir, nil, fmt.Errorf("%s: %s names %s as its directory; want %s", name, h.Name, text.Quote(h.Dir),
				hostDir(h.Name))
		}
		c.add(h)
	}
	if err := c.serve(ctx); err != nil {
		return dir, f, err
	}
	f.State = bundle.Finished
	return dir, f, c.assemble(nil)
}

// pass runs the plan once on all hosts.
func (r Run) pass(
	ctx context.Context,
	dir *sys.Dir,
	order string,
	lone map[string]map[int]units.IOPS,
) (*bundle.Fleet, error) {
	f := &bundle.Fleet{
		Schema: bundle.FleetSchema, Tool: r.Tool, ID: filepath.Base(dir.Name()), State: bundle.Running, Via: r.Engine.name,
		Order: order, Lose: r.Lose, Shared: r.OnShared, Request: r.Args, Created: r.Now(),
		Labels:     r.Labels,
		SharedIOPS: r.Shared.IOPS, SharedBW: r.Shared.BW,
	}
	c := &coordinator{Run: r, dir: dir, fleet: f, share: rand.Text()}
	for _, name := range r.Hosts {
		c.add(bundle.FleetHost{Name: name, Dir: hostDir(name)})
	}
	if err := c.serve(ctx); err != nil {
		return f, err
	}
	f.State, f.Finished = bundle.Finished, r.Now()
	if ctx.Err() != nil {
		f.State = bundle.Interrupted
	}
	return f, c.assemble(lone)
}

// coordinator leads the members through a run. All its state belongs to the goroutine of serve.
type coordinator struct {
	Run
	share  string   // name of the fleet on storage that all hosts see
	dir    *sys.Dir // of the fleet run; nil of a check, which stores nothing
	fleet  *bundle.Fleet
	hosts  []*host
	events chan event
	base   int64 // the monotonic clock at fleet.Created
	fetch  bool  // only get what is there
	check  bool  // only look at the hosts
	noted  time.Time
}

func (c *coordinator) add(h bundle.FleetHost) {
	c.hosts = append(c.hosts, &host{FleetHost: h, argv: c.Engine.argv(h.Name, c.Remote, "member")})
}

// serve connects to all hosts and goes on until each is done or lost.
func (c *coordinator) serve(ctx context.Context) error {
	c.events, c.base = make(chan event, 64), monotonic()
	if c.limits == (limits{}) {
		c.limits = usual()
		c.limits.prepare = cmp.Or(c.Patience, c.limits.prepare)
	}
	lasting := context.WithoutCancel(ctx) // a Ctrl-C must not cut the connections: members are asked to stop
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	cancelled, pinged := ctx.Done(), time.Now()
	var deadline <-chan time.Time
	for slices.ContainsFunc(c.hosts, func(h *host) bool { return !h.closed }) {
		c.begin(lasting)
		select {
		case e := <-c.events:
			c.handle(lasting, e)
		case <-tick.C:
			if time.Since(pinged) >= pingEvery {
				pinged = time.Now()
				c.pingAll()
			}
			c.silence()
			c.show()
		case <-cancelled:
			cancelled, deadline = nil, time.After(c.limits.stop)
			c.letGo()
		case <-deadline:
			for _, h := range c.hosts {
				h.lose(bundle.HostLost, "it did not stop in time")
			}
		}
		if cancelled != nil {
			c.release()
		}
	}
	c.cleanUp(lasting)
	return c.save()
}

// begin connects to hosts, to as many at a time as are allowed.
func (c *coordinator) begin(ctx context.Context) {
	connecting := 0
	for _, h := range c.hosts {
		switch {
		case h.closed || h.planned || c.AtOnce > 0 && connecting == c.AtOnce:
			continue
		case h.tried:
		case c.Copy == "always":
			h.tried, h.copied, h.heard = true, true, time.Now()
			go c.copyTo(ctx, h)
		default:
			h.tried = true
			h.connect(ctx, c.events)
		}
		connecting++
	}
}

func (c *coordinator) pingAll() {
	for _, h := range c.hosts {
		if len(h.clocks) >= keptClocks {
			h.ping()
		}
	}
}

// silence gives hosts up that do not answer.
func (c *coordinator) silence() {
	for _, h := range c.hosts {
		if !h.tried {
			continue
		}
		limit := c.limits.silence
		if h.hello.Plimsoll == 0 {
			limit = c.limits.hello
		}
		if quiet := time.Since(h.heard); !h.closed && quiet > limit {
			c.lost(h, bundle.HostLost, fmt.Sprintf("it did not answer for %s (%s)",
				text.Duration(quiet.Round(time.Second)), h.during()))
		}
		if why := h.overdue(c.limits); !h.closed && why != "" {
			c.lost(h, bundle.HostLost, why)
		}
	}
}

func (c *coordinator) lost(h *host, state bundle.HostState, why string) {
	if h.closed {
		return
	}
	h.lose(state, why)
	c.Note(h.Name, string(state)+": "+h.Why)
}

// handle acts upon one event.
func (c *coordinator) handle(ctx context.Context, e event) {
	h := e.from
	if h.closed || e.try > 0 && e.try < h.try { // an earlier connection that was given up
		return
	}
	h.heard = time.Now()
	switch {
	case e.err != nil:
		if c.Copy == "auto" && !h.copied && h.hello.Plimsoll == 0 && errors.Is(e.err, errMissing) {
			c.again(ctx, h)
			return
		}
		c.lost(h, bundle.HostLost, fmt.Sprintf("%s (%s)", e.err, h.during()))
	case e.copied != "":
		h.argv = c.Engine.argv(h.Name, e.copied, "member")
		h.binary = e.copied
		h.connect(ctx, c.events)
	case h.hello.Plimsoll == 0:
		if err := h.greet(e.message, c.Version, !c.check); err != nil {
			h.hello = message{}
			if c.Copy == "auto" && !h.copied && errors.Is(err, errVersion) {
				c.again(ctx, h)
				return
			}
			c.lost(h, bundle.HostRefused, err.Error())
			return
		}
		h.await("the comparison of clocks", c.limits.clocks)
		h.ping()
	case e.Pong > 0:
		h.pong(e.message)
		switch n := len(h.clocks); {
		case h.planned || n == 0:
		case n < keptClocks:
			h.ping()
		default:
			h.planned = true
			h.order(c.asks(h))
			switch {
			case c.fetch:
				h.await(sending, c.limits.send)
			case c.check:
				h.await("its check", c.limits.check)
			default:
				h.await(preparing, c.limits.prepare)
			}
		}
	case e.Event != "":
		c.happened(h, e.message)
	case len(e.Data) > 0 || e.SHA256 != "":
		c.piece(h, e.message)
	}
}

// asks is what a host is asked for once its clock is known.
func (c *coordinator) asks(h *host) command {
	switch {
	case c.fetch:
		return command{Fetch: h.Remote}
	case c.check:
		return command{Check: &plan{Args: c.Args}}
	}
	p := &plan{Args: c.Args, Finish: c.Finish, Files: c.files}
	if c.OnShared {
		p.Share = &Share{Fleet: c.share, Host: fileName(h.Name), Hosts: len(c.hosts)}
	}
	return command{Plan: p}
}

// happened acts upon what a member reports of its run.
func (c *coordinator) happened(h *host, m message) {
	note := text.Clean(m.Note, 600)
	switch m.Event {
	case eventStarted:
		h.Remote = text.Clean(m.Dir, 1000)
		c.keep()
	case eventReady:
		h.waits, h.waiting = true, m.Scenario
		h.wait = wait{}
	case eventPrefill:
		if h.phase == preparing && m.Written != h.written {
			h.written = m.Written
			h.progress()
		}
	case eventCooling:
		if h.phase == preparing {
			h.allow = c.limits.prepare + c.limits.claimed(m.Wait)
		}
	case eventBegan:
		h.await(scenarioName(m.Scenario), c.limits.slack+c.limits.claimed(m.Wait)+c.limits.claimed(m.Pause))
		h.endless = m.Wait <= 0
		if len(h.clocks) > 0 && len(h.starts) < 1000 {
			h.starts[m.Scenario] = m.Mono - h.best().offset
			c.keep()
		}
	case eventSecond:
		h.second = m
		if h.endless && (m.IOPS > 0 || m.BW > 0) {
			h.progress()
		}
	case eventEnded:
		h.done++
		h.await(preparing, c.limits.prepare)
		h.second = message{}
		if m.Note != "" {
			c.Note(h.Name, text.Clean(fmt.Sprintf("scenario %d is %s: %s", m.Scenario, m.State, m.Note), 600))
		}
	case eventNote:
		c.Note(h.Name, note)
	case eventFinished:
		h.ended, h.Exit, h.waits = true, m.Exit, false
		if m.Exit == 1 {
			c.Note(h.Name, note)
		}
		h.order(command{Bundle: true})
		h.await(sending, c.limits.send)
	case eventChecked:
		if !c.check || m.Checkup == nil {
			c.lost(h, bundle.HostLost, "it sent a check that nobody asked for")
			return
		}
		h.checkup = m.Checkup.tame()
		c.complete(h)
	case eventRefused:
		c.lost(h, bundle.HostRefused, note)
	}
}

// piece takes a piece of a bundle. With the last one the host is done.
func (c *coordinator) piece(h *host, m message) {
	if !h.ended && !c.fetch {
		c.lost(h, bundle.HostLost, "it sent a bundle that nobody asked for")
		return
	}
	whole, err := h.receive(m)
	if err == nil && !whole {
		h.bundleDue(c.limits)
		return
	}
	if err == nil {
		err = c.unpack(h)
	}
	h.drop()
	if err != nil {
		c.lost(h, bundle.HostLost, c.named(err))
		return
	}
	c.complete(h)
}

// unpack puts a host's whole bundle in the place of whatever an earlier attempt left. The way there is the caller's
// own: a fleet run that came from elsewhere may hold links.
func (c *coordinator) unpack(h *host) error {
	below, name := filepath.Split(h.Dir)
	hosts, err := c.dir.OwnSub(filepath.Clean(below), 0o755)
	if err != nil {
		return err
	}
	defer hosts.Close() //nolint:errcheck // only a handle
	fresh := "." + name + ".new"
	if err := hosts.RemoveAll(fresh); err != nil {
		return err
	}
	to, err := hosts.MakeOwnSub(fresh, 0o755)
	if err != nil {
		return err
	}
	if err := errors.Join(unpack(h.got, to.Path(), mostBytes), to.Close()); err != nil {
		return errors.Join(err, hosts.RemoveAll(fresh))
	}
	return errors.Join(hosts.RemoveAll(name), hosts.Rename(fresh, name))
}

// complete lets go of a host that has sent all that was asked for.
func (c *coordinator) complete(h *host) {
	h.State, h.Why, h.closed = bundle.HostDone, "", true
	close(h.orders)
	h.orders = nil
	c.keep()
	c.Note(h.Name, "done")
}

// release starts the next scenario when all hosts that are left are ready: at one instant on all of
// them, or on one host where they measure alone.
func (c *coordinator) release() {
	var ready []*host
	for _, h := range c.hosts {
		switch {
		case h.closed || h.ended:
		case !h.waits:
			return // it is not as far
		default:
			ready = append(ready, h)
		}
	}
	if len(ready) == 0 {
		return
	}
	first := ready[0]
	for _, h := range ready {
		if h.done < first.done {
			first = h
		}
	}
	id := first.waiting
	trip := int64(0)
	for _, h := range ready {
		trip = max(trip, h.best().trip)
	}
	at := monotonic() + int64(200*time.Millisecond) + 3*trip
	for _, h := range ready {
		if h.waiting != id || c.fleet.Order == alone && h != first {
			continue
		}
		h.waits = false
		h.await(scenarioName(id), c.limits.slack)
		h.order(command{Go: &id, At: at + h.best().offset})
	}
	who := "all hosts"
	if c.fleet.Order == alone {
		who = first.Name
	}
	c.Note("", fmt.Sprintf("scenario %d: %s", id, who))
}

// show shows what the hosts do now, or notes from time to time what they do together.
func (c *coordinator) show() {
	if c.Show != nil {
		c.Show(c.statuses(time.Now()))
		return
	}
	var iops, bw float64
	n := 0
	for _, h := range c.hosts {
		if h.second.Event != "" && !h.closed {
			iops, bw, n = iops+h.second.IOPS, bw+h.second.BW, n+1
		}
	}
	if n > 0 && time.Since(c.noted) >= noteEvery {
		c.noted = time.Now()
		c.Note("", fmt.Sprintf("  %s: %s IOPS, %s", text.Plural(n, "host"), units.IOPS(iops), units.Rate(bw)))
	}
}

// keep saves how far the run is, so that what the hosts measured can be fetched when this process
// is killed.
func (c *coordinator) keep() {
	if err := c.save(); err != nil {
		c.Note("", err.Error())
	}
}

func (c *coordinator) save() error {
	if c.dir == nil {
		return nil
	}
	if !c.fetch {
		c.fleet.Hosts = nil
	}
	for _, h := range c.hosts {
		if !c.fetch {
			h.Starts = map[int]time.Duration{}
			for id, at := range h.starts {
				h.Starts[id] = time.Duration(at - c.base)
			}
		}
		one := h.FleetHost
		if one.State == "" {
			one.State, one.Why = bundle.HostLost, "the run was not finished"
		}
		if i := slices.IndexFunc(c.fleet.Hosts, func(o bundle.FleetHost) bool { return o.Name == one.Name }); i >= 0 {
			c.fleet.Hosts[i] = one
		} else {
			c.fleet.Hosts = append(c.fleet.Hosts, one)
		}
	}
	return bundle.SaveFleet(c.dir, c.fleet)
}

// named is an error's text with the directory as the user knows it.
func (c *coordinator) named(err error) string {
	return strings.ReplaceAll(err.Error(), c.dir.Path(), c.dir.Name())
}

// hostDir is where a host's bundle goes below the fleet run.
func hostDir(host string) string { return filepath.Join("hosts", fileName(host)) }

// assemble reads the bundles of the hosts that are done, merges and judges them, and saves the
// fleet.
func (c *coordinator) assemble(lone map[string]map[int]units.IOPS) error {
	var all []source
	for i := range c.fleet.Hosts {
		h := &c.fleet.Hosts[i]
		if h.State != bundle.HostDone {
			continue
		}
		b, err := bundle.Open(c.dir.Path(h.Dir))
		if err != nil {
			h.State, h.Why = bundle.HostLost, text.Clean("its bundle cannot be read: "+c.named(err), 600)
			continue
		}
		src := source{host: h.Name, bundle: b, starts: h.Starts, alone: lone[h.Name]}
		read := hostOf(src)
		h.State, h.Why, h.Verdict, h.Reasons, h.Facts = read.State, read.Why, read.Verdict, read.Reasons, read.Facts
		all = append(all, src)
	}
	fill(c.fleet, all, c.fleet.Created, c.Shared, c.Disabled)
	return bundle.SaveFleet(c.dir, c.fleet)
}
