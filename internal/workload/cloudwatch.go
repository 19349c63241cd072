package workload

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/text"
)

// CloudWatch counts for each EBS volume and period: VolumeReadOps and VolumeReadBytes as sums,
// VolumeTotalReadTime as seconds that all reads of the period took together, VolumeQueueLength as a
// mean (docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html).

// cloudWatchMetrics are those that are read.
var cloudWatchMetrics = strings.Fields(`
	VolumeReadOps VolumeWriteOps VolumeReadBytes VolumeWriteBytes
	VolumeTotalReadTime VolumeTotalWriteTime VolumeQueueLength VolumeIdleTime`)

// point is a value of a metric of a volume at the start of a period.
type point struct {
	volume, metric string
	at             time.Time
	value          float64
}

// metricIn finds the metric's name in a label such as "vol-0abc VolumeReadOps", and what else is in
// it.
func metricIn(label string) (volume, metric string, ok bool) {
	for _, m := range cloudWatchMetrics {
		if strings.Contains(label, m) {
			rest := strings.TrimSpace(strings.Replace(label, m, "", 1))
			for _, word := range strings.FieldsFunc(rest, notOfID) {
				if strings.HasPrefix(word, "vol-") {
					return word, m, true
				}
			}
			return "volume", m, true
		}
	}
	return "", "", false
}

// notOfID parts words at what no volume's name has.
func notOfID(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r)
}

// cloudWatchJSON reads answers of get-metric-data and of get-metric-statistics, several of which
// may stand behind each other.
func cloudWatchJSON(data []byte) (points []point, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var doc struct {
			Results []struct {
				ID, Label  string
				Timestamps []time.Time
				Values     []float64
			} `json:"MetricDataResults"`
			Label      string
			Datapoints []struct {
				Timestamp    time.Time
				Sum, Average *float64
			}
		}
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("CloudWatch's JSON: %w", err)
		}
		for _, r := range doc.Results {
			volume, metric, ok := metricIn(cmp.Or(r.Label, r.ID))
			if !ok {
				continue
			}
			if len(r.Timestamps) != len(r.Values) {
				return nil, fmt.Errorf("CloudWatch's JSON: %s has %d times and %d values", text.Quote(r.Label), len(r.Timestamps),
					len(r.Values))
			}
			for i, at := range r.Timestamps {
				points = append(points, point{volume, metric, at, r.Values[i]})
			}
		}
		if volume, metric, ok := metricIn(doc.Label); ok {
			for _, p := range doc.Datapoints {
				v := p.Sum
				if metric == "VolumeQueueLength" && p.Average != nil || v == nil {
					v = p.Average
				}
				if v == nil || p.Sum == nil && metric != "VolumeQueueLength" {
					return nil, fmt.Errorf("CloudWatch's JSON: %s has no Sum: ask with --statistics Sum", metric)
				}
				points = append(points, point{volume, metric, p.Timestamp, *v})
			}
		}
	}
	return points, nil
}

// cloudWatchCSV reads a table with a column of times and one for each metric, and of volumes where
// there are several.
func cloudWatchCSV(data []byte) ([]point, error) {
	c := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	c.FieldsPerRecord = -1
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("CloudWatch's CSV: %w", err)
	}
	column := func(a, b string) int {
		return slices.IndexFunc(head, func(h string) bool { return strings.EqualFold(h, a) || strings.EqualFold(h, b) })
	}
	timeAt, volumeAt := column("timestamp", "time"), column("volume", "VolumeId")
	if timeAt < 0 {
		return nil, errors.New("CloudWatch's CSV: no column timestamp")
	}
	var points []point
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return points, nil
		}
		if err != nil {
			return nil, fmt.Errorf("CloudWatch's CSV: %w", err)
		}
		line, _ := c.FieldPos(0)
		if timeAt >= len(cells) {
			return nil, fmt.Errorf("CloudWatch's CSV line %d: no time", line)
		}
		at, ok := parseTime(cells[timeAt])
		if t, err := time.Parse(time.RFC3339, cells[timeAt]); err == nil {
			at, ok = t, true
		}
		if !ok {
			return nil, fmt.Errorf("CloudWatch's CSV line %d: time %s: want one such as 2026-11-21T20:00:00Z", line,
				text.Quote(cells[timeAt]))
		}
		for i, cell := range cells {
			if i >= len(head) || cell == "" {
				continue
			}
			volume, metric, ok := metricIn(head[i])
			if !ok {
				continue
			}
			if volumeAt >= 0 && volumeAt < len(cells) {
				volume = cells[volumeAt]
			}
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				return nil, fmt.Errorf("CloudWatch's CSV line %d: %s %s: want a number", line, metric, text.Quote(cell))
			}
			points = append(points, point{volume, metric, at, v})
		}
	}
}

// fromCloudWatch turns points into volumes.
func fromCloudWatch(points []point) (all []Observed, err error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("it has no metric of EBS volumes, such as %s", cloudWatchMetrics[0])
	}
	type key struct {
		volume string
		at     time.Time
	}
	values := map[key]map[string]float64{}
	times := map[string][]time.Time{}
	for _, p := range points {
		if p.value < 0 || math.IsNaN(p.value) || p.value > 1e18 {
			return nil, fmt.Errorf("%s at %s is %g", p.metric, p.at.Format(time.RFC3339), p.value)
		}
		k := key{p.volume, p.at.UTC()}
		if values[k] == nil {
			values[k] = map[string]float64{}
			times[p.volume] = append(times[p.volume], k.at)
		}
		if _, twice := values[k][p.metric]; twice {
			return nil, fmt.Errorf("%s of %s at %s is there twice", p.metric, text.Quote(p.volume),
				p.at.Format(time.RFC3339))
		}
		values[k][p.metric] = p.value
	}
	for _, v := range slices.Sorted(maps.Keys(times)) {
		ts := times[v]
		slices.SortFunc(ts, time.Time.Compare)
		var between []time.Duration
		for i := 1; i < len(ts); i++ {
			between = append(between, ts[i].Sub(ts[i-1]))
		}
		period := usual(between)
		if period <= 0 {
			return nil, fmt.Errorf("%s has one period only: the length of a period is unknown; give a file with several",
				text.Quote(v))
		}
		o := Observed{Device: v, Known: true, Start: ts[0]}
		gaps := 0
		for i, at := range ts {
			if i > 0 && between[i-1] > period*3/2 {
				gaps++
			}
			m, t := values[key{v, at}], period.Seconds()
			iv := Interval{
				At: at.Sub(ts[0]) + period, Len: period, Queue: m["VolumeQueueLength"],
				Read:  Flow{IOPS: m["VolumeReadOps"] / t, Rate: m["VolumeReadBytes"] / t},
				Write: Flow{IOPS: m["VolumeWriteOps"] / t, Rate: m["VolumeWriteBytes"] / t},
			}
			iv.Read.Wait = meanWait(m["VolumeTotalReadTime"], m["VolumeReadOps"])
			iv.Write.Wait = meanWait(m["VolumeTotalWriteTime"], m["VolumeWriteOps"])
			if idle, ok := m["VolumeIdleTime"]; ok {
				iv.Util = min(max(1-idle/t, 0), 1)
			}
			o.Intervals = append(o.Intervals, iv)
		}
		if gaps > 0 {
			o.Notes = append(o.Notes,
				fmt.Sprintf("%s: the data has %s: what happened there is not known", v, text.Plural(gaps, "gap")))
		}
		o.Notes = append(o.Notes,
			fmt.Sprintf("CloudWatch's figures are means of %s: a shorter peak does not show", text.Duration(period)))
		all = append(all, o)
	}
	return all, nil
}

// meanWait is what each of n took of a sum of seconds; 0 for none.
func meanWait(sum, n float64) time.Duration {
	if n <= 0 {
		return 0
	}
	return time.Duration(min(sum/n, 1e6) * float64(time.Second))
}

// From reads a log of another program by its form: text or JSON of iostat -x, text of sar -d, sadf
// -d and blkparse, JSON or CSV of CloudWatch. every is the time between reports that have none.
func From(data []byte, every time.Duration) ([]Observed, error) {
	const mostLog = 1 << 30
	if len(data) > mostLog {
		return nil, fmt.Errorf("%d bytes: want at most %d; cut it", len(data), mostLog)
	}
	start := bytes.TrimLeft(data[:min(len(data), 4096)], " \t\r\n\ufeff")
	head := data[:min(len(data), 64<<10)] // what stands first in each is there
	iostat := func(reports []iostatReport) ([]Observed, error) { return fromIostat(reports, every) }
	sar := func(reports []iostatReport) ([]Observed, error) { // all of them are of an interval
		return fromReports(reports, every, []string{
			"sar counts reads and writes together: each direction is given the same share of the requests as of the bytes",
		})
	}
	switch {
	case bytes.HasPrefix(start, []byte("{")) && bytes.Contains(start, []byte(`"sysstat"`)):
		return observed(data, iostatJSON, iostat)
	case bytes.HasPrefix(start, []byte("{")):
		return observed(data, cloudWatchJSON, fromCloudWatch)
	case strings.Contains(strings.ToLower(text.FirstLine(string(start))), ",volume") &&
		bytes.Contains(start, []byte("Volume")):
		return observed(data, cloudWatchCSV, fromCloudWatch)
	case bytes.HasPrefix(start, []byte(sadfHead)):
		return observed(data, sadfText, sar)
	case blkLine.Match(head):
		return fromBlkparse(data, every)
	case sarHead.Match(head):
		return observed(data, sarText, sar)
	}
	return observed(data, iostatText, iostat)
}

// observed reads a log and makes devices of what is in it.
func observed[T any](
	data []byte, read func([]byte) ([]T, error), of func([]T) ([]Observed, error),
) ([]Observed, error) {
	all, err := read(data)
	if err != nil {
		return nil, err
	}
	return of(all)
}

// WriteSeries writes what was observed from start on as a table of CloudWatch's EBS metrics, which
// From reads: sums over each interval.
func WriteSeries(w io.Writer, start time.Time, all []Observed) error {
	c := csv.NewWriter(w)
	_ = c.Write(append([]string{"timestamp", "VolumeId"}, cloudWatchMetrics[:6]...)) // errors are kept, see Error
	for _, o := range all {
		for _, iv := range o.Intervals {
			t := iv.Len.Seconds()
			row := []string{start.UTC().Add(iv.At - iv.Len).Format(time.RFC3339Nano), o.Device}
			for _, v := range []float64{
				iv.Read.IOPS * t, iv.Write.IOPS * t, iv.Read.Rate * t, iv.Write.Rate * t,
				iv.Read.IOPS * t * iv.Read.Wait.Seconds(), iv.Write.IOPS * t * iv.Write.Wait.Seconds(),
			} {
				row = append(row, strconv.FormatFloat(v, 'g', 12, 64))
			}
			_ = c.Write(row)
		}
	}
	c.Flush()
	return c.Error()
}
