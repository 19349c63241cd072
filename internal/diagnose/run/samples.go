package run

import (
	"fmt"
	"math"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// An import has no seconds, but fio's own samples of half a second: how many there were, their
// mean, spread and extremes. fio takes none where nothing completed.

const (
	sampleEvery = 500 * time.Millisecond // bwavgtime and iopsavgtime, unless a job sets them
	// sampleCheck is how far the samples may be from the count of I/Os: beyond it they are of
	// another length, or those of a log without averaging.
	sampleCheck = 0.1
	// sampleLeast I/Os a sample: a sample without one is a stall then, not chance.
	sampleLeast = 10
	// samplesMissing is how many samples may be missing: the first and the last half second often
	// are.
	samplesMissing = 4
	// samplesEnough to judge how they spread, and the spread beyond which a mean hides the run.
	samplesEnough = 20
	samplesSpread = 0.40
	// spreadWithout is the spread that must be left without the most extreme sample.
	spreadWithout = 0.30
	// looseCheck is sampleCheck where only the spread is asked for: samples of fio 3.1 to 3.7 fall
	// short by 15 to 30 %. If each lost another part of its half second, an even rate would seem to
	// spread, but never above that rate, nor further than lossSpread: the largest must be beyondRate
	// times the run's own, or the spread wider.
	looseCheck = 0.30
	beyondRate = 1.5
	// oneBurst is the share of all I/Os in one sample from which on a burst made the mean, where
	// that sample is a twentieth of the time at most.
	oneBurst = 0.10
	// jobsSpread is the spread of the half seconds of single jobs of a group from which on the group's
	// mean is in doubt, too: as wide as the mean. Jobs that get their turns unevenly stay below (0.31
	// to 0.82 of public results), and what each loses another may gain; bursts of all of them do not.
	jobsSpread = 0.90
	// jobsLeast is the spread that must be left of it without the most extreme samples.
	jobsLeast = 0.75
	// sampleLatency is the mean latency above which I/Os in flight complete in bursts.
	sampleLatency = 250 * time.Millisecond
)

// steadily says that the jobs of an import, of which there are no seconds, were to run as fast as they can throughout.
func steadily(m measurement) bool {
	return len(m.Seconds) == 0 && !m.Failed() && !m.HeldBack() && !m.Staged()
}

// busier is the direction in which a job did more.
func busier(j fio.Job) fio.Direction {
	if j.Write.N > j.Read.N {
		return j.Write
	}
	return j.Read
}

// samples are those of the direction that did most, of an import with one job, and how many half
// seconds that direction ran; ok is false where they cannot be relied on.
func samples(m measurement, check float64) (d fio.Direction, halves float64, ok bool) {
	if len(m.Jobs) != 1 || !steadily(m) {
		return d, 0, false
	}
	j := m.Jobs[0]
	if j.Count > 1 || j.Count == 0 && (inJobs(m) > 1 || j.TotalRuntime > j.Runtime*3/2) {
		return d, 0, false
	}
	d = busier(j)
	s := d.IOPSSamples
	sampled := float64(s.N) * sampleEvery.Seconds() * s.Mean
	ok = s.N >= samplesEnough && s.Mean > 0 && math.Abs(sampled/float64(max(d.N, 1))-1) < check &&
		float64(d.IOPS) >= s.Min && float64(d.IOPS) <= s.Max
	return d, float64(d.Runtime) / float64(sampleEvery), ok
}

// unevenJobs finds groups of jobs whose half seconds spread as far as their mean. fio prints the
// standard deviation of a single job's samples (pooled over the jobs) beside the mean, the least and
// the most, which newer versions add up over the jobs and older ones do not: four jobs of 200 IOPS
// ± 20 each read "avg=802.68, stdev=20.22" (fio 3.33).
func unevenJobs(m measurement) (f fault) {
	if len(m.Jobs) != 1 || !steadily(m) {
		return f
	}
	d, jobs := busier(m.Jobs[0]), float64(max(m.Jobs[0].Count, inJobs(m)))
	s, own := d.IOPSSamples, float64(d.IOPS)/max(jobs, 1) // of a single job
	if s.N < samplesEnough || jobs < 2 || s.Mean <= 0 || own <= 0 || d.Clat.Mean > float64(sampleLatency) {
		return f
	}
	extremes := 1.0
	if math.Abs(s.Mean/float64(d.IOPS)-1) < looseCheck { // sums over the jobs
		s.Mean, s.Min, s.Max, extremes = s.Mean/jobs, s.Min/jobs, s.Max/jobs, jobs
	}
	sampled := float64(s.N) * sampleEvery.Seconds() * s.Mean
	if math.Abs(s.Mean/own-1) >= looseCheck || math.Abs(sampled/float64(max(d.N, 1))-1) >= looseCheck {
		return f // samples of another length, or those of a log without averaging
	}
	spread := unevennessOf(s, extremes)
	if !spread.reaches(jobsSpread, jobsLeast) {
		return f
	}
	return m.Finds("Each of the %s ranged between %s and %s IOPS: the standard deviation of a job's half-second samples "+
		"is %v of their mean of %s.", text.Plural(int(jobs), "job"), units.Number(s.Min), units.Number(s.Max),
		spread.all, units.Number(s.Mean)).
		Saw("standard deviation of a job's samples", text.Percent(spread.all)+" of their mean",
			"below "+text.Percent(jobsSpread), finding.Says("fio, %v samples of half a second", s.N))
}

// secondsEnough of another program to judge how they spread.
const secondsEnough = 8

// unevenSeconds finds runs of other programs whose seconds spread so far, of those that show them or sum them up.
func unevenSeconds(m measurement) (f fault) {
	if m.Program == "" || len(m.Jobs) != 1 || !steadily(m) {
		return f
	}
	d := busier(m.Jobs[0])
	s := d.BWSamples
	if s.N < secondsEnough || s.Mean <= 0 || d.BW <= 0 {
		return f
	}
	ios := float64(d.IOPS) / float64(d.BW) / sampleEvery.Seconds() // what chance makes of few is asked of half seconds
	counts := fio.Samples{Min: s.Min * ios, Max: s.Max * ios, Mean: s.Mean * ios, StdDev: s.StdDev * ios, N: s.N}
	spread := unevennessOf(counts, 1)
	if !spread.reaches(samplesSpread, spreadWithout) {
		return f
	}
	return m.Finds("The rate ranged between %s and %s: the standard deviation of its one-second samples is %v of their "+
		"mean of %s.", units.Rate(s.Min), units.Rate(s.Max), spread.all, units.Rate(s.Mean)).
		Saw("standard deviation of the seconds", text.Percent(spread.all)+" of their mean",
			"below "+text.Percent(samplesSpread), m.Program)
}

// unevenness is how far samples lie apart, as shares of their mean.
type unevenness struct {
	all     float64 // the standard deviation
	without float64 // the same without the most extreme samples
	chance  float64 // what counting few I/Os makes
	burst   bool    // the largest sample has so much that it made the mean
}

// unevennessOf takes so many of the samples for as extreme as the most extreme one.
func unevennessOf(s fio.Samples, extremes float64) unevenness {
	alone, n := max(s.Max-s.Mean, s.Mean-s.Min), float64(s.N)
	return unevenness{
		all:     s.StdDev / s.Mean,
		without: math.Sqrt(max(s.StdDev*s.StdDev-extremes*alone*alone/n, 0)) / s.Mean,
		chance:  1 / math.Sqrt(s.Mean*sampleEvery.Seconds()),
		burst:   extremes*s.Max >= oneBurst*s.Mean*n,
	}
}

// reaches says that samples spread so far, which neither chance made nor, a burst apart, one sample.
func (u unevenness) reaches(all, without float64) bool {
	return u.all >= all && (u.without >= without || u.burst) && u.all >= 1.5*u.chance
}

// lossSpread is the most that samples of an even rate spread, as a share of their mean, where each lost any
// part of its I/Os and together they lost the share e: values between 0 and the rate with the mean 1 - e
// have at most the variance e(1 - e).
func lossSpread(s fio.Samples, d fio.Direction) float64 {
	e := 1 - s.Mean/float64(d.IOPS)
	if e <= 0 {
		return 0
	}
	return math.Sqrt(e / (1 - e))
}

// inJobs is how many jobs a result's options ask for.
func inJobs(m measurement) int {
	n := 0
	for _, w := range m.Workloads {
		n += max(w.Jobs, 1)
	}
	return n
}

// gaps finds half seconds without an I/O: those that fio has no sample of.
func gaps(m measurement) (f fault) {
	d, halves, ok := samples(m, sampleCheck)
	if !ok || d.IOPSSamples.Mean*sampleEvery.Seconds() < sampleLeast || d.Clat.Mean > float64(sampleLatency) {
		return f
	}
	missing := math.Floor(halves) - float64(d.IOPSSamples.N)
	// What is missing must also be missing in the average of the run, which is lower than that of the
	// samples then. Otherwise they are late, a few ms each, as Windows' timers are.
	hidden := d.IOPSSamples.Mean*d.Runtime.Seconds()/float64(d.N) - 1
	if missing < samplesMissing || hidden < 0.5*missing/float64(d.IOPSSamples.N) {
		return f
	}
	none := time.Duration(missing) * sampleEvery
	if !couldStall(m, d, none) {
		return f
	}
	f = m.Finds("For about %s of %s, nothing completed.", none, d.Runtime).
		Saw("half-second periods with an I/O", d.IOPSSamples.N, int(math.Round(halves)),
			"fio, samples of IOPS: it takes none where nothing completes")
	if most := longest(d); most > 0 {
		f = f.Saw("slowest I/O", most, "", "fio")
	}
	return f
}

// waitShare is the share of all the time in flight that a few I/Os above a second must have taken for a stall.
const waitShare = 0.15

// waits finds stalls by latencies alone, where there are no samples of a single job. In a closed loop all that is
// in flight waits through a stall, so the time that the slowest I/Os took, over that of all (mean × count), is the
// share of the run that nothing completed in, at the least: percentiles are lower bounds of what is above them.
func waits(m measurement) (f fault) {
	if !steadily(m) || m.Measured < diagnose.Shortest {
		return f
	}
	if many, _ := diagnose.Above(m.Total, slowIO); many.Least >= slowMany { // PL417
		return f
	}
	for _, s := range sides(m) {
		if f = stoodStill(m, s); f.Message != "" {
			return f
		}
		mean := max(s.Clat.Mean, s.Lat.Mean)
		for _, p := range s.Clat.Percentiles {
			few := 1 - p.P/100
			share := few * float64(p.Value) / max(mean, 1)
			if p.Value < slowIO || few >= slowMany || share < waitShare || share > 1 || s.Mistimed() {
				continue
			}
			return m.Finds("One in %s of the %s took %s or more, together %v of all the time that I/Os were in "+
				"flight: as much as if nothing had completed for %s.", units.Number(math.Round(1/few)), s.what,
				p.Value, share,
				time.Duration(share*float64(s.Runtime)).Round(100*time.Millisecond)).
				Saw(fmt.Sprintf("p%v of the %s", p.P, s.what), p.Value, "", "fio").
				Saw("mean of the same", time.Duration(mean), "", "fio")
		}
	}
	return f
}

// stoodStill finds an I/O above a second of a job that has one I/O at a time: nothing else completed until it had.
func stoodStill(m measurement, s side) (f fault) {
	took := longest(s.Direction)
	alone := len(m.Jobs) == 1 && m.Jobs[0].Count <= 1 && inJobs(m) == 1 && m.InFlight() == 1
	if !alone || took < slowIO || took > s.Runtime || s.IOPS < stallLeast || s.Mistimed() {
		return f
	}
	return m.Finds("With one I/O at a time, one of the %s took %s: nothing else completed in that time.", s.what, took).
		Saw("slowest of the "+s.what, took, "", "fio").
		Saw("mean of the same", mean(s.Direction), "", "fio")
}

// manyMeans is how many times the mean an I/O above a second must have taken at the least.
const manyMeans = 10

// slowest finds an I/O above a second that the mean and the percentiles hide. In a queue all others may pass one by,
// which then takes as many means as there are I/Os in flight.
func slowest(_ *facts, m measurement) (f fault) {
	many, _ := diagnose.Above(m.Total, slowIO)
	if len(m.Seconds) > 0 || m.Failed() || brokenClock(m, many.Least) {
		return f
	}
	flight, known := m.InFlight(), false
	for _, s := range sides(m) {
		took, mean := longest(s.Direction), mean(s.Direction)
		known = known || took > 0
		if took < slowIO || took > s.Runtime || mean <= 0 || s.IOPS < stallLeast || s.Mistimed() ||
			took < time.Duration(max(flight, manyMeans))*mean {
			continue
		}
		return m.Finds("The slowest of the %s took %s; their mean is %s.", s.what, took, mean).
			Saw("slowest of the "+s.what, took, "below "+text.Duration(slowIO), "fio").
			Run(inKernelLog)
	}
	if sync := m.Total.Sync.Lat; sync.Max >= slowIO && sync.Max <= m.Measured && m.IOPS() >= stallLeast &&
		float64(sync.Max) >= manyMeans*sync.Mean {
		return m.Finds("The slowest of the syncs took %s; their mean is %s.", sync.Max, time.Duration(sync.Mean)).
			Saw("slowest of the syncs", sync.Max, "below "+text.Duration(slowIO), "fio").
			Run(inKernelLog)
	}
	// By Little's law, where the line of the maximum was cut off.
	if mean := float64(flight) / float64(m.IOPS()); !known && many.Least > 0 && flight > 0 && m.IOPS() >= stallLeast &&
		slowIO.Seconds() >= float64(max(flight, manyMeans))*mean {
		return m.Finds("%v of the I/Os took a second or more.", many.Least).
			Saw("I/Os above a second", text.Percent(many.Least), "0", many.How).
			Run(inKernelLog)
	}
	return f
}

// heldUp finds stalls that another program's least second proves: nothing completed in it, beside an I/O as long.
func heldUp(m measurement) (f fault) {
	many, _ := diagnose.Above(m.Total, slowIO)
	if m.Program == "" || !steadily(m) || m.IOPS() < stallLeast || many.Least >= slowMany { // PL417
		return f
	}
	for _, s := range sides(m) {
		took := longest(s.Direction)
		if of := s.IOPSSamples; of.Min == 0 && of.Max > 0 && slowIO <= took && took <= s.Runtime {
			return m.Finds("In at least one second nothing completed, and the slowest of the %s took %s.", s.what, took).
				Saw("slowest of the "+s.what, took, "", m.Program)
		}
	}
	return f
}

// couldStall says that slow I/Os can have filled so much time without a completion. In a closed loop all
// that is in flight then takes as long as the stall at least, so I/Os × the longest latency, of those
// above a sample's length, cover it as often as there are I/Os in flight. Samples are also lost by
// clients and by busy clocks.
func couldStall(m measurement, d fio.Direction, none time.Duration) bool {
	longest := longest(d)
	if longest <= 0 {
		return true
	}
	share, known := diagnose.Above(m.Total, sampleEvery)
	if longest < sampleEvery {
		share, known = stats.Bounds{}, true
	}
	slow := share.Most * float64(d.N) * longest.Seconds()
	return !known || slow >= none.Seconds()*max(m.Little(), 1)/2
}

// uneven finds samples that spread so far that their mean says little of any moment. One sample by
// itself, such as the first, does not count, and neither does what chance makes of few I/Os.
func uneven(m measurement) (f fault) {
	d, _, ok := samples(m, looseCheck)
	if !ok {
		return f
	}
	s := d.IOPSSamples
	spread := unevennessOf(s, 1)
	if !spread.reaches(samplesSpread, spreadWithout) {
		return f
	}
	if _, _, fit := samples(m, sampleCheck); !fit && s.Max < beyondRate*float64(d.IOPS) && spread.all <= lossSpread(s, d) {
		return f
	}
	return m.Finds("The rate ranged between %s and %s IOPS: the standard deviation of its half-second samples is %v of "+
		"their mean of %s.", units.Number(s.Min), units.Number(s.Max), spread.all, units.Number(s.Mean)).
		Saw("standard deviation of the samples", text.Percent(spread.all)+" of their mean",
			"below "+text.Percent(samplesSpread), finding.Says("fio, %v samples of half a second", s.N)).
		Saw("the same without the most extreme sample", text.Percent(spread.without)+" of their mean", "", "worked out")
}
