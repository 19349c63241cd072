package postgres

import (
	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// otherCPU is the time of all cores that neither the server nor pgbench used, in cores.
func otherCPU(p *result.Postgres, s *result.PgStep) float64 {
	span := s.Measured.Seconds()
	if span <= 0 {
		return 0
	}
	return max(s.Busy*float64(p.Cores)-(s.ServerCPU+s.PgbenchCPU).Seconds()/span, 0)
}

// commitCauses are the identity of group commit: TPS = commits per sync × the part of the time in
// which a sync is under way ÷ the time of one sync. The time without a sync is the CPU time of a
// commit as far as that reaches: from one sync to the next it is one commit's at most.
func commitCauses(p *result.Postgres, s *result.PgStep) (out finding.Factors) {
	each, _ := p.S()
	mean := s.SyncMean()
	if s.Syncs == 0 || each <= 0 || mean <= 0 {
		return nil
	}
	group := s.CommitsPerSync()
	cpu, _ := p.CommitCPU(s)
	computing := max(s.SyncBusy(), float64(mean/(mean+cpu)))
	out.Add(finding.Grouping, "", group/float64(s.Clients),
		"a sync carries %s commits from %s; group commit carries half of them", units.Number(group),
		text.Plural(s.Clients, "client"))
	out.Add(finding.SlowSync, "", float64(each/mean), "the server's syncs take %v, fio's %v", mean, each)
	out.Add(finding.CommitCPU, "", computing, "a commit takes %v of CPU besides its sync of %v", cpu, mean)
	out.Add(finding.IdleLog, "", s.SyncBusy()/computing, "a sync is under way %v of the time", s.SyncBusy())
	return out
}

// computingCauses are those of clients that use more CPU time than their commits wait: after it
// each waits for one sync at least.
func computingCauses(p *result.Postgres, s *result.PgStep) (out finding.Factors) {
	mean := s.SyncMean()
	if _, cpu := p.CommitCPU(s); cpu > 0 && mean > 0 {
		out.Add(finding.CommitWait, "", float64(cpu/(cpu+mean)), "a sync of %v follows the %v of CPU that a commit "+
			"takes", mean, cpu)
	}
	return out
}

// databaseAccount explains what lies between the smallest bound and the transactions that were
// measured: for commits by the time of one, for the CPU by who had the cores. What other bounds
// leave is unexplained.
func databaseAccount(p *result.Postgres, s *result.PgStep, b *ceiling.Bound) *finding.Account {
	var causes finding.Factors
	switch b.Kind { //nolint:exhaustive // what other bounds leave is unexplained
	case ceiling.CommitLatency:
		causes = commitCauses(p, s)
	case ceiling.CommitCPU:
		causes = computingCauses(p, s)
	case ceiling.CPU:
		span := s.Measured.Seconds()
		left := float64(p.Cores) - s.PgbenchCPU.Seconds()/span
		others := min(otherCPU(p, s), left)
		causes.Add(finding.OtherLoad, "CPU", (left-others)/left, "other processes used %s of %s", units.Number(others),
			text.Plural(p.Cores, "core"))
		if free := left - others; free > 0 {
			used, cause, who, waited := s.ServerCPU.Seconds()/span, finding.IdleCPU, "", ""
			if w := s.MostWaited(); w.Share >= waitsMatter {
				if cause, who = finding.Waits, string(w.Why); w.Why == result.RowLocks {
					cause, who = finding.RowLocks, ""
				}
				waited = finding.Says("; %v of the sessions waited for %s", w.Share, w.Why)
			}
			causes.Add(cause, who, used/free, "the server used %s of the %s cores that were left to it%s", units.Number(used),
				units.Number(free), waited)
		}
	}
	account := finding.NewAccount(float64(b.IOPS), float64(s.TPS), causes)
	if account != nil {
		account.Unit = "TPS"
	}
	return account
}

// waitsMatter is the share of samples from which what sessions wait for is why the CPU was idle.
const waitsMatter = 0.2

// farBelowBound of the smallest bound is where transactions need an explanation.
const farBelowBound = 0.80

func databaseBelow(b base) (f finding.Finding) {
	limit := boundOf(b)
	if limit == nil {
		return f
	}
	least := farBelowBound * limit.IOPS
	if limit.Kind == ceiling.CommitLatency || limit.Kind == ceiling.CommitCPU {
		least = ceiling.CommitsIn(b.Postgres, b.peak).Low
	}
	if b.peak.TPS >= least {
		return f
	}
	account := databaseAccount(b.Postgres, b.peak, limit)
	return diagnose.Explained(account, b.Finds("%v TPS are %v of the %v that %s allows.", b.peak.TPS,
		float64(b.peak.TPS/limit.IOPS), limit.IOPS, limit.Label()).
		Saw("transactions per second", b.peak.TPS, limit.IOPS, limit.How))
}
