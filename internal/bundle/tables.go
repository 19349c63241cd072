package bundle

import (
	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// written completes figures that someone wrote down by what the jobs did: of writes they are writes,
// and of IOPS and bandwidth the one that is missing is the other by the block size.
func written(o *fio.Output, loads []fio.Workload) *fio.Output {
	own := *o
	own.Jobs = append([]fio.Job(nil), o.Jobs...)
	reads, writes := false, false
	var readBS, writeBS units.Bytes
	for _, w := range loads {
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
		for _, side := range []struct {
			of *fio.Direction
			bs units.Bytes
		}{{&j.Read, readBS}, {&j.Write, writeBS}} {
			switch d := side.of; {
			case side.bs == 0:
			case d.IOPS == 0 && d.BW > 0:
				d.IOPS = units.IOPS(float64(d.BW) / float64(side.bs))
			case d.BW == 0 && d.IOPS > 0:
				d.BW = units.Rate(float64(d.IOPS) * float64(side.bs))
			}
		}
	}
	return &own
}

func did(d fio.Direction) bool { return d.IOPS > 0 || d.BW > 0 || d.Clat.Mean > 0 }
