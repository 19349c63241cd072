package rules

import (
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// What was measured while others had the CPU or the device is no measurement of the storage:
// invalid, not failed.
func TestForeignLoadIsInvalid(t *testing.T) {
	const k8 = 8 * units.KiB
	busy := func(user float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Jobs = []fio.Job{{Name: "job", Count: 1, CPU: fio.CPU{User: user}}}
			m.Host = &telemetry.HostUse{CPUs: 2, User: 0.9, System: 0.1}
		}
	}
	wrote := func(foreign units.Bytes) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			own := m.Total.Write.Bytes
			m.Devices = []telemetry.DeviceUse{{Name: "vda", WriteBytes: own + foreign}}
		}
	}
	writes, deep := random(0, k8, 1, 1), random(0, k8, 4, 16)
	for name, c := range map[string]struct {
		m    diagnose.Measurement
		code finding.Code
		want finding.Severity
	}{
		"others have both cores":      {measured(1, writes, took(0, 500, 2), busy(0.05)), "PL425", finding.Invalid},
		"fio has most of the cores":   {measured(1, writes, took(0, 500, 2), busy(0.8), func(m *diagnose.Measurement) { m.Jobs[0].Count = 2 }), "PL409", finding.Warn},
		"a third of the writes":       {measured(1, writes, took(0, 500, 2), wrote(120*units.MiB)), "PL412", finding.Invalid},
		"a fifth of the writes":       {measured(1, writes, took(0, 500, 2), wrote(65*units.MiB)), "PL412", finding.Warn},
		"a third, at the ceiling":     {measured(1, deep, took(0, 500, 2), wrote(120*units.MiB), withCeiling(bounds(limit(ceiling.VolumeIOPS, 510, k8)))), "PL412", finding.Warn},
		"a file that plimsoll filled": {prefilled(measured(1, synced(writes), took(0, 500, 2), wrote(300*units.MiB))), "PL412", finding.Invalid},
		"a file that it did not":      {measured(1, synced(writes), took(0, 500, 2), wrote(300*units.MiB)), "PL414", finding.Warn},
	} {
		got := finding.Severity("")
		for _, f := range Judge(&diagnose.Case{Runs: []diagnose.Measurement{c.m}}, nil) {
			if f.Code == c.code {
				got = f.Severity
			}
		}
		if got != c.want {
			t.Errorf("%s: %s is %q, want %q", name, c.code, got, c.want)
		}
	}
}

func synced(w fio.Workload) fio.Workload {
	w.SyncEvery = 1
	return w
}

func prefilled(m diagnose.Measurement) diagnose.Measurement {
	m.Prefilled = true
	return m
}
