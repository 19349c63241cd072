package diagnose

import (
	"fmt"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// Attribution is an account in words: "Shares of the gap: idle members 61.0 %, unexplained 39.0 %.
// Idle members: 7 of 8 members did no I/O."
func Attribution(a *finding.Account) string {
	if a == nil {
		return ""
	}
	var parts []string
	for _, f := range a.Factors {
		name := string(f.Cause)
		if f.Who != "" {
			name += " (" + f.Who + ")"
		}
		parts = append(parts, name+" "+text.Percent(f.Share))
	}
	all := "Shares of the gap: " + strings.Join(parts, ", ") + "."
	if named := a.Named(); len(named) > 0 {
		all += " " + text.Sentence(string(named[0].Cause)+": "+named[0].How)
	}
	return all
}

// Explained adds an account to a finding of a gap.
func Explained(a *finding.Account, f finding.Finding) finding.Finding {
	f.Account = a
	f.Message += " " + Attribution(a)
	if named := a.Named(); len(named) > 0 {
		f.Fix = Remedy(named[0]) + " Then measure again."
	}
	return f
}

var remedies = map[finding.Cause]string{
	finding.Drain:       "Measure for longer, or keep less in flight: the drain takes a fixed time at the end.",
	finding.Copies:      "Declare the level that the array has (mdadm --detail): each write goes to several members.",
	finding.Split:       "Choose a chunk that is a multiple of the block size, or a much larger one.",
	finding.IdleMembers: "Find out why members did no I/O: a concatenated volume, or a file that lies on few of them.",
	finding.Rebuild:     "Wait until the array is idle (mdadm --wait).",
	finding.SlowMember:  "Probe %s alone, reading only; replace it if it is slow, or raise its provisioning.",
	finding.OtherLoad:   "Stop what else uses %s.",
	finding.Instance:    "Choose an instance that allows its volumes more.",
	finding.VolumeLimit: "Raise the volumes' provisioned IOPS or throughput.",
	finding.BurstSpent:  "Plan with the sustained rate, or wait until the credits have filled up again.",
	finding.CPU:         "Use more jobs with less depth each, larger blocks or io_uring, and stop other processes.",
	finding.Depth:       "Use libaio or io_uring with direct=1 on a file that was written before, or more jobs.",
	finding.RestLatency: "Raise iodepth or numjobs until IOPS stop rising.",
	finding.SlowVolume:  "Find out why the volume is slow: plimsoll check --probe tells a first touch.",
	finding.Grouping:    "Use more clients: a sync then carries more commits.",
	finding.SlowSync:    "Find what else writes to the log's volume.",
	finding.CommitCPU:   "Use more clients, so that some compute while others wait, or faster cores.",
	finding.CommitWait:  "Use more clients, or a log volume of lower latency.",
	finding.IdleLog:     "Look at what the sessions waited for when none synced: rows, the client or the CPU.",
	finding.IdleCPU:     "Look at what the sessions waited for.",
	finding.Waits:       "Look at why the sessions wait for %s.",
	finding.RowLocks:    "Use a scale of at least the number of clients, or a load that changes other rows.",
	finding.Tail:        "Find out which I/Os are slow: by member, by offset, by time (the heat map).",
}

// Remedy is what to do about a cause.
func Remedy(f finding.Factor) string {
	s := remedies[f.Cause]
	if strings.Contains(s, "%s") {
		s = fmt.Sprintf(s, f.Who)
	}
	return s
}
