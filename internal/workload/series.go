package workload

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"
)

// WriteSeries writes what was observed from start on as a table of CloudWatch's EBS metrics, which
// From reads: sums over each interval.
func WriteSeries(w io.Writer, start time.Time, all []Observed) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{ // errors are kept, see Error
		"timestamp", "VolumeId", "VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes",
		"VolumeTotalReadTime", "VolumeTotalWriteTime",
	})
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
