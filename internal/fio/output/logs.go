package output

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// logName parses the names that fio gives its logs: prefix_kind.job.log, or prefix_kind.log with
// per_job_logs=0.
var logName = regexp.MustCompile(`^(.*?)_?(clat_hist|bw|iops|slat|clat|lat)(?:\.(\d+))?\.log$`)

// IsLogName says whether fio would name a log so.
func IsLogName(name string) bool { return logName.MatchString(path.Base(name)) }

// ReadLogs reads the bandwidth, IOPS, latency and histogram logs that belong together, of one job
// or many. Each job (prefix and number of the file's name) becomes a row; Total adds rows up.
// Percentiles come from fio's own bins. Memory does not grow with the logs: about 1 MB for each
// processor.
//
// version is that of an output that lies beside the logs, "" for none: the logs themselves do not
// say their unit of time.
func ReadLogs(fsys fs.FS, names []string, version string) (*fio.Output, error) {
	out := &fio.Output{Format: fio.Logs}
	unclear := map[int]bool{} // rows whose unit of time is not known
	names = slices.Clone(names)
	slices.SortFunc(names, compareLogNames)
	rows := map[string]int{}
	for _, name := range names {
		m := logName.FindStringSubmatch(path.Base(name))
		if m == nil {
			return nil, fmt.Errorf("log %s: want a name such as prefix_lat.1.log, which says what was logged", name)
		}
		key := path.Join(path.Dir(name), m[1]) + "\x00" + m[3]
		at, ok := rows[key]
		if !ok {
			at = len(out.Jobs)
			rows[key] = at
			out.Jobs = append(out.Jobs, fio.Job{Name: m[1]})
			if m[3] != "" {
				out.Jobs[at].Count = 1
			}
		}
		f, err := fsys.Open(name)
		if err == nil {
			known, failed := readLog(f, path.Base(name), m[2], out, at)
			unclear[at] = unclear[at] || !known
			err = errors.Join(failed, f.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("log %s: %w", name, err)
		}
	}
	for i := range out.Jobs {
		settleLogJob(&out.Jobs[i])
		if unclear[i] {
			settleUnit(out, i, version)
		}
	}
	return out, nil
}

// compareLogNames puts job 2 before job 10.
func compareLogNames(a, b string) int {
	x, y := logName.FindStringSubmatch(path.Base(a)), logName.FindStringSubmatch(path.Base(b))
	if x != nil && y != nil && path.Dir(a) == path.Dir(b) && x[1] == y[1] && x[3] != y[3] {
		nx, _ := strconv.Atoi(x[3])
		ny, _ := strconv.Atoi(y[3])
		return cmp.Compare(nx, ny)
	}
	return strings.Compare(a, b)
}

// logBlock is what is read of a log at once, and the longest line.
const logBlock = 1 << 18

// readLog adds the log in r to a row. known is false of latencies whose unit the log does not tell.
func readLog(r io.Reader, base, kind string, out *fio.Output, row int) (known bool, err error) {
	if kind == "clat_hist" {
		return true, readHistLog(r, base, out, row)
	}
	head := make([]byte, 1<<16)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	head = head[:n]
	layout := logLayoutOf(head)
	scan := &logScan{layout: layout}
	if err := eachLine(io.MultiReader(bytes.NewReader(head), r), logBlock, scan.line); err != nil {
		return false, err
	}
	known = layout.columns != 4 || !strings.HasSuffix(kind, "lat")
	scan.into(out, base)
	j := &out.Jobs[row]
	for d, dir := range j.Directions() {
		total := scan.total[d]
		if total.n == 0 {
			continue
		}
		factor := 1.0
		if kind == "bw" {
			factor = 1024
		}
		dir.Runtime = max(dir.Runtime, scan.span())
		mean, dev := total.spread(scan.sq[d])
		samples := fio.Samples{
			Min: float64(total.min) * factor, Max: float64(total.max) * factor,
			Mean: mean * factor, StdDev: dev * factor, N: total.n,
		}
		switch kind {
		case "bw":
			dir.BWSamples = samples
		case "iops":
			dir.IOPSSamples = samples
		default:
			l := dir.Latencies()[slices.Index(fio.LatencyNames[:], kind)]
			if scan.bytes[d] > 0 {
				*l = scan.latency(d, samples)
				dir.N, dir.Bytes = max(dir.N, total.n), max(dir.Bytes, units.Bytes(scan.bytes[d]))
				continue
			}
			// The spread of means is not that of I/Os, and no percentile of them is one.
			*l = fio.Latency{Mean: mean}
			out.Doubt("%s: %s: entries are averages over windows (log_avg_msec), not single I/Os: their mean is given, but no "+
				"percentiles, which would need single I/Os", base, fio.DirectionNames[d])
		}
	}
	return known, nil
}

// spread returns mean and deviation from sums.
func (p logSum) spread(sq float64) (mean, dev float64) {
	n := float64(p.n)
	mean = float64(p.sum) / n
	if p.n > 1 {
		dev = math.Sqrt(max((sq-mean*float64(p.sum))/(n-1), 0))
	}
	return mean, dev
}

// span is the time from the start to the last entry.
func (s *logScan) span() time.Duration {
	return time.Duration(min(s.last-min(s.last, s.layout.start), math.MaxInt64/1_000_000)) * time.Millisecond
}

// settleLogJob fills rates where single I/Os were logged.
func settleLogJob(j *fio.Job) {
	for _, d := range j.Directions() {
		j.Runtime = max(j.Runtime, d.Runtime)
		sec := d.Runtime.Seconds()
		if sec > 0 {
			d.IOPS, d.BW = units.IOPS(float64(d.N)/sec), units.Rate(float64(d.Bytes)/sec)
		}
		if d.N == 0 || sec == 0 {
			d.IOPS, d.BW = units.IOPS(d.IOPSSamples.Mean), units.Rate(d.BWSamples.Mean)
		}
	}
}

// epochTimes are, in ms, above those of any run and below those that log_unix_epoch writes.
const epochTimes = 1e11

// logLayoutOf finds what the columns are from the first lines: time, value, direction and block
// size always; then as asked for the offset (log_offset), the priority (from 3.19 on, hexadecimal
// with log_prio) and the issue time; and behind the value its maximum (log_window_value=both,
// 3.37).
func logLayoutOf(head []byte) logLayout {
	layout := logLayout{columns: 5}
	counts := map[int]int{}
	third, fourth := true, true // whether the column can be a direction throughout
	seen := 0
	for line := range bytes.Lines(head) {
		if seen == 1000 || line[len(line)-1] != '\n' && seen > 0 {
			break
		}
		cols := bytes.Split(bytes.TrimSpace(line), []byte{','})
		if len(cols) < 3 || len(cols) > 8 {
			continue
		}
		if first, n := logField(cols[0]); n > 0 && seen == 0 && first > epochTimes {
			layout.start = first
		}
		seen++
		counts[len(cols)]++
		isDir := func(i int) bool {
			if i >= len(cols) {
				return false
			}
			v, n := logField(cols[i])
			return n > 0 && v <= 2
		}
		third, fourth = third && isDir(2), fourth && isDir(3)
	}
	best := 0
	for columns, n := range counts {
		if n > best {
			layout.columns, best = columns, n
		}
	}
	layout.both = !third && fourth && layout.columns >= 5
	return layout
}
