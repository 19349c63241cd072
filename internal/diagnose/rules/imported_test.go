package rules

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

// importedCases are results of which only fio's final figures are known, each with a neighbour that
// differs by what the rule looks at.
func importedCases() []labelled {
	const k4 = 4 * units.KiB
	of := func(w fio.Workload, options ...func(*diagnose.Measurement)) diagnose.Case {
		m := measured(1, w, options...)
		m.Jobs = []fio.Job{m.Total}
		m.Jobs[0].Count, m.Jobs[0].Error = 1, m.Total.Error
		return diagnose.Case{Runs: []diagnose.Measurement{m}}
	}
	// sampled gives the writes of a minute n samples: 119 or 120 are whole.
	sampled := func(n uint64, mean, spread, lo, hi float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Write.IOPSSamples = fio.Samples{N: n, Mean: mean, StdDev: spread, Min: lo, Max: hi}
		}
	}
	latencies := func(slat, half, most time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			d := &m.Total.Write
			d.Slat = fio.Latency{N: d.N, Mean: float64(slat)}
			d.Clat = fio.Latency{N: d.N, Mean: float64(half), Percentiles: []fio.Percentile{{P: 50, Value: half}, {P: 95, Value: most}}}
		}
	}
	bytes := func(d time.Duration, n units.Bytes) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Measured = d
			m.Total.Write = fio.Direction{Bytes: n, Runtime: d}
		}
	}
	slow := func(shares ...float64) func(*diagnose.Measurement) { // buckets up to 500 ms, 2 s and above
		return func(m *diagnose.Measurement) {
			m.Total.Buckets = []fio.Bucket{
				{Upto: 500 * time.Millisecond, Value: shares[0]}, {Upto: 2 * time.Second, Value: shares[1]}, {Value: shares[2]},
			}
		}
	}
	// keeping is what fio's own row says of the depth.
	keeping := func(depth int) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Target = &fio.Target{Depth: depth} }
	}
	mistimed := func(m *diagnose.Measurement) { m.Total.Write.Lat = fio.Latency{N: 1, Mean: 20e3} }
	failed := func(m *diagnose.Measurement) { m.Total.Error = 110 }
	through := func(engine string, sync int, depth int) fio.Workload {
		w := random(0, k4, 2, depth)
		w.Engine, w.Direct, w.Buffered, w.SyncEvery = engine, false, true, sync
		return w
	}
	direct, deep := random(0, k4, 1, 1), random(0, k4, 2, 32)
	deep.TimeBased, direct.Engine = false, "psync"
	counted := func(name string, reads, writes uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Disks = []fio.Disk{{Name: name, Reads: reads, Writes: writes, Util: 0.9}}
		}
	}
	member := func(name string, reads uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Disks = append(m.Disks, fio.Disk{Name: name, Member: true, Reads: reads, Util: 0.9})
		}
	}
	computing := func(share float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.CPU = fio.CPU{User: 0.01, System: share - 0.01} }
	}
	reading, deepReads, nothing, polling := random(1, k4, 1, 1), random(1, k4, 1, 32), random(1, k4, 1, 1), random(0, k4, 1, 1)
	queued := func(depth uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Disks = []fio.Disk{{Name: "sda", Writes: 420000, WriteTicks: depth * 60000, Util: 1}}
		}
	}
	// striped gives md, which keeps no clock, four members whose clocks do.
	striped := func(depth uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Disks = []fio.Disk{{Name: "md0", Writes: 420000}}
			for _, name := range []string{"nvme1n1", "nvme2n1", "nvme3n1", "nvme4n1"} {
				m.Disks = append(m.Disks,
					fio.Disk{Name: name, Member: true, Writes: 105000, WriteTicks: depth * 60000 / 4, Util: 1})
			}
		}
	}
	// tenths are percentiles by tenths, each value in microseconds.
	tenths := func(values ...int) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			var list []fio.Percentile
			for i, v := range values {
				list = append(list, fio.Percentile{P: 10 * float64(i+1), Value: time.Duration(v) * time.Microsecond})
			}
			m.Total.Write.Clat.Percentiles = list
		}
	}
	tiny, small := random(0, k4, 1, 1), random(0, k4, 1, 1)
	tiny.Size, small.Size = 16*units.KiB, 4*units.MiB
	impossibleMean := func(m *diagnose.Measurement) {
		m.Total.Write.Clat = fio.Latency{N: 60000, Mean: 31e3, Percentiles: []fio.Percentile{{P: 50, Value: 102 * time.Microsecond}}}
	}
	// cached gives reads a share in per cent that took 5 µs, and a device that counted so many.
	cached := func(percent float64, counted uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Read.Clat.Percentiles = []fio.Percentile{{P: percent, Value: 5 * time.Microsecond}, {P: 50, Value: 300 * time.Microsecond}}
			m.Disks = []fio.Disk{{Name: "xvda", Reads: counted, Util: 0.9}}
		}
	}
	from := func(m *diagnose.Measurement) { m.Source = "a.log" }
	headless := func(m *diagnose.Measurement) { m.Workloads = nil }
	beheaded := func(m *diagnose.Measurement) { m.Lack(part.Missing{Parts: []part.Part{part.Head}}) }
	shorts := func(m *diagnose.Measurement) { m.Total.Write.Short = 7 }
	p99of := func(half, slow time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			d := &m.Total.Write
			d.Clat = fio.Latency{N: d.N, Mean: float64(half) + 0.01*float64(slow), Percentiles: []fio.Percentile{{P: 50, Value: half}, {P: 99, Value: slow}}}
		}
	}
	longest := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Write.Clat.Max = d }
	}
	// mixture gives reads a third that took 5 µs, and a device that counted so many.
	mixture := func(counted uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Read.Clat.Percentiles = []fio.Percentile{{P: 30, Value: 5 * time.Microsecond}, {P: 50, Value: time.Millisecond}}
			m.Disks = []fio.Disk{{Name: "sda", Reads: counted, Util: 0.9}}
		}
	}
	async, synced := random(0, k4, 1, 1), random(0, k4, 1, 1)
	async.Engine, synced.Engine, synced.SyncEvery = "libaio", "psync", 1
	group := random(0, k4, 8, 1)
	rated := func(iops units.IOPS, bw units.Rate) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Write.IOPS, m.Total.Write.BW = iops, bw }
	}
	short := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Measured = d }
	}
	deepWrites, ignored, spinning := random(0, k4, 1, 32), random(0, k4, 1, 1), random(0, k4, 1, 32)
	raw := deepWrites
	raw.Filename = "/dev/nvme8n1"
	ignored.DepthAsked, ignored.Engine, spinning.Engine = 32, "psync", "spdk"
	p99 := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Write.Clat.Percentiles = []fio.Percentile{{P: 50, Value: time.Millisecond}, {P: 99, Value: d}}
		}
	}
	wrote := func(n units.Bytes) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Write.Bytes = n }
	}
	large := through("psync", 0, 1)
	large.WriteBS, large.Jobs = units.MiB, 1
	rarely := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			l := &m.Total.Write.Clat
			l.Percentiles = append(l.Percentiles, fio.Percentile{P: 99.9, Value: d})
		}
	}
	averaging := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Write.Clat.Mean = float64(d) }
	}
	inOrder := reading
	mapped := reading
	mapped.Direct, mapped.Buffered, mapped.Engine = false, true, "mmap"
	inOrder.Sequential, inOrder.Direct, inOrder.Buffered, inOrder.Engine = true, false, true, "psync"
	preRead, keptCache, network, objects := inOrder, inOrder, random(0, k4, 1, 1), random(0, k4, 1, 1)
	preRead.PreRead, keptCache.KeepCache, network.Engine, objects.Engine = true, true, "net", "http"
	nothing.Engine, polling.Engine, polling.Polls = "null", "io_uring", true
	unknown := random(0, k4, 1, 1)
	unknown.Direct = false
	remote := inOrder
	remote.Engine = "rbd"
	merged := func(writes, merges uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Disks = []fio.Disk{{Name: "xvda", Writes: writes, WriteMerges: merges, Util: 0.9}}
		}
	}
	wide := direct
	wide.WriteBS = 256 * units.KiB
	volume := bounds(limit(ceiling.VolumeIOPS, 3000, k4))
	rate := took(0, 1000, 1) // 1,000 a second for a minute
	us := time.Microsecond
	program := func(name string) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Program, m.State = name, result.Done }
	}
	others := func(m *diagnose.Measurement) { m.Source = "a.log" }
	least := func(iops float64, slowest time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			d := &m.Total.Write
			d.IOPSSamples, d.Clat.Max = fio.Samples{Min: iops, Max: 2000}, slowest
		}
	}
	syncing := func(half time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Sync.Lat = fio.Latency{
				N: 60000, Mean: float64(half),
				Percentiles: []fio.Percentile{{P: 50, Value: half}},
			}
		}
	}
	without := func(p part.Part) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Lack(part.Missing{Parts: []part.Part{p}}) }
	}
	kept, keptLarge, dropped, tenth := through("psync", 0, 1), through("psync", 0, 1), through("psync", 0, 1), synced
	kept.ReadShare, kept.ReadBS, kept.KeepCache, kept.Size = 0.5, k4, true, units.GiB
	keptLarge.ReadShare, keptLarge.ReadBS, keptLarge.KeepCache, keptLarge.Size = 0.5, k4, true, 64*units.GiB
	dropped.ReadShare, dropped.ReadBS, dropped.Size, tenth.SyncEvery = 0.5, k4, units.GiB, 10
	little, larger, held := random(0, k4, 1, 1), random(0, k4, 1, 1), random(0, k4, 1, 1)
	little.Size, larger.Size, held.WriteIOPS = 16*units.MiB, units.GiB, 1000
	little.Engine, larger.Engine = "libaio", "libaio"
	misnamed, filling := random(0, k4, 1, 1), random(0, k4, 1, 1)
	misnamed.Name, filling.Name = "seq_read", "prepare-read"
	both := took(500, 500, 0.5)
	at := func(file string) fio.Workload {
		w := random(0, k4, 1, 1)
		w.Filename = file
		return w
	}
	return []labelled{
		{"another program's reads of files of 1 GiB that it made", of(kept, both, program("sysbench")), "PL419", "PL501"},
		{"the same of 64 GiB", of(keptLarge, both, program("sysbench")), "", "PL501"},
		{"the same of fio", of(kept, both), "", "PL501"},
		{"the same, dropped from memory before", of(dropped, both, program("elbencho")), "", "PL501"},
		{
			"a second of a program without an I/O, and one that took 5 s",
			of(direct, took(0, 900, 1), program("rados bench"), least(0, 5*time.Second)), "PL415", "PL501",
		},
		{
			"one that took 5 s, and no second without any",
			of(deep, took(0, 9000, 7), program("rados bench"), least(40, 5*time.Second)), "PL431", "PL501",
		},
		{"syncs of 30 ns", of(synced, took(0, 400, 2), syncing(30*time.Nanosecond)), "PL428", "PL501"},
		{"syncs of 3 µs", of(synced, took(0, 400, 2), syncing(3*us)), "", "PL501"},
		{"a tenth of a sync that is not in the latency", of(tenth, took(0, 400, 0.2)), "PL428", "PL501"},
		{"a depth that the engine ignores, without latencies", of(ignored, rate, without(part.Latencies)), "PL407", "PL501"},
		{"a file of 16 MiB, over and over", of(little, rate, others), "PL427", "PL501"},
		{"a file of 1 GiB", of(larger, rate, others), "", "PL501"},
		{"writes at the rate of their job", of(held, took(0, 990, 0.2), others), "PL501", ""},
		{"writes below it", of(held, took(0, 500, 0.2), others), "PL504", ""},
		{"writes of a job called read", of(misnamed, rate), "PL426", "PL501"},
		{"writes that prepare reads", of(filling, rate), "", "PL501"},
		{"half seconds that are even", of(direct, rate, sampled(119, 1000, 50, 800, 1100)), "", "PL501"},
		{"half seconds that are not", of(direct, rate, sampled(119, 1000, 500, 10, 1900)), "PL403", "PL501"},
		{"even but for the first half second", of(direct, rate, sampled(119, 1000, 440, 950, 5500)), "", "PL501"},
		{"few I/Os that chance spreads", of(direct, took(0, 20, 1), sampled(119, 20, 8, 6, 40)), "", "PL501"},
		{"samples of a log without averaging", of(direct, rate, sampled(60000, 1, 0.4, 0, 2)), "", "PL501"},
		{"samples of a second", of(direct, rate, sampled(60, 1000, 50, 800, 1100)), "", "PL501"},
		{"ten half seconds without an I/O", of(direct, rate, sampled(110, 1091, 50, 900, 1200)), "PL415", "PL501"},
		{"ten samples fewer, each of them late", of(direct, rate, sampled(110, 1000, 50, 900, 1100)), "", "PL501"},
		{"three samples fewer", of(direct, rate, sampled(117, 1025, 50, 900, 1100)), "", "PL501"},

		{"buffered writes in 2 µs", of(through("psync", 0, 1), rate, latencies(0, 2*us, 9*us)), "PL419", "PL501"},
		{"buffered writes in 60 µs, 234 MiB of them", of(through("psync", 0, 1), rate, latencies(0, 60*us, 90*us)), "PL419", "PL501"},
		{"the same, 8 GiB", of(through("psync", 0, 1), rate, latencies(0, 60*us, 90*us), wrote(8*units.GiB)), "", "PL501"},
		{"234 MiB of them that a device counted", of(through("psync", 0, 1), rate, latencies(0, 60*us, 90*us), counted("sda", 0, 60000)), "", "PL501"},
		{
			"buffered writes of a file that was imported, without a sync",
			of(through("psync", 0, 1), rate, latencies(0, 600*us, 900*us), from), "PL430", "PL501",
		},
		{"buffered writes that wait for a server", of(through("psync", 0, 1), rate, latencies(0, 600*us, 900*us)), "", "PL501"},
		{"a gigabyte of buffered writes of 1 MiB in 600 µs", of(large, took(0, 17, 0.6), latencies(0, 600*us, 900*us)), "PL419", "PL501"},
		{"the same in 2 ms", of(large, took(0, 17, 2), latencies(0, 2*time.Millisecond, 3*time.Millisecond)), "", "PL501"},
		{"synced writes, themselves in 2 µs", of(through("psync", 1, 1), rate, latencies(0, 2*us, 9*us)), "", "PL501 PL428"},
		{"direct writes in 9 µs", of(direct, rate, latencies(0, 9*us, 12*us)), "", "PL501"},
		{"writes in 2 µs of which nobody says whether they were direct", of(unknown, rate, latencies(0, 2*us, 9*us)), "PL419", "PL501"},
		{"writes in 7 µs of which nobody says whether they were direct", of(unknown, rate, latencies(0, 7*us, 9*us)), "", "PL501"},
		{"writes in 2 µs that a device counted", of(direct, rate, latencies(0, 2*us, 9*us), counted("nvme0n1", 0, 60000)), "", "PL501"},
		{"writes in 2 µs of an engine that polls", of(polling, rate, latencies(0, 2*us, 9*us)), "", "PL501"},
		{"random reads in 5 µs, direct by their options", of(reading, took(30000, 0, 0.005)), "PL419", "PL501"},
		{"random reads in 9 µs", of(reading, took(30000, 0, 0.009)), "PL419", "PL501"},
		{"random reads in 20 µs", of(reading, took(30000, 0, 0.02)), "", "PL501"},
		{"reads of a block device that is none", of(reading, took(30000, 0, 0.05), counted("nullb0", 1800000, 0)), "PL401", "PL501"},
		{"reads of a drive", of(reading, took(3000, 0, 0.1), counted("sda", 180000, 0)), "", "PL501"},
		{"reads by an engine without storage", of(nothing, took(30000, 0, 0.02)), "PL401", "PL501"},
		{"one at a time at full CPU", of(reading, took(7700, 0, 0.128), computing(0.99)), "PL419", "PL409 PL501"},
		{"one at a time that waits", of(reading, took(7700, 0, 0.128), computing(0.30)), "", "PL501"},
		{"32 at a time at full CPU", of(deepReads, took(200000, 0, 0.16), computing(0.99)), "PL409", "PL501"},
		{"the same on persistent memory", of(deepReads, took(200000, 0, 0.16), computing(0.99), counted("pmem0", 200000*60, 0)), "", "PL501"},
		{"one write in 1,000 that waits for 2 s, a fifth of all the time", of(direct, took(0, 100, 10), rarely(2*time.Second)), "PL415", "PL501"},
		{"the same beside a mean of 20 ms", of(deep, took(0, 1000, 20), rarely(2*time.Second)), "", "PL407 PL501"},
		{"one write in 1,000 that waits for 0.9 s", of(direct, took(0, 200, 4), rarely(900*time.Millisecond)), "", "PL501"},

		{"libaio waits in its submission", of(through("libaio", 0, 32), took(0, 14000, 4.5), latencies(140*us, 4400*us, 5*time.Millisecond)), "PL407", "PL501"},
		{"libaio waits in its submission to a device that is none", of(through("libaio", 0, 32), took(0, 14000, 4.5), latencies(140*us, 4400*us, 5*time.Millisecond), counted("nullb0", 0, 14000*60)), "PL401 PL407", "PL501"},
		{"libaio waits in its submission, beside a device whose queue is full", of(through("libaio", 0, 32), took(0, 14000, 4.5), latencies(140*us, 4400*us, 5*time.Millisecond), queued(20)), "PL407", "PL501"},
		{"libaio submits in 14 µs", of(through("libaio", 0, 32), took(0, 14000, 4.5), latencies(14*us, 4500*us, 5*time.Millisecond)), "", "PL501"},
		{"io_uring waits in its submission", of(through("io_uring", 0, 32), took(0, 14000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond)), "PL407", "PL501"},
		{"direct libaio waits in its submission", of(deepWrites, took(0, 7000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond)), "PL407", "PL501"},
		{"submission that computes", of(deepWrites, took(0, 7000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond), computing(0.6)), "", "PL501"},
		{"submission to a raw device, whose queue is full then", of(raw, took(0, 7000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond)), "", "PL501"},
		{"submission that waits for a full queue", of(deepWrites, took(0, 7000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond), queued(20)), "", "PL501"},
		{"submission that waits for the full queues of members", of(deepWrites, took(0, 7000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond), striped(20)), "", "PL501"},
		{"submission that waits for members one after the other", of(deepWrites, took(0, 7000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond), striped(1)), "PL407", "PL501"},
		{"I/Os that fio picks up after a second, each submitted in 4 ms", of(deepWrites, took(0, 250, 130), latencies(3900*us, 1200*time.Millisecond, 2*time.Second)), "PL407 PL417", "PL501 PL426"},
		{"eight jobs whose half seconds are even", of(group, took(0, 8000, 1), sampled(952, 8000, 100, 6000, 9000)), "", "PL501"},
		{"eight jobs that swing as much as their mean", of(group, took(0, 8000, 1), sampled(952, 8000, 950, 800, 24000)), "PL403", "PL501"},
		{"eight jobs that swing, printed as one's", of(group, took(0, 8000, 1), sampled(952, 1000, 950, 100, 3000)), "PL403", "PL501"},
		{"eight jobs that take turns", of(group, took(0, 8000, 1), sampled(952, 8000, 700, 800, 16000)), "", "PL501"},
		{"eight jobs of which one leapt once", of(group, took(0, 8000, 1), sampled(952, 1000, 950, 900, 29000)), "", "PL501"},
		{"a tenth of a row without any between", of(direct, rate, tenths(150, 160, 170, 12000, 12500, 13000, 13500, 14000, 15000)), "PL404", "PL501 PL426"},
		{"a fifth above a second, far from the middle, without any bucket", of(direct, rate, tenths(2000, 4000, 6000, 9000, 12000, 14000, 17000, 1001000, 1003000)), "PL417", "PL404 PL501 PL426"},
		{"a fifth just below a second", of(direct, rate, tenths(2000, 4000, 6000, 9000, 12000, 14000, 17000, 980000, 990000)), "", "PL404 PL501 PL426"},
		{"a row of tenths that rises", of(direct, rate, tenths(150, 300, 600, 1200, 2400, 4800, 9600, 12000, 15000)), "", "PL501 PL426"},
		{"16 times the bandwidth of its blocks", of(direct, rate, rated(1000, 62.5*1024*1024)), "PL426", "PL501"},
		{"a bandwidth that is rounded", of(direct, rate, rated(1000, 4*1024*1024)), "", "PL501"},
		{"four blocks 60,000 times", of(tiny, rate), "PL427", "PL501"},
		{"large and small reads in one row", of(direct, rate, beside(random(1, 128*units.KiB, 1, 1)), beside(random(1, 4*units.KiB, 1, 1))), "PL429", ""},
		{"reads and writes in one row", of(random(1, 4*units.KiB, 1, 1), rate, beside(random(0, 8*units.KiB, 1, 1))), "PL429", ""},
		{"two jobs of one kind in one row", of(direct, rate, beside(direct)), "", "PL501"},
		{"a thousand blocks 60,000 times", of(small, rate), "", "PL501"},
		{"a mean below half of the median", of(direct, rate, impossibleMean), "PL426", "PL501"},
		{"one at a time, done in submission", of(async, took(0, 1000, 1), latencies(990*us, 10*us, 20*us)), "PL428", "PL501"},
		{"one at a time, submitted at once", of(async, took(0, 1000, 1), latencies(10*us, 990*us, 2*time.Millisecond)), "", "PL501"},
		{"a sync that is not in the latency", of(synced, took(0, 400, 0.2)), "PL428", "PL501"},
		{"a rate that only fio's progress shows, of synced writes", of(synced, took(0, 400, 0.2), heldBack), "", ""},
		{"a rate that only fio's progress shows, of one at a time", of(direct, rate, heldBack), "", ""},
		{"half of the ceiling", of(deepReads, took(1500, 0, 21.3), withCeiling(volume)), "PL503", "PL407"},
		{"half of the ceiling, at a rate that only fio's progress shows", of(deepReads, took(1500, 0, 2), withCeiling(volume), heldBack), "", ""},
		{"a sync that takes little", of(synced, took(0, 400, 2)), "", "PL501"},
		{"reads of which a third is cached", of(reading, took(1000, 0, 1), mixture(40000)), "PL419", "PL501"},
		{"reads of which a third is fast, all from the device", of(reading, took(1000, 0, 1), mixture(60000)), "", "PL501"},
		{"reads without a header, of which 41 % are fast and 41 % did not reach the device", of(reading, took(1000, 0, 1), cached(40, 35000), headless), "PL419", "PL501"},
		{"reads without a header, of which read-ahead brought most", of(reading, took(1000, 0, 1), cached(40, 4000), headless), "", "PL501"},
		{"the same, as many as are fast", of(reading, took(1000, 0, 1), cached(93, 4000), headless), "", "PL501"},
		{"reads without a header that the device counted", of(reading, took(1000, 0, 1), cached(40, 60000), headless), "", "PL501"},
		{"buffered writes, one in a hundred of them waiting for write-back", of(through("psync", 0, 1), rate, p99of(16*us, 14*time.Millisecond)), "PL419", "PL501 PL404"},
		{"8 GiB of buffered writes, the slowest of them in 1 ms", of(through("psync", 0, 1), rate, p99of(16*us, time.Millisecond), wrote(8*units.GiB)), "", "PL501"},
		{"writes that nobody calls direct, in 16 µs, whose time goes by in one of a thousand", of(unknown, rate, p99of(16*us, 900*us), rarely(400*time.Millisecond), averaging(500*us)), "PL419", "PL501 PL404"},
		{"one of a thousand waiting, direct", of(direct, rate, p99of(16*us, 900*us), rarely(400*time.Millisecond), averaging(500*us)), "", "PL501 PL404"},
		{"one of a thousand waiting, all that a device counted", of(unknown, rate, p99of(16*us, 900*us), rarely(400*time.Millisecond), averaging(500*us), counted("sda", 0, 60000)), "", "PL501 PL404"},
		{"writes that nobody calls direct, whose time goes by evenly", of(unknown, rate, p99of(90*us, 99*us), rarely(12*time.Millisecond), averaging(110*us)), "", "PL501 PL404"},
		{"direct writes, one in a hundred of them slow", of(direct, rate, p99of(16*us, 14*time.Millisecond)), "", "PL501 PL404"},
		{"synced writes, one in a hundred of them slow", of(through("psync", 1, 1), rate, p99of(16*us, 14*time.Millisecond)), "", "PL501 PL404 PL428"},
		{"samples that fall short, none above the rate", of(direct, rate, sampled(119, 750, 350, 10, 1040)), "", "PL501"},
		{"samples that fall short, the largest twice the rate", of(direct, rate, sampled(119, 750, 350, 10, 2000)), "PL403", "PL501"},
		{"sequential reads of a file that was read before", of(preRead, took(100000, 0, 0.005)), "PL419", "PL501"},
		{"the same in 20 µs, waiting", of(preRead, took(40000, 0, 0.02)), "", "PL501"},
		{"the same that a device counted", of(preRead, took(100000, 0, 0.005), counted("sda", 6000000, 0)), "", "PL501"},
		{"sequential reads of a cache that was kept, at full CPU", of(keptCache, took(100000, 0, 0.0095), computing(0.99)), "PL419", "PL409 PL501"},
		{"sequential reads of a cache that was kept, waiting", of(keptCache, took(100000, 0, 0.0095), computing(0.5)), "", "PL501"},
		{"sequential reads, of which 50 I/Os of a device are at most 200 MiB of 2.3 GiB", of(inOrder, took(10000, 0, 0.1), counted("sda", 50, 0)), "PL419", "PL501"},
		{"the same, not one I/O of the device", of(inOrder, took(10000, 0, 0.1), counted("sda", 0, 0)), "PL419", "PL501"},
		{"short I/Os", of(direct, rate, shorts), "PL402", "PL501"},
		{"short I/Os of a row whose end, where syncs are, was cut off", of(direct, rate, shorts, without(part.Ending)), "", "PL501"},
		{"short I/Os of an excerpt, which may be syncs", of(direct, rate, shorts, headless, beheaded), "", "PL501"},
		{"mapped reads of persistent memory that counted none of them", of(mapped, took(29e6, 0, 0.02),
			counted("pmem0", 0, 0)), "PL419", "PL501"},
		{"direct reads of persistent memory, which DAX does not count", of(reading, took(900000, 0, 0.9),
			counted("pmem0", 0, 0)), "PL401", "PL501"},
		{"sequential reads of which 600 read-aheads may have brought all", of(inOrder, took(10000, 0, 0.1), counted("sda", 600, 0)), "", "PL501"},
		{"reads of a server, beside the disk of the client", of(remote, took(10000, 0, 0.1), counted("sda", 0, 0)), "", "PL501"},
		{"sequential reads of an array that counts at its members only", of(inOrder, took(10000, 0, 0.1), counted("md0", 0, 0), member("sdb", 600)), "", "PL501"},
		{"small writes of which sixteen became one", of(direct, rate, merged(3750, 56250)), "PL412", "PL501"},
		{"small writes of which two became one", of(direct, rate, merged(30000, 30000)), "", "PL501"},
		{"small writes of which sixteen became one, through the page cache", of(through("libaio", 0, 32), took(0, 1000, 32), merged(3750, 56250)), "", "PL407 PL501"},
		{"large writes of which sixteen became one", of(wide, rate, merged(3750, 56250)), "", "PL501"},
		{"small writes without a header, of which sixteen became one", of(direct, rate, merged(3750, 56250), headless), "PL412", "PL501"},
		{"sequential reads at full CPU", of(inOrder, took(100000, 0, 0.0095), computing(0.99)), "", "PL409 PL501"},
		{"data sent over a socket", of(network, rate), "PL401", "PL501"},
		{"a file in /run/shm", of(at("/run/shm/x"), rate), "PL401", "PL501"},
		{"a file beside what is called so", of(at("/srv/tmpfs-and-ssd/x"), rate), "", "PL501"},
		{"beside words of a RAM disk", of(direct, rate, func(m *diagnose.Measurement) { m.Memory = 3 }), "PL432", "PL501"},
		{"objects over HTTP", of(objects, rate), "", "PL501"},
		{"samples that were lost", of(direct, rate, sampled(90, 1333, 50, 1200, 1500), longest(300*time.Millisecond)), "", "PL501"},
		{"eight times what may be in flight", of(direct, took(0, 1000, 8)), "PL426", "PL501"},
		{"a little more than what may be in flight", of(direct, took(0, 1000, 1.1)), "", "PL501"},
		{"a device that did ten times fio's I/Os", of(direct, rate, counted("sda", 500000, 100000)), "PL412", "PL501"},
		{"a device that did fio's I/Os and a journal's", of(direct, rate, counted("sda", 0, 80000)), "", "PL501"},
		{"a depth that a short run cannot fill", of(deep, took(0, 1000, 50), short(200*time.Millisecond)), "", "PL418 PL501"},
		{"a depth that the engine ignores", of(ignored, rate), "PL407", "PL501"},
		{"a depth of one of such an engine", of(direct, rate), "", "PL501"},
		{"a spinning engine at full CPU", of(spinning, took(0, 100000, 0.3), computing(0.99)), "", "PL501"},
		{"half seconds of which one holds a fifth of all", of(direct, rate, sampled(119, 1000, 2200, 900, 24000)), "PL403", "PL501"},
		{"samples that all fall short, unevenly", of(direct, rate, sampled(119, 850, 410, 10, 1900)), "PL403", "PL501"},
		{"a mean above the largest sample", of(direct, rate, sampled(119, 850, 410, 10, 990)), "", "PL501"},
		{"p99 above a second, without the bucket", of(direct, rate, p99(1053*time.Millisecond)), "PL417", "PL501 PL426"},
		{"p99 of half a second", of(direct, rate, p99(500*time.Millisecond)), "", "PL501 PL426"},
		{"a depth of 64 that failed", of(deep, took(0, 100, 1), failed), "PL402", "PL501"},
		{"a depth of 64 that was not reached", of(deep, took(0, 100, 1)), "PL407", "PL501"},
		{"the same, of a part of the latencies", of(deep, took(0, 100, 1), without(part.Latencies)), "", "PL501"},

		{"32 GiB in 2.6 s, quoted without counts", of(deep, bytes(2600*time.Millisecond, 32*units.GiB)), "PL418", "PL407 PL501"},
		{"32 GiB in 20 s, quoted without counts", of(deep, bytes(20*time.Second, 32*units.GiB)), "", "PL407 PL501"},
		{"buckets of 105 %", of(direct, rate, slow(0.02, 0.02, 1.01)), "PL417", "PL501"},
		{
			"two in five of 1,000 a second above a second, 64 at a time", of(direct, rate, slow(0.6, 0.1, 0.3), keeping(64)),
			"PL417", "PL501",
		},
		{"the same 32 at a time, which cannot be", of(direct, rate, slow(0.6, 0.1, 0.3), keeping(32)), "", "PL501"},
		{"buckets above clat that is not true", of(direct, rate, mistimed, slow(0.02, 0.02, 0.96)), "", "PL501"},
	}
}

// TestImportedCases wants the findings that are listed with each case, and no others.
func TestImportedCases(t *testing.T) {
	for _, l := range importedCases() {
		found := map[finding.Code]bool{}
		for _, f := range Judge(&l.c, nil) {
			found[f.Code] = true
			if !strings.Contains(l.want+l.also, string(f.Code)) {
				t.Errorf("%s: %s: %s", l.name, f.Code, f.Message)
			}
			if strings.HasPrefix(f.Message, "10") && f.Code == "PL417" {
				t.Errorf("%s: %s", l.name, f.Message)
			}
		}
		for code := range strings.FieldsSeq(l.want) {
			if !found[finding.Code(code)] {
				t.Errorf("%s: no %s", l.name, code)
			}
		}
	}
}

// TestHowBadAnImportIs holds the severities that a rule gives by what it knows, each with its neighbour.
func TestHowBadAnImportIs(t *testing.T) {
	of := func(w fio.Workload, options ...func(*diagnose.Measurement)) diagnose.Measurement {
		m := measured(1, w, options...)
		m.Source, m.Jobs = "a.log", []fio.Job{m.Total}
		m.Jobs[0].Count = 1
		return m
	}
	ran := func(d, planned time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Measured, m.Planned = d, planned }
	}
	sampled := func(n uint64, spread float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Write.IOPSSamples = fio.Samples{N: n, Mean: 1000, StdDev: spread, Min: 900, Max: 1100}
		}
	}
	writes := func(n units.Bytes, half, slowest time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			d := &m.Total.Write
			d.Bytes = n
			d.Clat.Percentiles = []fio.Percentile{{P: 50, Value: half}, {P: 99, Value: slowest}}
		}
	}
	direct, rate := random(0, 4*units.KiB, 1, 1), took(0, 1000, 1)
	direct.TimeBased = false
	buffered, two, bulky, little, held, misnamed := direct, direct, direct, direct, direct, direct
	misnamed.Name, two.Jobs, bulky.WriteBS, little.Size, held.WriteIOPS = "seq_read", 2, 64*units.MiB, 16*units.MiB, 1000
	less, more, paged := little, little, little
	less.Size, more.Size, paged.Direct, paged.Buffered = 32*units.MiB, 128*units.MiB, false, true
	cut := func(m *diagnose.Measurement) { m.Lack(part.Missing{Parts: []part.Part{part.AllSides}}) }
	buffered.Direct, buffered.Buffered, buffered.Engine = false, true, "psync"
	us, ms := time.Microsecond, time.Millisecond
	ended := buffered
	ended.EndSync = true
	held1G := random(1, 4*units.KiB, 1, 1)
	held1G.Direct, held1G.Buffered, held1G.Engine, held1G.KeepCache, held1G.Size = false, true, "psync", true, units.GiB
	wroteAll := func(m *diagnose.Measurement) {
		m.Disks = []fio.Disk{{Name: "sda", Writes: m.Total.Write.N}}
	}
	none := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Write = fio.Direction{Runtime: d} }
	}
	grouped := func(m *diagnose.Measurement) {
		m.Total.Runtime, m.Total.TotalRuntime = time.Minute, 8*time.Minute
	}
	noCommand := func(m *diagnose.Measurement) { m.Lack(part.Missing{Parts: []part.Part{part.Command}}) }
	slowest := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Write.Clat.Max = d }
	}
	seconds := func(n uint64, spread float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Program = "rados bench"
			d := &m.Total.Write
			mean := float64(d.BW)
			d.BWSamples = fio.Samples{N: n, Mean: mean, StdDev: spread * mean, Min: mean / 10, Max: 2 * mean}
		}
	}
	counts := func(n uint64, bytes units.Bytes, took time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Fio = "fio-3.33"
			d := &m.Total.Write
			d.N, d.Bytes, d.Runtime = n, bytes, took
		}
	}
	nowhere := direct
	nowhere.Filename = "/dev/null"
	synced1 := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Total.Sync.Lat = fio.Latency{N: 1000, Mean: float64(ms), Max: d} }
	}
	bucketed := func(m *diagnose.Measurement) { // the line of the maximum was cut off
		d := &m.Total.Write
		d.Clat, d.Lat = fio.Latency{}, fio.Latency{}
		m.Total.Buckets = []fio.Bucket{{Upto: 10 * ms, Value: 0.9998}, {Value: 0.0001}}
	}
	unsaid := direct
	unsaid.Direct, unsaid.Engine = false, "libaio"
	waited := func(slat time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			d := &m.Total.Write
			d.Bytes, d.Slat.Mean = units.GiB, float64(slat)
			d.Clat = fio.Latency{N: d.N, Mean: float64(2 * ms), Percentiles: []fio.Percentile{{P: 50, Value: 80 * us}, {P: 99, Value: 200 * ms}}}
		}
	}
	reads := func(n units.Bytes) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Program, m.State = "sysbench", result.Done
			m.Total.Read.Bytes, m.Total.Read.N = n, uint64(n/(4*units.KiB))
		}
	}
	for _, c := range []struct {
		name string
		m    diagnose.Measurement
		code finding.Code
		want finding.Severity
	}{
		{"16.7 s of a minute are a run of 16.7 s", of(direct, rate, ran(16700*ms, time.Minute)), "PL402", finding.Warn},
		{"7 s of a minute", of(direct, rate, ran(7*time.Second, time.Minute)), "PL402", finding.Invalid},
		{"7 s of ten", of(direct, rate, ran(7*time.Second, 10*time.Second)), "PL402", finding.Warn},
		{"67 ms", of(direct, rate, ran(67*ms, 0)), "PL418", finding.Invalid},
		{"1.9 s", of(direct, rate, ran(1900*ms, 0)), "PL418", finding.Invalid},
		{"2 s", of(direct, rate, ran(2*time.Second, 0)), "PL418", finding.Warn},
		{"9.7 s whose 19 samples agree", of(direct, rate, ran(9700*ms, 0), sampled(19, 44)), "PL418", finding.Info},
		{"9.7 s whose 19 samples do not", of(direct, rate, ran(9700*ms, 0), sampled(19, 200)), "PL418", finding.Warn},
		{"9.7 s of two jobs, whose samples fio pools", of(two, rate, ran(9700*ms, 0), sampled(38, 44)), "PL418", finding.Warn},
		{"5 s whose ten samples agree", of(direct, rate, ran(5*time.Second, 0), sampled(10, 44)), "PL418", finding.Warn},
		{"12 I/Os in a minute", of(direct, took(0, 0.2, 1)), "PL418", finding.Warn},
		{"16 of them", of(direct, took(0, 0.27, 1)), "PL418", ""},
		{"12 of 64 MiB, which are many of a device's", of(bulky, took(0, 0.2, 1)), "PL418", ""},
		{"4 s of a document that breaks off", of(direct, rate, ran(4*time.Second, 0), cut), "PL418", finding.Warn},
		{"67 ms of it, beside what is not known", of(direct, rate, ran(67*ms, 0), cut), "PL418", finding.Invalid},
		{"a minute of it", of(direct, rate, cut), "PL418", ""},
		{"16 MiB written 15 times over", of(little, rate), "PL427", finding.Info},
		{"32 MiB 7 times", of(less, rate), "PL427", ""},
		{"128 MiB 15 times", of(more, took(0, 8000, 0.1)), "PL427", ""},
		{"16 MiB through the page cache", of(paged, rate), "PL427", ""},
		{"a rate that the job was held to", of(held, took(0, 990, 0.2)), "PL501", finding.Info},
		{"a gigabyte that waited for write-back", of(buffered, rate, writes(units.GiB, 60*us, 14*ms)), "PL419", finding.Invalid},
		{"a gigabyte that did not", of(buffered, rate, writes(units.GiB, 60*us, 90*us)), "PL419", finding.Warn},
		{"9 GiB that waited for it", of(buffered, rate, writes(9*units.GiB, 60*us, 14*ms)), "PL419", finding.Warn},
		{"half a minute without an I/O", of(direct, rate, none(30*time.Second)), "PL402", finding.Invalid},
		{"a direction that did not run", of(direct, rate, none(0)), "PL402", ""},
		{"a gigabyte of it in 2 ms each", of(buffered, rate, writes(units.GiB, 2*ms, 3*ms)), "PL430", finding.Warn},
		{"the same with a sync at the end", of(ended, rate, writes(units.GiB, 2*ms, 3*ms)), "PL430", ""},
		{"the same with a sync after each", of(synced(buffered), rate, writes(units.GiB, 2*ms, 3*ms)), "PL430", ""},
		{"writes of which one in a hundred waits", of(unsaid, rate, waited(0)), "PL419", finding.Warn},
		{"the same, whose submission leaves most of it to wait for", of(unsaid, rate, waited(10*us)), "PL419", ""},
		{"the same that a device counted", of(buffered, rate, writes(units.GiB, 2*ms, 3*ms), wroteAll), "PL430", ""},
		{"the same without its command", of(buffered, rate, writes(units.GiB, 2*ms, 3*ms), noCommand), "PL430", ""},
		{"direct writes", of(direct, rate, writes(units.GiB, 2*ms, 3*ms)), "PL430", ""},
		{"one at a time, of which one took 3 s", of(direct, rate, slowest(3*time.Second)), "PL415", finding.Warn},
		{"of which one took 0.9 s", of(direct, rate, slowest(900*ms)), "PL415", ""},
		{"of which one took longer than the run", of(direct, rate, slowest(2*time.Minute)), "PL415", ""},
		{"of few, which may each take as long", of(direct, took(0, 9, 100), slowest(3*time.Second)), "PL415", ""},
		{"two jobs, of which one waited 3 s", of(two, rate, slowest(3*time.Second)), "PL415", ""},
		{"two jobs, of which one took 3 s", of(two, rate, slowest(3*time.Second)), "PL431", finding.Warn},
		{"two jobs, of which one took 0.9 s", of(two, rate, slowest(900*ms)), "PL431", ""},
		{"few, of which each may take as long", of(direct, took(0, 9, 100), slowest(3*time.Second)), "PL431", ""},
		{"a sync of 3 s", of(direct, rate, synced1(3*time.Second)), "PL431", finding.Warn},
		{"a sync of 0.9 s", of(direct, rate, synced1(900*ms)), "PL431", ""},
		{"one in 10,000 above 2 s, of which no maximum is left", of(direct, rate, bucketed), "PL431", finding.Warn},
		{"the same where each may take as long", of(direct, took(0, 9, 100), bucketed), "PL431", ""},
		{"12 seconds that spread by 78 %", of(direct, rate, seconds(12, 0.78)), "PL403", finding.Warn},
		{"12 that spread by 30 %", of(direct, rate, seconds(12, 0.3)), "PL403", ""},
		{"five seconds", of(direct, rate, seconds(5, 0.78)), "PL403", ""},
		{"1.5 GiB read at random of files of a gigabyte", of(held1G, rate, reads(1500*units.MiB)), "PL419", finding.Warn},
		{"1.7 GiB of them", of(held1G, rate, reads(1700*units.MiB)), "PL419", finding.Invalid},
		{"eight times that, of a group whose jobs are not counted", of(direct, took(0, 1000, 8), grouped), "PL426", ""},
		{"writes to /dev/null", of(nowhere, rate), "PL401", finding.Invalid},
		{"I/Os of which none is counted", of(direct, rate, counts(0, 0, time.Minute)), "PL426", finding.Invalid},
		{"of no time", of(direct, rate, counts(60000, 60000*4*units.KiB, 0)), "PL426", finding.Invalid},
		{"of no bytes", of(direct, rate, counts(60000, 0, time.Minute)), "PL426", finding.Invalid},
		{"a fifth of them", of(direct, rate, counts(12000, 12000*4*units.KiB, time.Minute)), "PL426", finding.Invalid},
		{"a third", of(direct, rate, counts(20000, 20000*4*units.KiB, time.Minute)), "PL426", ""},
		{"none, in an output that breaks off", of(direct, rate, counts(0, 0, time.Minute), cut), "PL426", ""},
		{"three times what may be in flight", of(direct, took(0, 1000, 3)), "PL426", finding.Warn},
		{"the same, named read", of(misnamed, took(0, 1000, 3)), "PL426", finding.Warn},
		{"named read alone", of(misnamed, rate), "PL426", finding.Info},
		{"eight times that", of(direct, took(0, 1000, 8)), "PL426", finding.Invalid},
		{"a mean below half of the median", of(direct, rate, writes(units.GiB, 9*ms, 10*ms)), "PL426", finding.Invalid},
	} {
		var got finding.Severity
		for _, f := range Judge(&diagnose.Case{Runs: []diagnose.Measurement{c.m}}, nil) {
			if f.Code == c.code && len(f.Scenarios) == 1 {
				got = f.Severity
			}
		}
		if got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.code, got, c.want)
		}
	}
}

// TestStoppedRunsNeedNoErrno: who stopped a run with ^C is not sent to look for errors of the device; a
// job that failed is.
func TestStoppedRunsNeedNoErrno(t *testing.T) {
	m := measured(1, random(0, 4*units.KiB, 1, 1), took(0, 1000, 1))
	m.Source, m.Incomplete = "a.log", []string{"fio was stopped before its time (signal 2)."}
	fixes := func(m diagnose.Measurement) (fix string) {
		for _, f := range Judge(&diagnose.Case{Runs: []diagnose.Measurement{m}}, nil) {
			if f.Code == "PL402" {
				fix += f.Fix
			}
		}
		return fix
	}
	if fix := fixes(m); fix == "" || strings.Contains(fix, "dmesg") || strings.Contains(fix, "errno says what failed") {
		t.Errorf("stopped: %q", fix)
	}
	m.Incomplete, m.Jobs = nil, []fio.Job{{Name: "a", Error: 5}}
	if fix := fixes(m); !strings.Contains(fix, "errno") {
		t.Errorf("failed: %q", fix)
	}
}

// beside adds a job that the row reports with its own.
func beside(w fio.Workload) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		w.Name = "b"
		m.Workloads = append(m.Workloads, w)
	}
}
