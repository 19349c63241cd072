package bundle

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// written completes figures that someone wrote down by what the jobs did: of writes they are writes,
// and of IOPS and bandwidth the one that is missing is the other by the block size.
func written(o *fio.Output, loads []fio.Workload) *fio.Output {
	own := *o
	own.Jobs, own.Goals = slices.Clone(o.Jobs), slices.Clone(o.Goals)
	mega := 1.0 // what the table's MB turned out to be, in MB
	reads, writes := false, false
	var readBS, writeBS units.Bytes
	flight := 0
	for _, w := range loads {
		flight += w.InFlight()
		reads, writes = reads || w.Reads(), writes || w.Writes()
		if w.ReadSizes == nil && w.WriteSizes == nil {
			readBS, writeBS = max(readBS, w.ReadBS), max(writeBS, w.WriteBS)
		}
	}
	for i := range own.Jobs {
		j := &own.Jobs[i]
		if writes && !reads && !did(j.Write) {
			j.Read, j.Write = j.Write, j.Read
		}
		for at, bs := range []units.Bytes{readBS, writeBS} {
			d := j.Directions()[at]
			doubt, mb, was := "", strings.Contains(d.Printed["bw"], "MB"), d.BW
			switch {
			case d.IOPS == 0:
				doubt = byLittle(d, bs, flight)
			case bs > 0 && d.BW > 0 && mb:
				doubt = whichMB(d, bs)
			}
			if was > 0 {
				mega = max(mega, float64(d.BW/was))
			}
			if doubt == "" && mb && (bs == 0 || d.IOPS == 0) {
				doubt = d.Printed["bw"] + " may be MB or MiB, which is 4.9 % more: no IOPS and block size beside it show which"
			}
			if doubt != "" {
				own.Doubt("%s", doubt)
			}
			switch {
			case bs == 0:
			case d.IOPS == 0 && d.BW > 0:
				d.IOPS = units.IOPS(float64(d.BW) / float64(bs))
			case d.BW == 0 && d.IOPS > 0:
				d.BW = units.Rate(float64(d.IOPS) * float64(bs))
			}
		}
	}
	for i := range own.Goals {
		if g := &own.Goals[i]; g.MB {
			g.Value *= mega
		}
	}
	return &own
}

// mebibyte is how much larger than a MB of 1,000,000 bytes one of 1,048,576 is, sameMB how far rounded figures
// may be from either.
const (
	mebibyte = float64(units.MiB) / 1e6
	sameMB   = 0.02
)

// whichMB finds by the IOPS beside it what a table calls a MB, since people write MB for fio's MiB.
func whichMB(d *fio.Direction, bs units.Bytes) string {
	times := float64(d.IOPS) * float64(bs) / float64(d.BW)
	switch {
	case math.Abs(times/1.024-1) < 0.002: // what yabs.sh calls a MB is 1,000 KiB
		d.BW *= 1.024
		return ""
	case math.Abs(times-1) <= sameMB:
		return ""
	case math.Abs(times/mebibyte-1) <= sameMB:
		d.BW *= units.Rate(mebibyte)
		return fmt.Sprintf("%s of this table are MiB, as %s IOPS of %s show", d.Printed["bw"], d.IOPS, bs)
	}
	return fmt.Sprintf("%s IOPS of %s are not %s: one of the figures is of something else", d.IOPS, bs, d.Printed["bw"])
}

// byLittle finds by a mean latency and the I/Os in flight what a table calls a MB: so many I/Os that take so
// long each move as many bytes as one of the two, and not as the other.
func byLittle(d *fio.Direction, bs units.Bytes, flight int) string {
	mb := d.Printed["bw"]
	if !strings.Contains(mb, "MB") || d.BW <= 0 || bs == 0 || flight == 0 || d.Clat.Mean <= 0 {
		return ""
	}
	moved := float64(flight) / (d.Clat.Mean / 1e9) * float64(bs)
	if times := moved / float64(d.BW); math.Abs(times/mebibyte-1) > sameMB || math.Abs(times-1) <= sameMB {
		return ""
	}
	d.BW *= units.Rate(mebibyte)
	return fmt.Sprintf("%s of this table are MiB, as %d I/Os of %s in flight for %s each show", mb, flight, bs,
		text.Duration(time.Duration(d.Clat.Mean)))
}

// expected are a table's goals as thresholds, with the direction that its figures turned out to be of.
func expected(o *fio.Output) (all []suite.Threshold) {
	side := "total"
	for _, j := range o.Jobs {
		switch {
		case !did(j.Read):
			side = "write"
		case !did(j.Write):
			side = "read"
		}
	}
	for _, g := range o.Goals {
		of := suite.Metric{
			Side: suite.Side(cmp.Or(g.Side, side)), Quantity: suite.Quantity(g.Figure), Statistic: suite.Statistic(g.Statistic),
		}
		op := suite.Op(">=")
		if of.Quantity.IsLatency() {
			op = "<="
		}
		if t, err := of.Threshold(op, g.Value); err == nil {
			all = append(all, t)
		}
	}
	return all
}

func did(d fio.Direction) bool { return d.IOPS > 0 || d.BW > 0 || d.Clat.Mean > 0 }
