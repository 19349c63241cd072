package diagnose

import (
	"fmt"
	"slices"

	"plimsoll/internal/block"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// VolatileCache is what queue/write_cache says of a device whose cache is lost with the power.
const VolatileCache = "write back"

// Volatile are the drives below a device that have such a cache.
func (c *Case) Volatile(device string) []string { return c.Cached(device, VolatileCache) }

// Cached are the drives below a device of which queue/write_cache says so; "" are those without that file, as
// before Linux 4.7, of which nothing is known.
func (c *Case) Cached(device, mode string) []string {
	var all []string
	for _, d := range c.Tree().Leaves(device) {
		if disk := c.Device(d.Parent); disk != nil {
			d = disk
		}
		if (d.Kind == block.Disk || d.Kind == block.Loop) && d.Queue.WriteCache == mode {
			all = append(all, d.Name)
		}
	}
	return all
}

// leastSyncs are as many as prove that none of them became a flush.
const leastSyncs = 50

// Unflushed is syncs that returned although no drive was asked to empty its cache.
type Unflushed struct {
	Syncs   uint64
	Drives  []string
	Dataset string // of ZFS, which does nothing for a sync
}

// NoSyncs is what the property sync of a dataset says where ZFS does nothing for one.
const NoSyncs = "disabled"

// Unflushed says that the syncs of a run reached no drive: there were many, and their dataset does nothing for one; or
// the drives below have volatile caches, and none counted a flush. Syncs with each write (O_DSYNC) may go without one
// (FUA).
func (c *Case) Unflushed(m Measurement) (Unflushed, bool) {
	var u Unflushed
	if m.Result == nil || c.Topology == nil {
		return u, false
	}
	if u, ok := c.ignored(m); ok || c.Host == nil {
		return u, ok
	}
	if kernel, ok := c.Host.Release(); !ok || kernel.Before(host.CountsFlushes) {
		return u, false
	}
	role := m.Scenario.Role
	server := m.Kind() == suite.OfServer
	if server {
		role = topology.WAL
		for _, probe := range []result.SyncProbe{m.Postgres.Before, m.Postgres.After} {
			if probe.Flushes > 0 {
				return u, false
			}
			if probe.Counted {
				u.Syncs += probe.N
			}
		}
	} else if m.Any(func(w fio.Workload) bool { return w.SyncCall == "fsync" || w.SyncCall == "fdatasync" }) {
		u.Syncs = m.Total.Sync.Lat.N
	}
	t := c.Topology.For(role)
	if t == nil || u.Syncs < leastSyncs {
		return u, false
	}
	u.Drives = c.Volatile(t.Device)
	for _, name := range u.Drives {
		i := slices.IndexFunc(m.Devices, func(d telemetry.DeviceUse) bool { return d.Name == name })
		if !server && (i < 0 || m.Devices[i].Flushes > 0) {
			return u, false
		}
	}
	return u, len(u.Drives) > 0
}

// ignored is the syncs of a run on a dataset that does nothing for them.
func (c *Case) ignored(m Measurement) (u Unflushed, ok bool) {
	role := m.Scenario.Role
	if p := m.Postgres; p != nil {
		role, u.Syncs = topology.WAL, p.Before.N+p.After.N
	} else if m.Syncs() {
		u.Syncs = m.Total.Sync.Lat.N
	}
	t := c.Topology.For(role)
	if t == nil || t.Mount == nil || t.Mount.ZFS == nil || t.Mount.ZFS.Sync != NoSyncs {
		return u, false
	}
	u.Dataset = t.Mount.Source
	return u, u.Syncs >= leastSyncs
}

// Shown adds its evidence to a finding.
func (u Unflushed) Shown(f finding.Finding) finding.Finding {
	if u.Dataset != "" {
		return f.Saw("syncs that returned", u.Syncs, "", "fio").
			Saw("sync", NoSyncs, "standard", "zfs get sync "+text.ShellQuote(u.Dataset))
	}
	return f.Saw("syncs that returned", u.Syncs, "", "fio").
		Saw("flushes", "0", "one for each sync", "/proc/diskstats, "+text.Some(u.Drives, 3)).
		Saw("write cache", VolatileCache, "", Sysfs(u.Drives[0], "queue/write_cache"))
}

// Sentence says it.
func (u Unflushed) Sentence() string {
	if u.Dataset != "" {
		return fmt.Sprintf("%s returned at once, because %s has sync=%s.", text.Plural(u.Syncs, "sync"), u.Dataset, NoSyncs)
	}
	return finding.Says("%s returned, and %s counted no flush: what was synced is in a volatile cache.",
		text.Plural(u.Syncs, "sync"), u.Drives)
}
