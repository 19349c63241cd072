package rules

import (
	"math/rand/v2"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// series gives a run a second for each value of f, with noise of so many per cent, and its
// estimate.
func series(seconds int, noise float64, f func(second int) float64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		src := rand.New(rand.NewPCG(uint64(seconds), 7))
		m.Measured = time.Duration(seconds) * time.Second
		for i := range seconds {
			n := f(i) * (1 + noise*src.NormFloat64())
			m.Seconds = append(m.Seconds, result.Second{
				At: time.Duration(i+1) * time.Second, Len: time.Second, Read: result.Interval{N: uint64(max(n, 0))},
			})
		}
	}
}

func rel(center, half float64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		m.Result.IOPS = stats.Estimate{Center: center, Lo: center * (1 - half), Hi: center * (1 + half), N: 12}
	}
}

func cpu(user, system float64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		m.Jobs = []fio.Job{{Name: "job", CPU: fio.CPU{User: user, System: system}}}
	}
}

func hostUse(h telemetry.HostUse) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		h.CPUs = 8
		m.Host = &h
	}
}

func ebs(s cloud.EBSStats) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) { m.EBS = map[string]cloud.EBSStats{"nvme1n1": s} }
}

// clats replaces the read latencies by a mixture: pairs of milliseconds and counts, each spread
// over a fifth either way.
func clats(pairs ...float64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		h := &fio.Hist{}
		for i := 0; i < len(pairs); i += 2 {
			for _, part := range []float64{0.85, 0.92, 1, 1.08, 1.2} {
				h.Add(time.Duration(pairs[i]*part*1e6), uint64(pairs[i+1]/5))
			}
		}
		m.Total.Read.Clat.Hist = h
	}
}

func uses(d telemetry.DeviceUse) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) { m.Devices = []telemetry.DeviceUse{d} }
}

func synthetic() []labelled {
	const k8 = 8 * units.KiB
	vols := bounds(limit(ceiling.VolumeIOPS, 3000, k8))
	deep := random(1, k8, 4, 16)
	at := func(level float64) func(int) float64 { return func(int) float64 { return level } }
	run := func(options ...func(*diagnose.Measurement)) diagnose.Case {
		base := []func(*diagnose.Measurement){took(2990, 0, 21.4), withCeiling(vols)}
		return diagnose.Case{Topology: nil, Runs: []diagnose.Measurement{measured(1, deep, append(base, options...)...)}}
	}
	fall := func(from, to float64, when int) func(int) float64 {
		return func(i int) float64 {
			if i < when {
				return from
			}
			return to
		}
	}
	gp2 := bounds(burstOf(limit(ceiling.VolumeIOPS, 3000, k8), 33*time.Minute), limit(ceiling.VolumeIOPS, 300, k8))
	pace := deep
	pace.ReadIOPS = 50
	of := func(w fio.Workload, options ...func(*diagnose.Measurement)) diagnose.Case {
		return diagnose.Case{Topology: nil, Runs: []diagnose.Measurement{measured(1, w, options...)}}
	}
	buffers := deep
	buffers.Direct, buffers.Buffered, buffers.ReadShare, buffers.ReadBS, buffers.WriteBS = false, true, 0, 0, k8
	nvme := on("", array("nvme1n1", topology.Single, 0, 1, p4510()))
	drive := bounds(limit(ceiling.VolumeIOPS, 636500, 4*units.KiB))
	one := func(p50 time.Duration, iops float64) diagnose.Case {
		m := measured(1, random(1, 4*units.KiB, 1, 1), took(iops, 0, float64(p50)/1e6*1.05), withCeiling(drive), inPhase("latency"))
		m.Total.Read.Clat.Percentiles[0].Value = p50
		return diagnose.Case{Topology: nvme, Runs: []diagnose.Measurement{m}}
	}
	dips := func(i int) float64 {
		if i%12 == 5 || i%12 == 6 {
			return 150
		}
		return 3000
	}
	writeback := func(m *diagnose.Measurement) {
		for i := range m.Seconds {
			if m.Seconds[i].IOPS() < 1000 {
				m.Seconds[i].Writeback = 900 * units.MiB
			}
		}
		m.Host = &telemetry.HostUse{CPUs: 8, WritebackMax: 900 * units.MiB}
	}
	read := units.Bytes(2990*60) * k8
	minute := deep
	minute.TimeBased, minute.Runtime = true, time.Minute
	return []labelled{
		{"a deep queue drains after the run's time", of(minute, took(2990, 0, 21.4), withCeiling(vols), series(70, 0.02, fall(2990, 400, 60)), rel(2990, 0.01)), "PL502", ""},
		{"the rate falls within the run's time", of(minute, took(2500, 0, 25), withCeiling(vols), series(70, 0.02, fall(2990, 400, 48)), rel(2500, 0.3)), "PL405", ""},
		{"steady", run(series(60, 0.02, at(2990)), rel(2990, 0.01)), "PL502", ""},
		{"noisy seconds, certain mean", run(series(300, 0.30, at(2990)), rel(2990, 0.04)), "PL502", ""},
		{"slow drift of 8 %", run(series(120, 0.02, func(i int) float64 { return 2870 + 2*float64(i) }), rel(2990, 0.03)), "PL502", ""},
		{"one dip of two seconds", run(series(60, 0.02, func(i int) float64 {
			if i == 30 || i == 31 {
				return 900
			}
			return 3000
		}), rel(2990, 0.05)), "PL502", ""},
		{"ramp left out", run(func(m *diagnose.Measurement) {
			series(60, 0.02, fall(300, 2990, 20))(m)
			for i := range 20 {
				m.Seconds[i].Ramp = true
			}
		}), "PL502", ""},
		{"uncertain mean", run(rel(2990, 0.25)), "PL403 PL502", ""},
		{"level rises without a known cause", run(series(60, 0.03, fall(1500, 2990, 30)), rel(2300, 0.3)), "PL405 PL502", ""},
		{"burst runs dry", of(deep, took(2000, 0, 32), withCeiling(gp2), series(60, 0.03, fall(3000, 300, 38)), rel(2000, 0.4)), "PL406", ""},
		{"lab: burst was spent before", of(deep, took(303, 0, 211), withCeiling(gp2), series(60, 0.03, at(303)), rel(303, 0.05)), "PL503", ""},
		{"sections start in mid-run", of(func() fio.Workload { w := deep; w.StartDelay = 30 * time.Second; return w }(),
			took(2990, 0, 21.4), withCeiling(vols), series(60, 0.02, fall(1400, 2990, 30))), "PL502", ""},
		{"two seconds of nothing", run(series(60, 0.02, func(i int) float64 {
			if i == 20 || i == 21 {
				return 0
			}
			return 3000
		})), "PL415 PL502", ""},
		{"paced job with empty seconds", of(pace, took(200, 0, 1.1), series(60, 0.02, func(i int) float64 { return float64(i%2) * 400 })), "", ""},
		{"depth not achieved", of(random(1, k8, 4, 64), took(1900, 0, 10)), "PL407", ""},
		{"depth achieved", of(random(1, k8, 4, 64), took(1900, 0, 134)), "", ""},
		{"rate limit keeps it shallow", of(func() fio.Workload { w := pace; w.ReadIOPS = 500; return w }(), took(2000, 0, 1.2)), "", ""},
		{"a core is full", of(random(1, 4*units.KiB, 1, 64), took(180000, 0, 0.35), withCeiling(drive), cpu(0.31, 0.68)), "PL409", "PL503 PL501"},
		{"a full core at the ceiling", of(random(1, 4*units.KiB, 2, 256), took(630000, 0, 0.8), withCeiling(drive), cpu(0.35, 0.60)), "PL502", ""},
		{"half a core", of(random(1, k8, 4, 16), took(2990, 0, 21.4), withCeiling(vols), cpu(0.1, 0.4)), "PL502", ""},
		{"steal", run(hostUse(telemetry.HostUse{Steal: 0.12, User: 0.2})), "PL410 PL502", ""},
		{"softirq", run(hostUse(telemetry.HostUse{SoftIRQ: 0.24, IRQ: 0.06})), "PL410 PL502", ""},
		{"a little steal", run(hostUse(telemetry.HostUse{Steal: 0.01, SoftIRQ: 0.08, User: 0.3})), "PL502", ""},
		{"buffered writes stall", of(buffers, took(0, 2600, 0.4), series(60, 0.03, dips), writeback), "PL411", "PL407"},
		{"direct run beside a writer of files", run(hostUse(telemetry.HostUse{WritebackMax: 800 * units.MiB})), "PL411 PL502", ""},
		{"a few dirty pages", run(hostUse(telemetry.HostUse{WritebackMax: 6 * units.MiB, DirtyMax: 90 * units.MiB})), "PL502", ""},
		{"a backup writes meanwhile", run(uses(telemetry.DeviceUse{Name: "md0", Reads: 179400, ReadBytes: read, WriteBytes: 4 * units.GiB})), "PL412 PL502", ""},
		{"a neighbour writes beside synced writes", of(func() fio.Workload { w := random(0.7, k8, 4, 32); w.SyncEvery = 1; return w }(), took(6600, 2860, 13),
			uses(telemetry.DeviceUse{Name: "vda", ReadBytes: 6600 * 60 * k8, WriteBytes: 2860*60*k8 + 450*units.MiB})), "PL412 PL408", ""},
		{"a few log writes beside synced writes", of(func() fio.Workload { w := random(0, k8, 1, 1); w.SyncEvery = 1; return w }(), took(0, 900, 1.1),
			uses(telemetry.DeviceUse{Name: "vda", WriteBytes: 900*60*k8 + 20*units.MiB})), "", "PL501"},
		{"neighbours fill the cores", diagnose.Case{Runs: []diagnose.Measurement{
			measured(1, deep, took(1500, 0, 42.6), hostUse(telemetry.HostUse{User: 0.7, System: 0.3})),
			measured(2, deep, took(1500, 0, 42.6), hostUse(telemetry.HostUse{User: 0.7, System: 0.29})),
		}}, "PL425", ""},
		{"journal and timestamps", run(uses(telemetry.DeviceUse{Name: "md0", Reads: 179400, ReadBytes: read, WriteBytes: 3 * units.MiB})), "PL502", ""},
		{"telemetry saw two seconds more", run(uses(telemetry.DeviceUse{Name: "md0", Reads: 185000, ReadBytes: read * 31 / 30})), "PL502", ""},
		{"an I/O of 17 s", run(func(m *diagnose.Measurement) {
			m.Total.Read.Clat.Max = 48 * time.Second
		}), "PL416 PL502", ""},
		{"an I/O of 1.7 s", run(func(m *diagnose.Measurement) { m.Total.Read.Clat.Max = 1700 * time.Millisecond }), "PL502", ""},
		{"two kinds of reads", run(clats(0.2, 40000, 20, 60000)), "PL404 PL502", ""},
		{"one kind with a tail", run(clats(0.4, 97000, 1.5, 2000, 20, 1000)), "PL502", ""},
		{"a broad single mode", run(clats(5, 10000, 8, 20000, 12, 40000, 18, 20000, 27, 10000)), "PL502", ""},
		{"many I/Os above a second", run(clats(200, 97000, 1500, 3000)), "PL417 PL502", "PL404"},
		{"few I/Os above a second", run(clats(200, 99700, 500, 200, 1500, 50)), "PL502", ""},
		{"gp2 on credits", of(deep, took(3000, 0, 21.3), withCeiling(gp2)), "PL602 PL502", ""},
		{"gp2 beyond its credits", of(deep, took(300, 0, 213), withCeiling(bounds(limit(ceiling.VolumeIOPS, 300, k8)))), "PL502", ""},
		{"instance that sustains it", of(deep, took(2990, 0, 21.4), withCeiling(bounds(limit(ceiling.VolumeIOPS, 3000, k8),
			limit(ceiling.InstanceIOPS, 12000, k8), burstOf(limit(ceiling.InstanceIOPS, 40000, k8), 30*time.Minute)))), "PL502", ""},
		{"half of the ceiling, cause unknown", of(deep, took(1500, 0, 42.6), withCeiling(vols)), "PL503", ""},
		{"half of an instance's limit, volumes not known", of(deep, took(1500, 0, 42.6), withCeiling(bounds(limit(ceiling.InstanceIOPS, 3000, k8)))), "", "PL503"},
		{"half of the ceiling, as the job asks", of(func() fio.Workload { w := deep; w.ReadRate = 12 * units.MiBPerSec; return w }(), took(1500, 0, 42.6), withCeiling(vols)), "", "PL503"},
		{"just below four fifths of the ceiling", of(deep, took(2390, 0, 26.8), withCeiling(vols)), "PL503", ""},
		{"four fifths of the ceiling, cause unknown", of(deep, took(2400, 0, 26.7), withCeiling(vols)), "", "PL503"},
		{"nine tenths of the ceiling", of(deep, took(2700, 0, 23.7), withCeiling(vols)), "", ""},
		{"16 sessions on fast volumes", of(random(0, 16*units.KiB, 16, 1), took(0, 26600, 0.6), withCeiling(bounds(limit(ceiling.VolumeIOPS, 36000, 16*units.KiB)))), "PL501", ""},
		{"demand met", of(func() fio.Workload { w := deep; w.ReadRate = 5 * units.MiBPerSec; return w }(), took(2560, 0, 3)), "", ""},
		{"demand missed", of(func() fio.Workload { w := deep; w.ReadRate = 8 * units.MiBPerSec; return w }(), took(2560, 0, 25)), "PL504", ""},
		{"a drive that timed out", run(func(m *diagnose.Measurement) {
			m.Timeouts = []host.Event{{Kind: host.Timeout, Device: "nvme1", Count: 1}}
		}), "PL423 PL502", ""},
		{"I/O errors", run(func(m *diagnose.Measurement) { m.Jobs = []fio.Job{{Name: "job", Error: 5}} }), "PL402 PL502", ""},
		{"ended after 40 of 60 s", run(func(m *diagnose.Measurement) { m.Measured = 40 * time.Second }), "PL402 PL502", ""},
		{"ended a second early", run(func(m *diagnose.Measurement) { m.Measured = 59 * time.Second }), "PL502", ""},
		{"stopped by the user", diagnose.Case{Topology: nil, Runs: []diagnose.Measurement{func() diagnose.Measurement {
			m := measured(1, deep, took(100, 0, 600), withCeiling(vols))
			m.State = result.Interrupted
			return m
		}()}}, "", ""},
		{"one healthy drive at depth 1", one(82*time.Microsecond, 11600), "PL501", ""},
		{"good drive, a little under its data sheet", one(66*time.Microsecond, 14400), "PL501", ""},
		{"drive that reads holes", one(18*time.Microsecond, 52000), "PL401", ""},
		{"volume counted itself above its IOPS", run(ebs(cloud.EBSStats{VolumeIOPSExceeded: 57 * time.Second})), "PL603 PL502", ""},
		{"instance counted itself above its throughput", of(deep, took(1500, 0, 42.6), withCeiling(vols), ebs(cloud.EBSStats{InstanceRateExceeded: 41 * time.Second})), "PL604 PL503", ""},
		{"local drive counted itself above its IOPS", run(ebs(cloud.EBSStats{Local: true, InstanceIOPSExceeded: 50 * time.Second})), "PL603 PL502", ""},
		{"a second above at the start", run(ebs(cloud.EBSStats{VolumeIOPSExceeded: time.Second})), "PL502", ""},
		{"saved tokens: 1.7 % above", of(deep, took(3050, 0, 21), withCeiling(vols)), "PL502", ""},
		{"a fifth above the limit", of(deep, took(3600, 0, 17.7), withCeiling(vols)), "PL413", ""},
	}
}
