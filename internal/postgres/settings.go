package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/permit"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

const (
	unit          = 15_833_000     // bytes of a unit of pgbench's scale: 15.1 MiB
	mostWAL       = 32 * units.GiB // of max_wal_size
	leastWAL      = 128 * units.MiB
	leastTemp     = 16 * units.MiB
	headroom      = units.GiB
	connections   = 10 // of the server, beyond pgbench's clients
	smallestCache = 16 * units.MiB
)

// plan is how a server is set up, worked out before anything is written.
type plan struct {
	install Install
	user    User
	memory  units.Bytes
	maxWAL  units.Bytes
	temp    units.Bytes // that one client's temporary files may take
	private units.Bytes // memory that each of the server's processes may have of its own
	scale   int         // 0 until the speed of pgbench -i is known
	most    int         // that the free space allows
	data    bool
	clients int
	set     []setting
}

// setting is one of the server's; given where the user asked for it.
type setting struct {
	name, value string
	given       bool
}

// refused are settings by which a server would be reachable, would leave plimsoll's folders or fill the filesystem,
// beside those of which the name says so.
var refused = strings.Fields(`
	listen_addresses port temp_file_limit unix_socket_permissions logging_collector log_destination ssl primary_conninfo
	dynamic_shared_memory_type shared_memory_type`)

// leadsOut says that a setting names a program, a library or a place, by how PostgreSQL calls these
// in all versions: oauth_validator_libraries, krb_server_keyfile.
func leadsOut(name string) bool {
	if name == "search_path" {
		return false
	}
	ends := strings.Fields("_command _library _libraries _path _directory _directories dir _file keyfile _provider")
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// checkSettings refuses names that PostgreSQL cannot have and those that lead out of plimsoll's
// hands.
func checkSettings(set map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") != "" {
			return fmt.Errorf("--pg-set %q: want the name of a setting, such as wal_compression=on", name)
		}
		if strings.Contains(name, ".") { // plperl.on_init runs what it says
			return fmt.Errorf("--pg-set %s: this is an extension's, and plimsoll measures a server without any", name)
		}
		if slices.Contains(refused, name) || leadsOut(name) {
			return fmt.Errorf("--pg-set %s: plimsoll sets this itself, so that the server stays within its place", name)
		}
		if strings.ContainsAny(set[name], "\x00\n") {
			return fmt.Errorf("--pg-set %s: the value holds a control character", name)
		}
	}
	return nil
}

// settings are those of the server but for where it listens, which is decided when it starts.
func (p *plan) settings(server suite.Server) {
	buffers := max(p.memory/4, smallestCache)
	ours := [][2]string{
		{"shared_buffers", mib(buffers)},
		{"max_wal_size", mib(p.maxWAL)},
		{"temp_file_limit", mib(p.temp)},
		{"checkpoint_timeout", "15min"},
		{"wal_sync_method", "fdatasync"},
		{"synchronous_commit", "on"},
		{"full_page_writes", "on"},
		{"wal_compression", "off"},
		{"huge_pages", "try"},
		{"track_io_timing", "on"},
		{"max_connections", strconv.Itoa(p.clients + connections)},
		{"log_checkpoints", "on"},
	}
	if p.install.Major >= 14 {
		ours = append(ours, [2]string{"track_wal_io_timing", "on"})
	}
	for _, s := range ours {
		if _, given := server.Settings[s[0]]; !given {
			p.set = append(p.set, setting{s[0], s[1], false})
		}
	}
	p.private = max(allPrivate/units.Bytes(max(p.clients, 1)+workers), leastPrivate)
	for _, name := range slices.Sorted(maps.Keys(server.Settings)) {
		p.set = append(p.set, setting{name, server.Settings[name], true})
		if size, err := units.ParseBytes(strings.ReplaceAll(server.Settings[name], "B", "iB")); err == nil &&
			strings.HasSuffix(name, "work_mem") {
			p.private = min(p.private+size, mostPrivate)
		}
	}
}

const (
	// allPrivate is what the statements of all clients may take together, leastPrivate what those of one may, and
	// mostPrivate where a setting gives it more.
	allPrivate   = 2 * units.GiB
	leastPrivate = 128 * units.MiB
	// workers may run for them beside: max_worker_processes.
	workers     = 8
	mostPrivate = 4 * units.GiB
)

func mib(b units.Bytes) string { return strconv.FormatUint(uint64(b/units.MiB), 10) + "MB" }

// scaleOf reads --pg-scale: a number, a size, or nothing for automatic (0).
func scaleOf(s string) (int, error) {
	if s == "" || s == "auto" {
		return 0, nil
	}
	if n, err := strconv.Atoi(s); err == nil {
		if n < 1 || n > 10_000_000 {
			return 0, fmt.Errorf("--pg-scale %s: want 1 to 10,000,000, a size such as 20GiB, or auto", s)
		}
		return n, nil
	}
	size, err := units.ParseBytes(s)
	if err != nil || size < unit {
		return 0, fmt.Errorf("--pg-scale %q: want a number such as 100, a size such as 20GiB, or auto", s)
	}
	return int(size / unit), nil
}

// space works out what fits, and refuses what does not, before anything is written.
func (p *plan) space(site permit.Site) error {
	dataFree, dataFS, err := site.Data.Space()
	if err != nil {
		return err
	}
	walFree, walFS, err := site.WAL.Space()
	if err != nil {
		return err
	}
	one := dataFS == walFS
	p.maxWAL = min(max(walFree/4, leastWAL), mostWAL)
	if text, given := site.Server.Settings["max_wal_size"]; given {
		if size, err := units.ParseBytes(strings.ReplaceAll(text, "B", "iB")); err == nil {
			p.maxWAL = size
		}
	}
	for _, name := range []string{"min_wal_size", "wal_keep_size"} {
		if size, err := units.ParseBytes(strings.ReplaceAll(site.Server.Settings[name], "B", "iB")); err == nil {
			p.maxWAL = max(p.maxWAL, size)
		}
	}
	need := headroom
	if p.data {
		p.most = max(int(dataFree*2/5/unit), 1)
		need += units.Bytes(max(p.scale, 1)) * unit
	}
	if one {
		need += p.maxWAL
	}
	if need > dataFree {
		return fmt.Errorf("%s: the database needs %v (data of scale %d, the log, %v to spare) and %v is free: "+
			"choose a smaller --pg-scale, or a smaller log with "+
			"--pg-set max_wal_size=1GB", site.Data.Path, need, max(p.scale, 1), headroom, dataFree)
	}
	if !one && p.maxWAL+headroom > walFree {
		return fmt.Errorf("%s: the log needs %v and %v is free: choose a smaller one with --pg-set max_wal_size=1GB",
			site.WAL.Path, p.maxWAL+headroom, walFree)
	}
	p.temp = max((headroom+(dataFree-need)/2)/units.Bytes(max(p.clients, 1)), leastTemp)
	return nil
}

const (
	initFor      = 100 * time.Second // that loading the data may take where the scale is automatic
	initForQuick = 20 * time.Second
	trialScale   = 5 // loaded first, to see how fast that is
)

// autoScale is the smaller of twice the memory and what loads in time, and what fits.
func (p *plan) autoScale(trial time.Duration, quick bool) int {
	room := initFor
	if quick {
		room = initForQuick
	}
	n := int(2 * uint64(p.memory) / unit)
	if trial > 0 {
		n = min(n, int(room.Seconds()/trial.Seconds()*trialScale))
	}
	return max(min(n, p.most), trialScale)
}
