package fio

import (
	"strings"
	"time"

	"plimsoll/internal/units"
)

// Workload is what a fio job asks of the storage, worked out from its options: the input of the
// ceiling model and of most rules. One Workload stands for numjobs identical jobs.
type Workload struct {
	Name   string
	Engine string // ioengine
	Direct bool
	// ReadShare is the part of I/Os that read, 0..1; TrimShare the part that trims.
	ReadShare, TrimShare float64
	// Sequential is true for read, write, rw (and trim) without rand.
	Sequential bool
	// ReadBS and WriteBS are mean block sizes; 0 when the direction does not run.
	ReadBS, WriteBS units.Bytes
	// TrimBS is the mean size of a trim; 0 when the job trims nothing.
	TrimBS units.Bytes
	// ReadLeast and WriteLeast are the smallest blocks of a direction whose blocks have several
	// sizes: those that rate_iops is counted in. 0 when all have one size.
	ReadLeast, WriteLeast units.Bytes
	// Jobs is numjobs, Depth the iodepth of each; a synchronous engine keeps Depth 1 whatever
	// iodepth says.
	Jobs, Depth int
	// SyncEvery is 1 when each write is followed by fsync or fdatasync, n for every n-th, 0 for
	// none.
	SyncEvery int
	// O_SYNC or O_DSYNC writes (sync=1, sync=dsync).
	SyncWrites bool
	// ReadRate, WriteRate are limits of each job (rate=), 0 for none; ReadIOPS, WriteIOPS likewise
	// (rate_iops=).
	ReadRate, WriteRate units.Rate
	ReadIOPS, WriteIOPS units.IOPS
	// Size is the region that each job works in; 0 when not given. SharedFile says that the jobs
	// use one file (filename=), and OffsetIncrement how far apart they start there.
	Size            units.Bytes
	SharedFile      bool
	OffsetIncrement units.Bytes
	Filename        string
	Directory       string
	TimeBased       bool
	Runtime, Ramp   time.Duration
	StartDelay      time.Duration
	Stonewall       bool
	NewGroup        bool
	ThinkTime       time.Duration
	Buffered        bool // direct=0
	VerifyOn        bool
}

// InFlight is the most I/Os that the workload keeps outstanding at once.
func (w Workload) InFlight() int { return max(w.Jobs, 1) * max(w.Depth, 1) }

// HeldIOPS are the rates that rate_iops holds the job to. fio turns the rate into bytes by the
// smallest block (backend.c, setup_rate), so that a job with blocks of several sizes is held to
// less than it asks for.
func (w Workload) HeldIOPS() (read, write units.IOPS) {
	held := func(asked units.IOPS, least, mean units.Bytes) units.IOPS {
		if asked == 0 || least == 0 || mean <= least {
			return asked
		}
		return asked * units.IOPS(float64(least)/float64(mean))
	}
	return held(w.ReadIOPS, w.ReadLeast, w.ReadBS), held(w.WriteIOPS, w.WriteLeast, w.WriteBS)
}

// Ends is when jobs that start together stop issuing I/O, counted from their start without ramps.
// It is not known where one of them ends by its size, or waits for those before it (stonewall).
func Ends(loads []Workload) (end time.Duration, known bool) {
	for i, w := range loads {
		if !w.TimeBased || w.Runtime == 0 || i > 0 && w.Stonewall {
			return 0, false
		}
		end = max(end, w.StartDelay+w.Runtime)
	}
	return end, len(loads) > 0
}

// Files are the paths of filename=, of which there may be several, separated by colons; none when
// fio names them itself.
func (w Workload) Files() []string {
	const escaped = "\x00" // stands for \: which is part of a name
	var files []string
	for name := range strings.SplitSeq(strings.ReplaceAll(w.Filename, `\:`, escaped), ":") {
		if name != "" {
			files = append(files, strings.ReplaceAll(name, escaped, ":"))
		}
	}
	return files
}

// Reads says whether the workload reads.
func (w Workload) Reads() bool { return w.ReadShare > 0 }

// Writes says whether the workload writes.
func (w Workload) Writes() bool { return w.ReadShare+w.TrimShare < 1 }
