package live

import (
	"fmt"
	"time"

	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// FromCounters makes facts of what another program printed of a machine's devices (iostat -x, sar -d): of the one
// that has a cause with the most I/Os waiting, else of the one on which most wait.
func FromCounters(name string, data []byte) (*Facts, error) {
	all, err := workload.From(data, 0)
	if err != nil {
		return nil, err
	}
	var best *Facts
	most := -1.0
	for i := range all {
		f := counted(name, &all[i])
		if f == nil {
			continue
		}
		waiting := newView(f).top.waiting()
		if Judge(f).Answer == Found {
			waiting += 1e9
		}
		if waiting > most {
			best, most = f, waiting
		}
	}
	if best == nil {
		return nil, fmt.Errorf("none of its devices did anything")
	}
	return best, nil
}

// counted are the facts of one device, nil where nothing was done.
func counted(name string, o *workload.Observed) *Facts {
	d := telemetry.LiveDevice{Name: o.Device}
	var span time.Duration
	var queued float64
	for _, i := range o.Intervals {
		seconds := i.Len.Seconds()
		add := func(n *uint64, wait *time.Duration, rate float64, each time.Duration) {
			*n += uint64(rate*seconds + 0.5)
			*wait += time.Duration(rate * seconds * float64(each))
		}
		span += i.Len
		add(&d.Reads, &d.ReadWait, i.Read.IOPS, i.Read.Wait)
		add(&d.Writes, &d.WriteWait, i.Write.IOPS, i.Write.Wait)
		add(&d.Flushes, &d.FlushWait, i.Flushes, i.FlushWait)
		add(&d.Discards, &d.Other, i.Discards, i.DiscardWait)
		d.ReadBytes += units.Bytes(i.Read.Rate * seconds)
		d.WriteBytes += units.Bytes(i.Write.Rate * seconds)
		d.Busy += time.Duration(i.Util * float64(i.Len))
		queued += i.Queue * seconds
		d.ReadWorst, d.WriteWorst = max(d.ReadWorst, i.Read.Wait), max(d.WriteWorst, i.Write.Wait)
		d.FlushWorst = max(d.FlushWorst, i.FlushWait)
	}
	if span <= 0 || d.Reads+d.Writes+d.Flushes+d.Discards == 0 {
		return nil
	}
	d.Wait, d.Other, d.InFlight = d.ReadWait+d.WriteWait, d.Other+d.FlushWait, queued/span.Seconds()
	if d.WriteWait < d.FlushWait { // the time of flushes is not in that of writes here
		d.WriteWait += d.FlushWait
	}
	return &Facts{
		Format: Format, Path: o.Device, Free: -1, Root: true, Counters: name,
		Layers: []Layer{{Name: o.Device, Kind: "disk"}},
		Window: &telemetry.Window{
			Span:    span,
			Ticks:   len(o.Intervals),
			Stacks:  true,
			Devices: []telemetry.LiveDevice{d},
			CPU:     telemetry.LiveCPU{Idle: 1},
		},
		NotSeen: append([]string{
			"programs and what their tasks wait for, limits of control groups and of volumes, errors, layers above " + o.Device +
				", processors and memory: such counters do not show them (plimsoll why on the machine does)",
		}, o.Notes...),
	}
}
