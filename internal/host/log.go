package host

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/sys"
)

// Trouble is a kind of complaint in the kernel's log.
type Trouble string

// The kinds that are looked for.
const (
	Timeout   Trouble = "timeout"   // a request that a drive did not answer in time, or a reset for it
	IOError   Trouble = "I/O error" // a request that failed
	FSError   Trouble = "filesystem error"
	Failed    Trouble = "failed member" // md threw a device out of an array
	Throttled Trouble = "throttled"     // a processor was too hot
)

// Event is what the kernel's log says of one kind of trouble with one device.
type Event struct {
	Kind   Trouble       `json:"kind"`
	Device string        `json:"device,omitempty"` // as the kernel names it, a controller (nvme1) for timeouts; empty for processors
	Count  int           `json:"count"`            // lines
	Last   time.Duration `json:"last"`             // since boot; 0 where the log has no times
	Text   string        `json:"text"`             // the last line, without its time
}

// patterns are how the kernel words it: drivers/nvme/host/pci.c, block/blk-core.c, fs/buffer.c,
// fs/ext4/super.c, fs/xfs/xfs_message.c and xfs_log.c, drivers/md,
// drivers/thermal/intel/therm_throt.c of Linux 4.14 to 6.18.
var patterns = []struct {
	kind Trouble
	re   *regexp.Regexp
}{
	{
		Timeout,
		regexp.MustCompile(
			`^nvme (nvme\d+): (?:I/O (?:tag )?\d+ .*timeout|.*controller is down; will reset|Abort status|resetting controller)`,
		),
	},
	{IOError, regexp.MustCompile(`\bI/O error, dev ([\w!-]+),`)},
	{IOError, regexp.MustCompile(`^Buffer I/O error on dev(?:ice)? ([\w!-]+),`)},
	{FSError, regexp.MustCompile(`^EXT4-fs error \(device ([\w!-]+)\)`)},
	{FSError, regexp.MustCompile(`^EXT4-fs \(([\w!-]+)\): (?:Remounting filesystem read-only|shut down)`)},
	{FSError, regexp.MustCompile(`^Aborting journal on device ([\w!]+?)(?:-\d+)?\.`)},
	{FSError, regexp.MustCompile(`^BTRFS:? (?:error|critical)(?: \(device|:.*\(device) ([\w!-]+)`)},
	{
		FSError,
		regexp.MustCompile(
			`^XFS \(([\w!-]+)\): (?:log I/O error|metadata I/O error|Metadata (?:corruption|CRC error)|Corruption |Filesystem has been shut down)`,
		),
	},
	{Failed, regexp.MustCompile(`^md/raid\d*:(md\w+): Disk failure on`)},
	{Throttled, regexp.MustCompile(`^CPU\d+: (?:Core|Package) temperature(?:/speed)? (?:is )?above threshold`)},
}

// mounted is how the kernel says that a filesystem is mounted: what it said before was of another one.
var mounted = regexp.MustCompile(`^(?:EXT4-fs|XFS) \(([\w!-]+)\): [mM]ount(?:ed filesystem|ing V)`)

// ParseLog finds trouble in what dmesg(1) prints. Kinds and devices come in the order of their first
// line.
func ParseLog(text string) []Event {
	var all []Event
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		var at time.Duration
		if stamp, rest, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(stamp, "[") {
			if s, err := strconv.ParseFloat(strings.TrimSpace(stamp[1:]), 64); err == nil && s >= 0 && s < 1e9 {
				at, line = time.Duration(s*float64(time.Second)), rest
			}
		}
		// Almost no line is of interest, and a pattern takes far longer than a word.
		if !strings.Contains(line, "rror") && !strings.Contains(line, "nvme") && !strings.HasPrefix(line, "md/") &&
			!strings.HasPrefix(line, "XFS") && !strings.HasPrefix(line, "EXT4") && !strings.HasPrefix(line, "Abort") &&
			!strings.HasPrefix(line, "BTRFS") && !strings.HasPrefix(line, "CPU") {
			continue
		}
		if m := mounted.FindStringSubmatch(line); m != nil {
			all = slices.DeleteFunc(all, func(o Event) bool { return o.Kind == FSError && o.Device == m[1] })
		}
		for _, p := range patterns {
			m := p.re.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			e := Event{Kind: p.kind}
			if len(m) > 1 {
				e.Device = m[1]
			}
			i := slices.IndexFunc(all, func(o Event) bool { return o.Kind == e.Kind && o.Device == e.Device })
			if i < 0 {
				all, i = append(all, e), len(all)
			}
			all[i].Count++
			all[i].Last, all[i].Text = at, line
			break
		}
	}
	return all
}

// Log reads what is wrong by the kernel's log. It is an error where the caller may not read it.
func Log(ctx context.Context, m *sys.Machine) ([]Event, error) {
	log, err := m.Output(ctx, "dmesg")
	return ParseLog(log), err
}

// Since is what a log says that one read earlier did not, with the count of its new lines. The
// kernel forgets its oldest lines: a count may have fallen all the same, and the times tell.
func Since(before, after []Event) []Event {
	var since []Event
	for _, e := range after {
		i := slices.IndexFunc(before, func(o Event) bool { return o.Kind == e.Kind && o.Device == e.Device })
		if i >= 0 {
			old := before[i]
			if e.Count <= old.Count && e.Last <= old.Last {
				continue
			}
			e.Count = max(e.Count-old.Count, 1)
		}
		since = append(since, e)
	}
	return since
}
